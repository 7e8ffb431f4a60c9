//! What the program says of itself.

use insta::assert_snapshot;

use crate::harness::Place;

#[test]
fn without_a_command_the_help_says_what_there_is() {
    let place = Place::with(&[]);
    assert_snapshot!(place.muster(""), @r#"
    $ muster
    ! Runs the programs that a folder of manifests declares, and says what became of them and of what they
    ! made
    !
    ! Usage: muster [OPTIONS] <COMMAND>
    !
    ! Commands:
    !   run          Run units and wait for them
    !   units        What can run
    !   tiers        Where it can run
    !   runs         What ran, what runs, and what becomes of it
    !   why          Say why something waits: everything that holds it, who holds the slots, and its place
    !   artifacts    List what units published, or get one file
    !   signals      Show what is known of the content of artifacts: counts, checks, findings, verdicts
    !   events       List events in the order they were written
    !   init         Make a small fleet that runs
    !   schema       Print the JSON Schema of manifests, for editors
    !   completions  Print a script that completes muster's arguments
    !   version      Print the version
    !   help         Print this message or the help of the given subcommand(s)
    !
    ! Options:
    !   -h, --help     Print help (see more with '--help')
    !   -V, --version  Print version
    !
    ! Everywhere:
    !       --fleet <DIR>      The folder of the manifests [default: ./fleet where it exists, else .]
    !                          [env: MUSTER_FLEET]
    !       --home <DIR>       The folder that keeps all state [default: .muster in the fleet folder]
    !                          [env: MUSTER_HOME]
    !   -o, --output <FORMAT>  How to write the data [default: table] [possible values: table, wide, json,
    !                          jsonl, yaml]
    !       --json             The same as --output json
    !   -q, --quiet            Write ids or names only, one a line, and no progress
    exit 2
    "#);
    assert_snapshot!(place.muster("runs"), @r#"
    $ muster runs
    ! What ran, what runs, and what becomes of it
    !
    ! Usage: muster runs [OPTIONS] <COMMAND>
    !
    ! Commands:
    !   list    List runs, newest first
    !   show    Show a run or an execution: state, attempts, reasons, times
    !   watch   Follow a run to its end, and carry it on where nobody does
    !   logs    Print what units wrote to stdout and stderr
    !   cancel  Stop a run or an execution, and wait until nothing of it is alive
    !   retry   Run again what did not succeed in a run, with the same revisions and parameters
    !   help    Print this message or the help of the given subcommand(s)
    !
    ! Options:
    !   -h, --help  Print help (see more with '--help')
    !
    ! Everywhere:
    !       --fleet <DIR>      The folder of the manifests [default: ./fleet where it exists, else .]
    !                          [env: MUSTER_FLEET]
    !       --home <DIR>       The folder that keeps all state [default: .muster in the fleet folder]
    !                          [env: MUSTER_HOME]
    !   -o, --output <FORMAT>  How to write the data [default: table] [possible values: table, wide, json,
    !                          jsonl, yaml]
    !       --json             The same as --output json
    !   -q, --quiet            Write ids or names only, one a line, and no progress
    exit 2
    "#);
}

#[test]
fn short_help_is_short() {
    let place = Place::with(&[]);
    assert_snapshot!(place.muster("run -h"), @r#"
    $ muster run -h
    Run units and wait for them

    Usage: muster run [OPTIONS] <UNIT|--all|--tag <TAG>> [-- <ARGUMENT>...]

    Arguments:
      [UNIT]...      The units to run
      [ARGUMENT]...  Arguments appended to the unit's own, byte for byte

    Options:
          --all                          Run every enabled unit
          --tag <TAG>                    Run every enabled unit with this tag; may be repeated
      -p, --param <NAME=VALUE>           Set a parameter of the units that declare it; may be repeated
          --concurrency <N>              Run at most so many items at once
          --priority <N>                 Added to each unit's priority, from -100 to 100; higher starts
                                         first
          --fail-on-quality[=<VERDICT>]  Exit with 6 where the run succeeds and its output is bad:
                                         verdict `fail`, or from `warn` on [possible values: warn, fail]
          --timeout <DURATION>           Leave after this time, as Ctrl-C does, with exit code 5
          --tier <TIER>                  Use this tier instead of each unit's own
          --limit <N>                    Hand the units a cap on their scope (MUSTER_LIMIT); such a run
                                         never enters the baseline
          --slot <TIME>                  The nominal time: a day, or a time with offset [default: now]
          --idempotency-key <KEY>        Make the request once: the same key again is the same run
          --dry-run                      Print exactly what would run, and run nothing
          --new                          Start another run even where one of the same request was
                                         interrupted
      -h, --help                         Print help (see more with '--help')

    Everywhere:
          --fleet <DIR>      The folder of the manifests [default: ./fleet where it exists, else .]
                             [env: MUSTER_FLEET]
          --home <DIR>       The folder that keeps all state [default: .muster in the fleet folder]
                             [env: MUSTER_HOME]
      -o, --output <FORMAT>  How to write the data [default: table] [possible values: table, wide, json,
                             jsonl, yaml]
          --json             The same as --output json
      -q, --quiet            Write ids or names only, one a line, and no progress
    "#);
}

/// Every command has two examples that can be typed, and each of them is understood.
#[test]
fn long_help_has_two_examples() {
    let place = Place::with(&[]);
    let commands = [
        "run",
        "units list",
        "units show",
        "units diff",
        "units enable",
        "units disable",
        "units validate",
        "units revisions",
        "tiers list",
        "runs list",
        "runs show",
        "runs watch",
        "runs logs",
        "runs cancel",
        "runs retry",
        "why",
        "artifacts",
        "signals",
        "events",
        "init",
        "schema",
        "completions",
        "version",
    ];
    for command in commands {
        let help = String::from_utf8(place.output(&format!("{command} --help")).stdout).unwrap();
        let examples: Vec<&str> =
            help.split("Examples:\n").nth(1).unwrap_or_else(|| panic!("no examples in {command}")).lines().collect();
        assert!(examples.len() >= 2, "{command}: {examples:?}");
        assert!(examples.iter().any(|example| example.contains(&format!("muster {command}"))), "{command}: {examples:?}");
    }
}

#[test]
fn a_misspelt_command_or_flag_gets_a_suggestion() {
    let place = Place::with(&[]);
    assert_snapshot!(place.muster("runs lst"), @r#"
    $ muster runs lst
    ! error: unrecognized subcommand 'lst'
    !
    !   tip: a similar subcommand exists: 'list'
    !
    ! Usage: muster runs [OPTIONS] <COMMAND>
    !
    ! For more information, try '--help'.
    exit 2
    "#);
    assert_snapshot!(place.muster("run --al"), @r#"
    $ muster run --al
    ! error: unexpected argument '--al' found
    !
    !   tip: a similar argument exists: '--all'
    !   tip: to pass '--al' as a value, use '-- --al'
    !
    ! Usage: muster run <UNIT|--all|--tag <TAG>> [-- <ARGUMENT>...]
    !
    ! For more information, try '--help'.
    exit 2
    "#);
    assert_snapshot!(place.muster("run"), @r#"
    $ muster run
    ! error: the following required arguments were not provided:
    !   <UNIT|--all|--tag <TAG>>
    !
    ! Usage: muster run <UNIT|--all|--tag <TAG>> [-- <ARGUMENT>...]
    !
    ! For more information, try '--help'.
    exit 2
    "#);
    assert_snapshot!(place.muster("runs lst -o json"), @r#"
    $ muster runs lst -o json
    ! {
    !   "error": {
    !     "kind": "invalid",
    !     "code": "E-U01",
    !     "message": "unrecognized subcommand 'lst'",
    !     "hint": "Did you mean `list`?",
    !     "exit": 2
    !   }
    ! }
    exit 2
    "#);
    assert_snapshot!(place.muster("runs list -o yml"), @r#"
    $ muster runs list -o yml
    ! error: invalid value 'yml' for '--output <FORMAT>'
    !   [possible values: table, wide, json, jsonl, yaml]
    !
    !   tip: a similar value exists: 'yaml'
    !
    ! For more information, try '--help'.
    exit 2
    "#);
}

#[test]
fn completions_and_schema_are_for_other_programs() {
    let place = Place::with(&[]);
    let script = String::from_utf8(place.output("completions bash").stdout).unwrap();
    assert!(script.contains("complete -F _muster"), "{script}");
    let schema: serde_json::Value = serde_json::from_slice(&place.output("schema").stdout).unwrap();
    assert_eq!(schema["title"], "Muster manifest");
    assert_snapshot!(place.muster("version --json"), @r#"
    $ muster version --json
    {
      "version": "0.1.0",
      "worker_contract": 1
    }
    "#);
}

/// The table in the documentation is the one in the code.
#[test]
fn exit_codes_are_written_down() {
    let text = include_str!("../../../../docs/operations.md");
    let codes: Vec<&str> = text
        .split("## Exit codes")
        .nth(1)
        .unwrap()
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(' ').next())
        .filter(|code| code.parse::<u8>().is_ok())
        .collect();
    assert_eq!(codes, ["0", "1", "2", "3", "4", "5", "6", "7", "130"]);
}
