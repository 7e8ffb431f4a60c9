//! Answers where there is nothing, streams, and formats of errors.

use std::{fs::File, process::Stdio};

use insta::assert_snapshot;

use crate::harness::Place;

#[test]
fn before_the_first_run_every_list_is_empty() {
    let place = Place::fleet("name: one\nrun: [echo, hi]\n");
    assert_snapshot!(place.muster("runs list"), @r#"
    $ muster runs list
    ! no such run is kept in fleet/.muster
    "#);
    assert_snapshot!(place.muster("runs list --json"), @r#"
    $ muster runs list --json
    []
    "#);
    assert_snapshot!(place.muster("runs list -o yaml"), @r#"
    $ muster runs list -o yaml
    []
    "#);
    assert_snapshot!(place.muster("runs list -o jsonl"), @r#"$ muster runs list -o jsonl"#);
    assert_snapshot!(place.muster("events --json"), @r#"
    $ muster events --json
    []
    "#);
    assert!(!place.path("fleet/.muster").exists(), "looking made a home");
}

#[test]
fn what_is_not_there_is_not_found() {
    let place = Place::fleet("name: one\nrun: [echo, hi]\n");
    assert_snapshot!(place.muster("runs show"), @r#"
    $ muster runs show
    ! error: there is no run yet in fleet/.muster [E-N01]
    !   hint: `muster run --all` makes one; --fleet names another fleet.
    exit 3
    "#);
    assert_snapshot!(place.muster("runs show run_01"), @r#"
    $ muster runs show run_01
    ! error: there is no run `run_01` [E-N01]
    !   hint: `muster runs list` shows what there is in fleet/.muster.
    exit 3
    "#);
    assert_snapshot!(place.muster("why one"), @r#"
    $ muster why one
    ! error: there is no run `one` [E-N01]
    !   hint: `muster runs list` shows what there is in fleet/.muster.
    exit 3
    "#);
    assert_snapshot!(place.muster("runs cancel run_01 --json"), @r#"
    $ muster runs cancel run_01 --json
    ! {
    !   "error": {
    !     "kind": "not-found",
    !     "code": "E-N01",
    !     "message": "there is no run `run_01`",
    !     "hint": "`muster runs list` shows what there is in fleet/.muster.",
    !     "exit": 3
    !   }
    ! }
    exit 3
    "#);
    assert_snapshot!(place.muster("runs show run_01 -o yaml"), @r#"
    $ muster runs show run_01 -o yaml
    ! error:
    !   kind: not-found
    !   code: E-N01
    !   message: "there is no run `run_01`"
    !   hint: "`muster runs list` shows what there is in fleet/.muster."
    !   exit: 3
    exit 3
    "#);
    assert_snapshot!(place.muster("runs show run_01 -o jsonl"), @r#"
    $ muster runs show run_01 -o jsonl
    ! {"error":{"kind":"not-found","code":"E-N01","message":"there is no run `run_01`","hint":"`muster runs list` shows what there is in fleet/.muster.","exit":3}}
    exit 3
    "#);
}

#[test]
fn a_reader_that_leaves_is_no_fault() {
    let place = Place::fleet("name: one\nrun: [echo, hi]\n");
    let mut child = place.command(&["schema"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Gone before the first byte is written.
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn a_full_disk_behind_stdout_is_a_fault() {
    let place = Place::fleet("name: one\nrun: [echo, hi]\n");
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = place.command(&["schema"]).stdout(full).output().unwrap();
    assert_snapshot!(String::from_utf8_lossy(&output.stderr), @r#"error: could not write to stdout: No space left on device (os error 28) [E-U02]"#);
    assert_eq!(output.status.code(), Some(7));
}

#[test]
fn a_home_that_cannot_be_made_is_told_with_its_path() {
    let place = Place::fleet("name: one\nrun: [echo, hi]\n");
    place.write("taken", "a file");
    assert_snapshot!(place.muster("run one --home taken"), @r#"
    $ muster run one --home taken
    ! error: could not make taken: File exists (os error 17) [E-H03]
    exit 7
    "#);
}
