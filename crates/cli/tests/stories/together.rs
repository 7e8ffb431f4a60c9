//! Several processes on one home: who holds it, who waits for what, and cancelling from beside.

use insta::assert_snapshot;

use crate::harness::{Place, begun, left, waiting_unit};

#[test]
fn a_second_owner_is_told_who_the_first_is() {
    let place = Place::fleet(&waiting_unit("slow", ""));
    let owner = begun(&place, &["run", "slow"]);
    let refused = place.muster("run slow");
    place.write("slow.go", "");
    assert!(owner.wait_with_output().unwrap().status.success());
    let program = env!("CARGO_BIN_EXE_muster");
    assert_snapshot!(refused.replace(program, "muster"), @r#"
    $ muster run slow
    ! error: could not take folder <dir>/fleet/.muster: process <pid> (`muster run slow`) has held it since <instant> [E-H01]
    !   hint: Wait for it, or follow what it runs: muster runs watch
    exit 4
    "#);
}

#[test]
fn why_names_every_constraint_and_who_holds_it() {
    let units = waiting_unit("slow", "limits: [feed]\npriority: 5\n")
        + "name: next\nrun: [echo]\nlimits: [feed]\n---\nname: last\nrun: [echo]\nneeds: [next]\n---\nkind: limit\nname: feed\nlimit: 1\n";
    let place = Place::fleet(&units);
    let owner = begun(&place, &["run", "--all"]);
    let why = place.muster("why");
    let one = place.output("why next -q");
    place.write("slow.go", "");
    assert!(owner.wait_with_output().unwrap().status.success());
    assert_snapshot!(why.replace("launching", "running"), @r#"
    $ muster why
    execution  run_<id>.0
    unit       slow
    state      running

    execution  run_<id>.1
    unit       next
    state      waiting
    waits for  the one slot of limit feed taken (1 held)
    held by    limit:feed: run_<id>.0 (slow, since #s ago)
    place      1 of 2

    execution  run_<id>.2
    unit       last
    state      waiting
    waits for  needs next, which has not ended
    place      2 of 2
    "#);
    assert_eq!(String::from_utf8_lossy(&one.stdout).lines().count(), 1);
}

#[test]
fn cancelling_beside_the_owner_waits_for_the_proof() {
    let place = Place::fleet(&waiting_unit("slow", "timeout: { stopping: 1s }\n"));
    let owner = begun(&place, &["run", "slow"]);
    let run = place.newest();
    assert_snapshot!(place.muster(&format!("runs cancel {run}")), @r#"
    $ muster runs cancel run_<id>
    run_<id> cancelled (confirmed <time>)
    ! cancelling run_<id>: 1 unit to stop
    "#);
    let owner = owner.wait_with_output().unwrap();
    assert_eq!(owner.status.code(), Some(5));
    assert_snapshot!(place.filtered(&String::from_utf8_lossy(&owner.stdout)), @r#"
    UNIT  TIER     STATE      VERDICT  ATTEMPTS  TIME  ROWS  REASON
    slow  default  cancelled                  1  #.#s        cancelled on request; its processes are gone
    "#);
    assert_snapshot!(place.muster(&format!("runs cancel {run}")), @r#"
    $ muster runs cancel run_<id>
    run_<id> cancelled (confirmed <time>)
    "#);
}

#[test]
fn cancelling_what_nobody_carries_on_stops_what_still_runs() {
    let place = Place::fleet(&waiting_unit("slow", "timeout: { stopping: 1s }\n"));
    left(&place, &["run", "slow"]);
    let run = place.newest();
    assert_snapshot!(place.muster(&format!("runs cancel {run} --json")), @r#"
    $ muster runs cancel run_<id> --json
    {
      "id": "run_<id>",
      "status": "cancelled",
      "confirmed_at": "<instant>"
    }
    "#);
    assert_snapshot!(place.muster("runs show"), @r#"
    $ muster runs show
    run        run_<id>
    state      cancelled
    asked for  slow
    slot       <date and time>
    created    <date and time> (#s ago)
    ended      <date and time> (#s ago)
    took       #.#s
    cancelled  asked for by ada at <date and time>
    units      1: 1 cancelled

    UNIT  TIER     STATE      VERDICT  ATTEMPTS  TIME  ROWS  REASON
    slow  default  cancelled                  1  #.#s        cancelled on request; its processes are gone
    "#);
}
