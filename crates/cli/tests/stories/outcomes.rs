//! Runs to their end: what is printed, what is remembered, and the exit code.

use insta::assert_snapshot;

use crate::harness::{Place, SMALL};

#[test]
fn a_run_that_succeeds() {
    let place = Place::fleet(SMALL);
    assert_snapshot!(place.muster("run --all"), @r#"
    $ muster run --all
    UNIT    TIER   STATE      VERDICT  ATTEMPTS  TIME  ROWS  REASON
    first   small  succeeded  pass            1  #.#s     3
    second  small  succeeded                  1  #.#s
    ! fleet applied: 2 units added, 2 tiers added
    ! run: run_<id>
    ! <time> started first (tier small)
    ! <time> succeeded first (3 rows, verdict pass, #.#s)
    ! <time> started second (tier small)
    ! <time> succeeded second (#.#s)
    ! run_<id> succeeded, 2 units in #.#s: 2 succeeded
    ! next: muster artifacts run_<id>
    "#);
    assert_snapshot!(place.muster("runs list"), @r#"
    $ muster runs list
    RUN                             STATE      VERDICT  UNITS  FAILED  TIME  STARTED  ASKED FOR
    run_<id>  succeeded  pass         2       0  #.#s  #s ago   all
    "#);
    assert_snapshot!(place.muster("runs show"), @r#"
    $ muster runs show
    run        run_<id>
    state      succeeded
    verdict    pass
    asked for  all
    slot       <date and time>
    created    <date and time> (#s ago)
    ended      <date and time> (#s ago)
    took       #.#s
    units      2: 2 succeeded

    UNIT    TIER   STATE      VERDICT  ATTEMPTS  TIME  ROWS  REASON
    first   small  succeeded  pass            1  #.#s     3
    second  small  succeeded                  1  #.#s
    "#);
    assert_snapshot!(place.muster("runs show first"), @r#"
    $ muster runs show first
    execution   run_<id>.0
    unit        first (revision 1)
    tier        small
    state       succeeded
    verdict     pass
    rows        3
    slot        <date and time>
    created     <date and time> (#s ago)
    started     <date and time> (#s ago)
    ended       <date and time> (#s ago)

    ATTEMPT  WAITING  LAUNCHING  RUNNING  PUBLISHING  EXIT    MEMORY  REASON
          1     #.#s       #.#s     #.#s        #.#s  code 0  ## MiB
    "#);
    assert_snapshot!(place.muster("artifacts"), @r#"
    $ muster artifacts
    UNIT   ARTIFACT    VERDICT  ROWS  BYTES  SUMMARY
    first  prices.csv  pass        3     24  3 rows, 2 columns, 100% complete
    "#);
    assert_snapshot!(place.muster("artifacts --get prices.csv"), @r#"
    $ muster artifacts --get prices.csv
    id,price
    1,10
    2,20
    3,30
    "#);
    assert_snapshot!(place.muster("signals"), @r#"
    $ muster signals
    artifact       first/prices.csv
    verdict        pass
    summary        3 rows, 2 columns, 100% complete
    rows           3
    columns        2
    completeness   100.0%
    bytes          24
    sha256         e18bb91ca74ca845493c0d3a8b36bae6a8854a2820f8c44b8d5dca449e0bb0ce

    VERDICT   CHECK        OBSERVED  MESSAGE
    pass      readable
    pass      key                 0
    pass      rows >= 3           3
    pass      unique(id)          0
    pass      rows                3
    pass      bad_rows            0
    pass      ragged_rows         0
    learning  change
    "#);
    assert_snapshot!(place.muster("why"), @r#"
    $ muster why
    ! nothing of run_<id> waits: its state is succeeded
    "#);
    assert_snapshot!(place.muster("events"), @r#"
    $ muster events
    POSITION  TIME      TYPE                SUBJECT                           WHAT
           1  <time>  definition.applied  job/first                         name first, revision 1
           2  <time>  definition.applied  job/second                        name second, revision 1
           3  <time>  definition.applied  tier/small                        name small, revision 1
           4  <time>  definition.applied  tier/default                      name default, revision 1
           5  <time>  run.created         run_<id>
           6  <time>  run.started         run_<id>    items 2
           7  <time>  attempt.granted     run_<id>.0  first, started, attempt 1
           8  <time>  execution.ended     run_<id>.0  first, succeeded, attempt 1, verdict pass, rows 3
           9  <time>  attempt.granted     run_<id>.1  second, started, attempt 1
          10  <time>  execution.ended     run_<id>.1  second, succeeded, attempt 1
          11  <time>  run.ended           run_<id>    succeeded, verdict pass
    "#);
    assert_snapshot!(place.muster("runs retry 0 --failed"), @r#"
    $ muster runs retry 0 --failed
    ! error: nothing to run: every item of run_<id> succeeded [E-R10]
    exit 4
    "#);
    assert_snapshot!(place.muster("runs cancel 0"), @r#"
    $ muster runs cancel 0
    ! error: could not cancel run_<id>: it has succeeded [E-C01]
    exit 4
    "#);
}

#[test]
fn an_artifact_is_fetched_whole_and_never_over_a_file() {
    let place = Place::fleet(SMALL);
    place.output("run first");
    assert_snapshot!(place.muster("artifacts --get prices.csv --to mine.csv"), @r#"
    $ muster artifacts --get prices.csv --to mine.csv
    ! wrote 24 bytes to mine.csv
    "#);
    assert_eq!(std::fs::read_to_string(place.path("mine.csv")).unwrap(), "id,price\n1,10\n2,20\n3,30\n");
    assert_snapshot!(place.muster("artifacts --get prices.csv --to mine.csv"), @r#"
    $ muster artifacts --get prices.csv --to mine.csv
    ! error: could not write to mine.csv: File exists (os error 17) [E-U06]
    !   hint: No file is overwritten: name another, or remove it first.
    exit 4
    "#);
    assert_snapshot!(place.muster("artifacts --get price.csv"), @r#"
    $ muster artifacts --get price.csv
    ! error: there is no artifact `price.csv` [E-N01]
    !   hint: Did you mean `prices.csv`?
    exit 3
    "#);
}

const FAILING: &str = r#"
name: bad
run: [sh, -c, 'echo the feed is down >&2; test -e "$MUSTER_LOCATION/mended"']
retry: { attempts: 2, backoff: 10ms }
---
name: good
run: [echo, fine]
---
name: report
run: [echo, report]
needs: [bad]
"#;

#[test]
fn a_run_that_fails_and_the_retry_of_what_failed() {
    let place = Place::fleet(FAILING);
    let output = place.output("run --all");
    assert_eq!(output.status.code(), Some(1));
    assert_snapshot!(place.filtered(&String::from_utf8_lossy(&output.stdout)), @r#"
    UNIT    TIER     STATE      VERDICT  ATTEMPTS  TIME  ROWS  REASON
    bad     default  failed                     2  #.#s        exited with code 1 (attempt 2 of 2)
    good    default  succeeded                  1  #.#s
    report  default  refused                    0              needs bad, which failed (run_<id>.0)
    "#);
    assert_snapshot!(place.muster("runs logs bad"), @r#"
    $ muster runs logs bad
    the feed is down
    "#);
    assert_snapshot!(place.muster("runs show bad"), @r#"
    $ muster runs show bad
    execution   run_<id>.0
    unit        bad (revision 1)
    tier        default
    state       failed
    reason      exited with code 1 (attempt 2 of 2)
    slot        <date and time>
    created     <date and time> (#s ago)
    started     <date and time> (#s ago)
    ended       <date and time> (#s ago)

    ATTEMPT  WAITING  LAUNCHING  RUNNING  PUBLISHING  EXIT    MEMORY  REASON
          1     #.#s       #.#s     #.#s              code 1  ## MiB  exited with code 1
          2     #.#s       #.#s     #.#s        #.#s  code 1  ## MiB  exited with code 1
    "#);
    place.write("fleet/mended", "");
    let earlier = place.newest();
    assert_snapshot!(place.muster(&format!("runs retry {earlier} --failed")), @r#"
    $ muster runs retry run_<id> --failed
    UNIT    TIER     STATE      VERDICT  ATTEMPTS  TIME  ROWS  REASON
    bad     default  succeeded                  1  #.#s
    report  default  succeeded                  1  #.#s
    ! 2 of 3 units will run, by the manifests of that run; `muster run UNIT` goes by those of today
    ! run: run_<id>
    ! <time> started bad (tier default)
    ! <time> succeeded bad (#.#s)
    ! <time> started report (tier default)
    ! <time> succeeded report (#.#s)
    ! run_<id> succeeded, 2 units in #.#s: 2 succeeded
    ! next: muster runs logs run_<id>
    "#);
    assert_snapshot!(place.muster("runs list"), @r#"
    $ muster runs list
    RUN                             STATE      VERDICT  UNITS  FAILED  TIME  STARTED  ASKED FOR
    run_<id>  succeeded               2       0  #.#s  #s ago   retry of run_<id>
    run_<id>  failed                  3       1  #.#s  #s ago   all
    "#);
    assert_snapshot!(place.muster(&format!("runs retry {earlier}")), @r#"
    $ muster runs retry run_<id>
    ! error: the following required arguments were not provided:
    !   --failed
    !
    ! Usage: muster runs retry --failed <RUN>
    !
    ! For more information, try '--help'.
    exit 2
    "#);
    assert_snapshot!(place.muster(&format!("runs retry {earlier}.0 --failed")), @r#"
    $ muster runs retry run_<id>.0 --failed
    ! error: run_<id>.0 is an execution, and a retry takes a run: run_<id> [E-U05]
    exit 2
    "#);
}

#[test]
fn bad_output_is_no_failure_unless_asked_for() {
    let manifest = "name: thin\nrun: [sh, -c, 'printf \"a\\n1\\n\" > \"$MUSTER_OUT/x.csv\"']\nartifacts: [{ path: x.csv, checks: [\"rows >= 10\"] }]\n";
    let place = Place::fleet(manifest);
    assert_snapshot!(place.muster("run thin"), @r#"
    $ muster run thin
    UNIT  TIER     STATE      VERDICT  ATTEMPTS  TIME  ROWS  REASON
    thin  default  succeeded  fail            1  #.#s     1  x.csv: 1 row, at least 10 wanted
    ! fleet applied: 1 unit added, 1 tier added
    ! run: run_<id>
    ! <time> started thin (tier default)
    ! <time> succeeded thin (1 row, verdict fail, #.#s): x.csv: 1 row, at least 10 wanted
    ! run_<id> succeeded, 1 unit in #.#s: 1 succeeded, 1 with verdict fail
    ! next: muster signals run_<id> thin
    "#);
    assert_eq!(place.output("run thin --fail-on-quality").status.code(), Some(6));
    place.write("fleet/units.yaml", &manifest.replace("rows >= 10", "warn: rows >= 10"));
    assert_eq!(place.output("run thin --fail-on-quality").status.code(), Some(0));
    assert_eq!(place.output("run thin --fail-on-quality=warn").status.code(), Some(6));
}

#[test]
fn limit_parameters_and_arguments_reach_the_unit_byte_for_byte() {
    let place = Place::fleet(
        "name: say\nrun: [sh, -c, 'printf \"<%s>\" \"$MUSTER_LIMIT\" \"$@\"; echo', sh, \"{{ params.word }}\"]\nparameters: { word: { type: string } }\n",
    );
    place.output("run say --limit 5 -p 'word=a  b' -- --flag '' '$HOME' '\"' é😀 -x");
    assert_snapshot!(place.muster("runs logs"), @r#"
    $ muster runs logs
    <5><a  b><--flag><><$HOME><"><é😀><-x>
    "#);
    assert_snapshot!(place.muster("run say"), @r#"
    $ muster run say
    ! error: unit `say` needs parameter `word`: add `--param word=…` [E-R08]
    exit 2
    "#);
}

#[test]
fn the_same_key_is_the_same_run() {
    let place = Place::fleet(
        "name: one\nrun: [sh, -c, 'echo x >> \"$MUSTER_LOCATION/effects\"']\nparameters: { n: { type: integer, default: 1 } }\n",
    );
    assert_snapshot!(place.muster("run one --idempotency-key nightly"), @r#"
    $ muster run one --idempotency-key nightly
    UNIT  TIER     STATE      VERDICT  ATTEMPTS  TIME  ROWS  REASON
    one   default  succeeded                  1  #.#s
    ! fleet applied: 1 unit added, 1 tier added
    ! run: run_<id>
    ! <time> started one (tier default)
    ! <time> succeeded one (#.#s)
    ! run_<id> succeeded, 1 unit in #.#s: 1 succeeded
    ! next: muster runs logs run_<id>
    "#);
    assert_snapshot!(place.muster("run one --idempotency-key nightly"), @r#"
    $ muster run one --idempotency-key nightly
    UNIT  TIER     STATE      VERDICT  ATTEMPTS  TIME  ROWS  REASON
    one   default  succeeded                  1  #.#s
    ! the idempotency key made run_<id> before: this is that run
    ! run_<id> succeeded, 1 unit in #.#s: 1 succeeded
    ! next: muster runs logs run_<id>
    "#);
    assert_snapshot!(place.muster("run one --idempotency-key nightly -p n=2"), @r#"
    $ muster run one --idempotency-key nightly -p n=2
    ! error: idempotency key `nightly` was used for another request, which made run_<id> [E-R12]
    !   hint: Use a new key for a new request.
    exit 4
    "#);
    assert_eq!(std::fs::read_to_string(place.path("fleet/effects")).unwrap(), "x\n");
    assert_eq!(place.output("runs list -q").stdout.split(|byte| *byte == b'\n').count(), 2, "one id and the end");
}

#[test]
fn a_beginning_of_an_id_must_name_one_run() {
    let place = Place::fleet("name: one\nrun: [echo]\n");
    place.output("run one");
    place.output("run one");
    assert_snapshot!(place.muster("runs show run_0"), @r#"
    $ muster runs show run_0
    ! error: `run_0` begins several runs: run_<id>, run_<id> [E-N02]
    !   hint: Write more of the id.
    exit 4
    "#);
    let newest = place.newest();
    assert!(place.output(&format!("runs show {}", &newest[4..])).status.success(), "the id without its prefix");
    assert_snapshot!(place.muster(&format!("runs show {newest} on")), @r#"
    $ muster runs show run_<id> on
    ! error: there is no unit `on` in run_<id> [E-N01]
    !   hint: Did you mean `one`?
    exit 3
    "#);
    assert_snapshot!(place.muster(&format!("runs show {newest}.7")), @r#"
    $ muster runs show run_<id>.7
    ! error: there is no execution run_<id>.7 [E-N01]
    exit 3
    "#);
}

#[test]
fn data_is_alone_on_stdout_and_ids_can_be_piped() {
    let place = Place::fleet(SMALL);
    let output = place.output("run --all --json");
    let view: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((view["state"].as_str(), view["executions"].as_array().map(Vec::len)), (Some("succeeded"), Some(2)));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let output = place.output("run --all -q");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), place.newest());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn events_are_followed_from_a_position_on() {
    let place = Place::fleet(SMALL);
    place.output("run first");
    assert_snapshot!(place.muster("events -f --after 4 --limit 3"), @r#"
    $ muster events -f --after 4 --limit 3
    5 <time> run.created run_<id>
    6 <time> run.started run_<id> items 1
    7 <time> attempt.granted run_<id>.0 first, started, attempt 1
    "#);
    let output = place.output("events -f --after 4 --limit 2 --json");
    let positions: Vec<_> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["position"].clone())
        .collect();
    assert_eq!(positions, [5, 6]);
}

#[test]
fn the_fleet_of_init_runs() {
    let place = Place::with(&[]);
    place.output("init");
    let output = place.output("run --all");
    assert_snapshot!(place.filtered(&String::from_utf8_lossy(&output.stdout)), @r#"
    UNIT      TIER   STATE      VERDICT  ATTEMPTS  TIME  ROWS  REASON
    readings  small  succeeded  pass            1  #.#s    23
    stations  small  succeeded  pass            1  #.#s     3
    "#);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn what_is_left_out_and_what_never_started() {
    let place = Place::fleet(
        "name: one\nrun: [no-such-program]\nenvironment: { PATH: /nowhere }\n---\nname: off\nrun: [echo]\nenabled: false\n",
    );
    assert_snapshot!(place.muster("run --all"), @r#"
    $ muster run --all
    UNIT  TIER     STATE   VERDICT  ATTEMPTS  TIME  ROWS  REASON
    one   default  failed                  1  #.#s        could not be started: `no-such-program` was not found in PATH (/nowhere)
    ! left out as disabled: 1 unit (off)
    ! fleet applied: 2 units added, 1 tier added
    ! run: run_<id>
    ! <time> started one (tier default)
    ! <time> failed one (#.#s): could not be started: `no-such-program` was not found in PATH (/nowhere)
    ! run_<id> failed, 1 unit in #.#s: 1 failed
    ! next: muster runs show run_<id> one
    exit 1
    "#);
}
