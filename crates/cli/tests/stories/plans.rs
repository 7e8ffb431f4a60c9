//! Dry runs, and requests that cannot be carried out.

use std::fs;

use insta::assert_snapshot;

use crate::harness::{Place, SMALL};

#[test]
fn a_dry_run_prints_the_plan_and_writes_nothing() {
    let place = Place::fleet(SMALL);
    assert_snapshot!(
        place.muster("run second --dry-run --slot 2013-02-08 --limit 5 -p 'word=two words' -- --flag '' 'it is $HOME'"),
        @r#"
    $ muster run second --dry-run --slot 2013-02-08 --limit 5 -p 'word=two words' -- --flag '' 'it is $HOME'
    unit         second (revision 1)
    command      echo 'two words' 2013-02-08 --flag '' 'it is $HOME'
    folder       a new one with a link to each file of <dir>/fleet; results go into $MUSTER_OUT
    parameters   word=two words
    environment  HOME, LANG, LC_ALL, MUSTER_ATTEMPT, MUSTER_EXECUTION, MUSTER_LIMIT, MUSTER_LOCATION, MUSTER_ORG, MUSTER_OUT, MUSTER_PARAM_WORD, MUSTER_PROJECT, MUSTER_RUN, MUSTER_SLOT, MUSTER_TENANT, MUSTER_UNIT, PATH, TMPDIR, TRACEPARENT, TZ
    slot         <date and time>
    cap          5
    tier         small: process, 4 at once
                 memory 1GiB: enforced for each process by itself (RLIMIT_AS, address space); beyond it an allocation fails
    slots        tier:small (1 of 4)
    needs        first
    timeouts     waiting no limit, starting 1m, running no limit, stopping 10s
    attempts     at most 1
    ! dry run: 1 unit would run; nothing was started and nothing was written
    "#
    );
    assert_snapshot!(place.muster("run --all --dry-run -q"), @r#"
    $ muster run --all --dry-run -q
    first
    second
    "#);
    assert!(!place.path("fleet/.muster").exists());
}

#[test]
fn the_plan_as_data_has_names_of_variables_and_no_values() {
    let place =
        Place::fleet("name: one\nrun: [echo]\nenvironment: { TOKEN_KIND: very-special }\nsecrets: { API_KEY: prices/key }\n");
    let output = place.output("run one --dry-run --json");
    let text = String::from_utf8(output.stdout).unwrap();
    let plan: serde_json::Value = serde_json::from_str(&text).unwrap();
    let assignment = &plan[0]["assignment"];
    assert!(assignment["environment"].as_array().unwrap().iter().any(|name| name == "TOKEN_KIND"));
    assert_eq!(assignment["secrets"]["API_KEY"], "prices/key");
    assert!(!text.contains("very-special"), "{text}");
}

#[test]
fn a_wrong_request_is_told_whole_and_starts_nothing() {
    let place = Place::fleet(SMALL);
    assert_snapshot!(place.muster("run frist second"), @r#"
    $ muster run frist second
    ! error: there is no unit `frist` [E-R01]
    !   hint: Did you mean `first`?
    exit 3
    "#);
    assert_snapshot!(place.muster("run second -p wrod=x -p word=y --tier smal"), @r#"
    $ muster run second -p wrod=x -p word=y --tier smal
    ! error: there is no tier `smal` [E-R05]
    ! error: no selected unit has a parameter `wrod` [E-R05]
    !   hint: Did you mean `small`?
    exit 2
    "#);
    assert_snapshot!(place.muster("run second -p word=x -p word=y"), @r#"
    $ muster run second -p word=x -p word=y
    ! error: parameter `word` is set twice [E-U04]
    exit 2
    "#);
    assert_snapshot!(place.muster("run --tag dayly"), @r#"
    $ muster run --tag dayly
    ! error: no unit has the tag `dayly` [E-R02]
    !   hint: Did you mean `daily`?
    exit 2
    "#);
    assert_snapshot!(place.muster("run --all -- x"), @r#"
    $ muster run --all -- x
    ! error: arguments after `--` go to one unit, and 2 are selected [E-R06]
    exit 2
    "#);
    assert_snapshot!(place.muster("run First"), @r#"
    $ muster run First
    ! error: invalid value 'First' for '[UNIT]...': `First` is not a name: use 1 to 63 of a-z, 0-9 and inner hyphens
    !
    ! For more information, try '--help'.
    exit 2
    "#);
    assert_snapshot!(place.muster("run first --slot yesterday"), @r#"
    $ muster run first --slot yesterday
    ! error: invalid value 'yesterday' for '--slot <TIME>': write a day such as 2013-02-08, or a time such as <instant>
    !
    ! For more information, try '--help'.
    exit 2
    "#);
    assert_snapshot!(place.muster("run first --all"), @r#"
    $ muster run first --all
    ! error: the argument '[UNIT]...' cannot be used with '--all'
    !
    ! Usage: muster run <UNIT|--all|--tag <TAG>> [-- <ARGUMENT>...]
    !
    ! For more information, try '--help'.
    exit 2
    "#);
    assert!(!place.path("fleet/.muster").exists());
}

#[test]
fn a_wrong_request_to_a_large_fleet_writes_nothing() {
    let fleet: String = (0..1_200).map(|number| format!("name: unit-{number}\nrun: [\"true\"]\n---\n")).collect();
    let place = Place::fleet(&fleet);
    assert_snapshot!(place.muster("run unit-1 --tier huge"), @r#"
    $ muster run unit-1 --tier huge
    ! error: there is no tier `huge` [E-R05]
    exit 2
    "#);
    assert!(!place.path("fleet/.muster").exists());
}

#[test]
fn a_store_that_cannot_be_read_is_not_taken_for_an_empty_one() {
    let place = Place::fleet("name: one\nrun: [echo, hi]\n");
    place.muster("run one");
    let store = place.path("fleet/.muster/store.sqlite");
    for suffix in ["-wal", "-shm"] {
        drop(fs::remove_file(place.path(&format!("fleet/.muster/store.sqlite{suffix}"))));
    }
    // What the header of an SQLite file says: whose it is, and the version of its tables.
    let mut newer = fs::read(&store).unwrap();
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    newer[68..72].copy_from_slice(b"Must");
    fs::write(&store, newer).unwrap();
    assert_snapshot!(place.muster("run one --dry-run"), @r#"
    $ muster run one --dry-run
    ! error: store <dir>/fleet/.muster/store.sqlite has version 99, and this Muster knows versions up to 1: use a newer Muster [E-S06]
    exit 4
    "#);
    fs::write(&store, "this was a database once, and is none any more".repeat(100)).unwrap();
    assert_snapshot!(place.muster("units list"), @r#"
    $ muster units list
    ! error: could not read store <dir>/fleet/.muster/store.sqlite: it is damaged or not a database: file is not a database: Error code 26: file is not a database [E-S05]
    exit 7
    "#);
    // As a process leaves it that was killed at the very first moment.
    fs::write(&store, "").unwrap();
    assert_snapshot!(place.muster("units list"), @r#"
    $ muster units list
    UNIT  TIER     STATE    REVISION  TAGS  DESCRIPTION
    one   default  enabled         1
    "#);
}
