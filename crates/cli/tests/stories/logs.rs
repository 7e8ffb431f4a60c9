//! What units wrote, while they write it and afterwards.

use std::process::Stdio;

use insta::assert_snapshot;

use crate::harness::{Place, waiting_unit};

const TALKING: &str = r#"
name: talk
run: [sh, -c, 'echo "attempt $MUSTER_ATTEMPT"; echo to stderr >&2; echo "last words"; printf "no line feed"; test "$MUSTER_ATTEMPT" = 2']
retry: { attempts: 2, backoff: 10ms }
"#;

#[test]
fn the_log_of_an_execution_in_every_form() {
    let place = Place::fleet(TALKING);
    assert!(place.output("run talk").status.success());
    let sorted = |text: String| {
        // The two streams are two pipes: their lines may change places.
        let mut lines: Vec<&str> = text.lines().collect();
        lines[1..].sort_unstable();
        lines.join("\n")
    };
    assert_snapshot!(sorted(place.muster("runs logs")), @r#"
    $ muster runs logs
    attempt 2
    last words
    no line feed
    to stderr
    "#);
    assert_snapshot!(place.muster("runs logs --stream stderr"), @r#"
    $ muster runs logs --stream stderr
    to stderr
    "#);
    assert_snapshot!(place.muster("runs logs --stream stdout --tail 1"), @r#"
    $ muster runs logs --stream stdout --tail 1
    no line feed
    "#);
    assert_snapshot!(place.muster("runs logs --stream stdout --tail 2"), @r#"
    $ muster runs logs --stream stdout --tail 2
    last words
    no line feed
    "#);
    assert_snapshot!(place.muster("runs logs --stream stdout --attempt 1 -o wide"), @r#"
    $ muster runs logs --stream stdout --attempt 1 -o wide
    <instant> stdout attempt 1
    <instant> stdout last words
    <instant> stdout no line feed
    "#);
    assert_snapshot!(place.muster("runs logs --stream stderr -o jsonl"), @r#"
    $ muster runs logs --stream stderr -o jsonl
    {"time":"<instant>","execution":"run_<id>.0","unit":"talk","attempt":2,"stream":"stderr","text":"to stderr","continues":false}
    "#);
    assert_snapshot!(place.muster("runs logs --stream stderr --json"), @r#"
    $ muster runs logs --stream stderr --json
    [
      {
        "time": "<instant>",
        "execution": "run_<id>.0",
        "unit": "talk",
        "attempt": 2,
        "stream": "stderr",
        "text": "to stderr",
        "continues": false
      }
    ]
    "#);
    assert_snapshot!(place.muster("runs logs --since 1h --stream stderr"), @r#"
    $ muster runs logs --since 1h --stream stderr
    to stderr
    "#);
    assert_snapshot!(place.muster("runs logs --since 2100-01-01"), @r#"$ muster runs logs --since 2100-01-01"#);
    assert_snapshot!(place.muster("runs logs talk --attempt 3"), @r#"
    $ muster runs logs talk --attempt 3
    ! error: there is no attempt 3 of run_<id>.0: it has made 2 [E-N05]
    exit 3
    "#);
    assert_eq!(place.output("runs logs --raw --stream stdout").stdout, b"attempt 2\nlast words\nno line feed");
}

#[test]
fn the_log_of_a_run_says_whose_line_it_is() {
    let place = Place::fleet("name: one\nrun: [echo, hi]\n---\nname: three\nrun: [echo, ho]\nneeds: [one]\n");
    place.output("run --all");
    assert_snapshot!(place.muster("runs logs"), @r#"
    $ muster runs logs
    one   | hi
    three | ho
    "#);
}

#[test]
fn following_a_log_ends_with_the_run_and_its_exit_code() {
    let place = Place::fleet(&waiting_unit("slow", "").replace("echo slow ends", "echo slow ends; exit 4"));
    let mut run = place.command(&["run", "slow"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    place.until_there("slow.begun");
    let follow = place.command(&["runs", "logs", "-f"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    place.write("slow.go", "");
    let output = follow.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "slow begins\nslow ends\n");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(run.wait().unwrap().code(), Some(1));
}

#[test]
fn bytes_that_are_no_text_come_back_raw() {
    let place = Place::fleet(r#"{"name": "noise", "run": ["printf", "\\377\\000\\033[2Jx\\n"]}"#);
    place.output("run noise");
    assert_eq!(place.output("runs logs --raw").stdout, b"\xff\0\x1b[2Jx\n");
}
