//! Commands that leave before a run has ended, and those that come back.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use insta::assert_snapshot;

use crate::harness::{Place, begun, interrupt, left, waiting_unit};

#[test]
fn an_interrupted_run_goes_on_and_the_same_command_takes_it_up() {
    let place = Place::fleet(&(waiting_unit("slow", "") + "name: later\nrun: [echo, later]\nneeds: [slow]\n"));
    let child = begun(&place, &["run", "--all"]);
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_snapshot!(place.filtered(&String::from_utf8_lossy(&output.stderr)), @r#"
    fleet applied: 2 units added, 1 tier added
    run: run_<id>
    <time> started slow (tier default)
    interrupted; the run goes on without this command: 1 unit of it runs on, and nothing further starts (1 unit waits) until somebody comes back
    come back: muster runs watch run_<id>, or the same command again
    "#);
    // Whether the start was written before the command left is a matter of milliseconds.
    assert_snapshot!(place.muster("why").replace("launching", "running"), @r#"
    $ muster why
    execution  run_<id>.0
    unit       slow
    state      running

    execution  run_<id>.1
    unit       later
    state      waiting
    waits for  needs slow, which has not ended
    place      1 of 1
    ! no process carries run_<id> on: nothing further of it starts, whatever else holds it
    ! next: muster runs watch run_<id>
    "#);
    place.write("slow.go", "");
    assert_snapshot!(place.muster("run --all"), @r#"
    $ muster run --all
    UNIT   TIER     STATE      VERDICT  ATTEMPTS  TIME  ROWS  REASON
    slow   default  succeeded                  1  #.#s
    later  default  succeeded                  1  #.#s
    ! taking up run_<id>, asked for at <time> and interrupted with 0 of 2 units ended; --new starts another
    ! <time> succeeded slow (#.#s)
    ! <time> started later (tier default)
    ! <time> succeeded later (#.#s)
    ! run_<id> succeeded, 2 units in #.#s: 2 succeeded
    ! next: muster runs logs run_<id>
    "#);
    assert_snapshot!(place.muster("runs list"), @r#"
    $ muster runs list
    RUN                             STATE      VERDICT  UNITS  FAILED  TIME  STARTED  ASKED FOR
    run_<id>  succeeded               2       0  #.#s  #s ago   all
    "#);
}

#[test]
fn a_command_whose_time_is_over_leaves_as_if_interrupted() {
    let place = Place::fleet(&waiting_unit("slow", ""));
    let output = place.output("run slow --timeout 100ms");
    assert_eq!(output.status.code(), Some(5));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("timed out; the run goes on without this command") && said.contains("come back: muster runs watch"),
        "{said}"
    );
    place.write("slow.go", "");
    assert_eq!(place.output("runs watch").status.code(), Some(0));
}

#[test]
fn watch_carries_on_what_nobody_does() {
    let place = Place::fleet(&waiting_unit("slow", ""));
    left(&place, &["run", "slow"]);
    place.write("slow.go", "");
    assert_snapshot!(place.muster("runs watch"), @r#"
    $ muster runs watch
    UNIT  TIER     STATE      VERDICT  ATTEMPTS  TIME  ROWS  REASON
    slow  default  succeeded                  1  #.#s
    ! nobody carried run_<id> on: this process does
    ! slow | slow begins
    ! slow | slow ends
    ! <time> succeeded slow (#.#s)
    ! run_<id> succeeded, 1 unit in #.#s: 1 succeeded
    ! next: muster runs logs run_<id>
    "#);
    assert_snapshot!(place.muster("runs watch"), @r#"
    $ muster runs watch
    UNIT  TIER     STATE      VERDICT  ATTEMPTS  TIME  ROWS  REASON
    slow  default  succeeded                  1  #.#s
    ! run_<id> succeeded, 1 unit in #.#s: 1 succeeded
    ! next: muster runs logs run_<id>
    "#);
}

#[test]
fn another_run_of_the_same_request_is_started_only_when_asked_for() {
    let place = Place::fleet(&waiting_unit("slow", ""));
    left(&place, &["run", "slow"]);
    place.write("slow.go", "");
    let output = place.output("run slow --new");
    assert!(output.status.success());
    assert_eq!(place.output("runs list -q").stdout.split(|byte| *byte == b'\n').count(), 3, "two ids and the end");
}

#[test]
fn watching_beside_the_owner_ends_with_the_run() {
    let place = Place::fleet(&waiting_unit("slow", ""));
    let owner = begun(&place, &["run", "slow"]);
    let mut watcher = place.command(&["runs", "watch"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watcher.stderr.take().unwrap()).lines().map(Result::unwrap);
    // It is watching once it has told what the unit says while it runs.
    assert!(lines.any(|line| line == "slow | slow begins"));
    place.write("slow.go", "");
    assert!(lines.any(|line| line == "slow | slow ends"));
    let codes = [owner, watcher].map(|child| child.wait_with_output().unwrap().status.code());
    assert_eq!(codes, [Some(0), Some(0)]);
}
