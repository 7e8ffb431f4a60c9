//! Units, tiers and what is wrong with their manifests.

use insta::assert_snapshot;

use crate::harness::{Place, SMALL, example_fleet};

#[test]
fn the_units_of_a_fleet_in_every_format() {
    let place = Place::fleet(SMALL);
    assert_snapshot!(place.muster("units list"), @r#"
    $ muster units list
    UNIT    TIER   STATE    REVISION  TAGS           DESCRIPTION
    first   small  enabled         1  daily, source  Writes three rows.
    second  small  enabled         1  daily          Says what it got.
    "#);
    assert_snapshot!(place.muster("units list --no-headers --tag source"), @r#"
    $ muster units list --no-headers --tag source
    first  small  enabled  1  daily, source  Writes three rows.
    "#);
    assert_snapshot!(place.muster("units list -q"), @r#"
    $ muster units list -q
    first
    second
    "#);
    let wide = place.muster("units list -o wide");
    let squeezed: Vec<String> = wide.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_snapshot!(squeezed.join("\n"), @r#"
    $ muster units list -o wide
    UNIT TIER STATE REVISION TAGS OWNER NEEDS LOCATION DESCRIPTION
    first small enabled 1 daily, source <dir>/fleet Writes three rows.
    second small enabled 1 daily first <dir>/fleet Says what it got.
    "#);
    assert_snapshot!(place.muster("units list -o jsonl --tag source"), @r#"
    $ muster units list -o jsonl --tag source
    {"revision":1,"applied_at":"<instant>","content":{"name":"first","description":"Writes three rows.","enabled":true,"tags":["daily","source"],"run":["sh","-c","printf \"id,price\\n1,10\\n2,20\\n3,30\\n\" > \"$MUSTER_OUT/prices.csv\"; echo three rows"],"location":"<dir>/fleet","tier":"small","priority":0,"retry":{"attempts":1,"backoff":"1s..1m","factor":2},"timeouts":{"starting":"1m","stopping":"10s"},"artifacts":[{"path":"prices.csv","format":"auto","key":["id"],"empty":"warn","optional":false,"checks":["rows >= 3","unique(id)"],"on_fail":"report"}]},"enabled":true}
    "#);
    assert_snapshot!(place.muster("units list -o yaml --tag source"), @r#"
    $ muster units list -o yaml --tag source
    - revision: 1
      applied_at: "<instant>"
      content:
        name: first
        description: Writes three rows.
        enabled: true
        tags:
          - daily
          - source
        run:
          - sh
          - "-c"
          - "printf \"id,price\\n1,10\\n2,20\\n3,30\\n\" > \"$MUSTER_OUT/prices.csv\"; echo three rows"
        location: <dir>/fleet
        tier: small
        priority: 0
        retry:
          attempts: 1
          backoff: "1s..1m"
          factor: 2
        timeouts:
          starting: "1m"
          stopping: "10s"
        artifacts:
          - path: prices.csv
            format: auto
            key:
              - id
            empty: warn
            optional: false
            checks:
              - "rows >= 3"
              - "unique(id)"
            on_fail: report
      enabled: true
    "#);
    assert_snapshot!(place.muster("units list --json --tag nothing"), @r#"
    $ muster units list --json --tag nothing
    []
    "#);
    assert_snapshot!(place.muster("units list --tag nothing"), @r#"$ muster units list --tag nothing"#);
}

#[test]
fn a_unit_and_the_tiers_in_words() {
    let place = Place::fleet(SMALL);
    assert_snapshot!(place.muster("units show second"), @r#"
    $ muster units show second
    unit         second
    description  Says what it got.
    state        enabled
    revision     1
    applied      not yet; the next run applies it
    tags         daily
    command      echo '{{ params.word }}' '{{ slot | date }}'
    location     <dir>/fleet
    tier         small
    parameters   word (string, default hello)
    needs        first (verdict any)
    priority     0
    attempts     1
    timeouts     waiting no limit, starting 1m, running no limit, stopping 10s
    "#);
    assert_snapshot!(place.muster("units show secnd"), @r#"
    $ muster units show secnd
    ! error: there is no unit `secnd` [E-N01]
    !   hint: Did you mean `second`?
    exit 3
    "#);
    assert_snapshot!(place.muster("tiers list"), @r#"
    $ muster tiers list
    TIER     LAUNCH   CAPACITY  CPU  MEMORY  DESCRIPTION
    default  process        16               Built in: local processes without bounds.
    small    process         4         1GiB
    "#);
}

#[test]
fn every_problem_of_every_file_is_told_with_its_place() {
    let place = Place::with(&[
        ("fleet/a.yaml", "name: a\nrun: [echo, 1]\ntimout: 5m\ntier: fast\n"),
        ("fleet/b.yaml", "name: b\nrun: echo hello\nneeds: [aa]\n"),
        ("fleet/c.yaml", "name: c\nrun: [echo]\nlocation: nowhere\n"),
    ]);
    assert_snapshot!(place.muster("units validate"), @r#"
    $ muster units validate
    a.yaml:2:13: E-M022 each element of `run` must be text, and this is the number `1`
       |
     2 | run: [echo, 1]
       |             ^
      hint: quote it: "1"

    a.yaml:3:1: E-M020 a job has no key `timout`
       |
     3 | timout: 5m
       | ^
      hint: did you mean `timeout`?

    a.yaml:4:7: E-M051 no tier is named `fast`
       |
     4 | tier: fast
       |       ^
      hint: declare it in a document with `kind: tier`

    b.yaml:2:6: E-M022 `run` must be a list of program and arguments, and this is the text `echo hello`
       |
     2 | run: echo hello
       |      ^
      hint: no shell reads it: write [echo, hello]

    b.yaml:3:9: E-M053 no unit is named `aa`
       |
     3 | needs: [aa]
       |         ^
      hint: did you mean `a`?

    the fleet in fleet: 5 problems; nothing was started [E-M00]
    exit 2
    "#);
    assert_snapshot!(place.muster("run --all"), @r#"
    $ muster run --all
    ! a.yaml:2:13: E-M022 each element of `run` must be text, and this is the number `1`
    !    |
    !  2 | run: [echo, 1]
    !    |             ^
    !   hint: quote it: "1"
    !
    ! a.yaml:3:1: E-M020 a job has no key `timout`
    !    |
    !  3 | timout: 5m
    !    | ^
    !   hint: did you mean `timeout`?
    !
    ! a.yaml:4:7: E-M051 no tier is named `fast`
    !    |
    !  4 | tier: fast
    !    |       ^
    !   hint: declare it in a document with `kind: tier`
    !
    ! b.yaml:2:6: E-M022 `run` must be a list of program and arguments, and this is the text `echo hello`
    !    |
    !  2 | run: echo hello
    !    |      ^
    !   hint: no shell reads it: write [echo, hello]
    !
    ! b.yaml:3:9: E-M053 no unit is named `aa`
    !    |
    !  3 | needs: [aa]
    !    |         ^
    !   hint: did you mean `a`?
    !
    ! error: the fleet in fleet: 5 problems; nothing was started [E-M00]
    exit 2
    "#);
    let json = place.output("run --all --json");
    let fault: serde_json::Value = serde_json::from_slice(&json.stderr).unwrap();
    assert_eq!(fault["error"]["problems"].as_array().map(Vec::len), Some(5));
    assert!(json.stdout.is_empty(), "data although nothing was done");
    assert!(!place.path("fleet/.muster").exists(), "something was written although nothing may start");
}

#[test]
fn a_location_that_is_no_folder_is_a_problem_of_its_manifest() {
    let place = Place::fleet("name: c\nrun: [echo]\nlocation: nowhere\n");
    assert_snapshot!(place.muster("units validate"), @r#"
    $ muster units validate
    units.yaml:1:1: E-F02 the location of unit `c` is not a folder: <dir>/fleet/nowhere
       |
     1 | name: c
       | ^
      hint: `location` is relative to the manifest's folder

    the fleet in fleet: 1 problem; nothing was started [E-M00]
    exit 2
    "#);
}

#[test]
fn a_folder_without_units_says_how_to_begin() {
    let place = Place::with(&[]);
    assert_snapshot!(place.muster("run --all"), @r#"
    $ muster run --all
    ! error: there is no unit in . [E-F01]
    !   hint: `muster init` makes a small fleet; --fleet names another folder.
    exit 2
    "#);
    assert_snapshot!(place.muster("units list --fleet missing"), @r#"
    $ muster units list --fleet missing
    ! E-UNREADABLE could not read folder missing: No such file or directory (os error 2)
    !
    ! error: could not read the fleet in missing: 1 problem; nothing was started [E-M00]
    exit 2
    "#);
}

#[test]
fn the_example_fleet_is_in_order() {
    let place = Place::with(&[]);
    let fleet = example_fleet();
    let output = place.output(&format!("units validate --fleet {fleet} --home home"));
    assert_snapshot!(String::from_utf8_lossy(&output.stdout), @r#"no problems: 13 units, 4 tiers, 1 limit"#);
    assert!(output.status.success());
}

#[test]
fn what_differs_from_the_registry_is_shown_key_by_key() {
    let place = Place::fleet("name: one\nrun: [echo, hi]\n");
    assert_snapshot!(place.muster("units diff"), @r#"
    $ muster units diff
    KIND  NAME     CHANGE  WHAT
    job   one      added
    tier  default  added
    "#);
    assert_snapshot!(place.muster("units disable one --note 'the feed is down'"), @r#"
    $ muster units disable one --note 'the feed is down'
    one disabled
    ! fleet applied: 1 unit added, 1 tier added
    ! next: muster units enable one
    "#);
    assert_snapshot!(place.muster("units diff"), @r#"
    $ muster units diff
    ! the manifests are what ran last
    "#);
    place.write("fleet/units.yaml", "name: one\nrun: [echo, ho]\npriority: 5\n");
    assert_snapshot!(place.muster("units diff"), @r#"
    $ muster units diff
    KIND  NAME  CHANGE   WHAT
    job   one   changed  priority: 0 → 5
    job   one   changed  run: ["echo","hi"] → ["echo","ho"]
    "#);
    assert_snapshot!(place.muster("units list"), @r#"
    $ muster units list
    UNIT  TIER     STATE     REVISION  TAGS  DESCRIPTION
    one   default  disabled         2
    "#);
    assert_snapshot!(place.muster("run one"), @r#"
    $ muster run one
    ! error: unit `one` is disabled by ada since <date and time> (the feed is down); `muster units enable one` lets it start again [E-R04]
    exit 4
    "#);
    assert_snapshot!(place.muster("units enable one"), @r#"
    $ muster units enable one
    one enabled
    ! next: muster run one
    "#);
    assert_snapshot!(place.muster("units enable won"), @r#"
    $ muster units enable won
    ! error: there is no unit `won` [E-N01]
    !   hint: `muster units list` shows what there is.
    exit 3
    "#);
    assert_snapshot!(place.muster("units revisions one --json").replace(char::is_numeric, "#"), @r###"
    $ muster units revisions one --json
    [
      {
        "revision": #,
        "applied_at": "<instant>",
        "content": {
          "kind": "job",
          "name": "one",
          "enabled": true,
          "run": [
            "echo",
            "hi"
          ],
          "location": "<dir>/fleet",
          "tier": "default",
          "priority": #,
          "retry": {
            "attempts": #,
            "backoff": "#s..#m",
            "factor": #
          },
          "timeouts": {
            "starting": "#m",
            "stopping": "##s"
          }
        }
      }
    ]
    "###);
}

#[test]
fn init_makes_a_fleet_and_overwrites_nothing() {
    let place = Place::with(&[]);
    assert_snapshot!(place.muster("init"), @r#"
    $ muster init
    fleet/units.yaml
    fleet/readings.sh
    fleet/stations.py
    fleet/data/readings.csv
    ! next: muster run --all
    "#);
    assert_snapshot!(place.muster("units validate"), @r#"
    $ muster units validate
    no problems: 2 units, 2 tiers, 0 limits
    "#);
    assert_snapshot!(place.muster("init"), @r#"
    $ muster init
    ! error: fleet is not empty, and nothing is overwritten [E-F04]
    !   hint: Name another folder: muster init DIR
    exit 4
    "#);
    assert_snapshot!(place.muster("init trial --json"), @r#"
    $ muster init trial --json
    {
      "folder": "trial",
      "files": [
        "units.yaml",
        "readings.sh",
        "stations.py",
        "data/readings.csv"
      ]
    }
    "#);
}
