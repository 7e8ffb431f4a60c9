//! Stories of runs on the embedded home: from the request to the closed run, through the real state machine, store and gate.

use model::{ExecutionState, Reason, RunState};
use tests::{Play, World};

fn fleet(count: usize) -> String {
    let mut text = String::new();
    for number in 0..count {
        text.push_str(&format!("name: unit-{number}\nrun: [\"true\"]\n---\n"));
    }
    text
}

#[test]
fn every_item_of_a_run_is_admitted_launched_settled_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::open(folder.path());
    world.apply(&fleet(40));
    let run = world.wait(world.start_all());
    assert_eq!((run.state, run.totals.succeeded, run.items), (RunState::Succeeded, 40, 40));
    assert_eq!(world.launcher.starts().len(), 40);
}

#[test]
fn a_failed_attempt_is_retried_and_a_final_failure_fails_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::open(folder.path());
    world.apply(
        "name: flaky\nrun: [a]\nretry: { attempts: 3, backoff: 1ms }\n---\nname: broken\nrun: [b]\nretry: { attempts: 2, backoff: 1ms }\n",
    );
    world.launcher.play("flaky", 1, Play::Exit(1));
    world.launcher.play("broken", 1, Play::Exit(3));
    world.launcher.play("broken", 2, Play::Exit(3));
    let run = world.start_all();
    assert_eq!(world.wait(run).state, RunState::Failed);
    let view = world.block(world.app.run_view(&world.scope, run)).unwrap();
    let of = |name: &str| view.executions.iter().find(|execution| execution.unit.as_str() == name).unwrap();
    assert_eq!((of("flaky").state, of("flaky").attempts.len()), (ExecutionState::Succeeded, 2));
    assert_eq!(of("broken").reason, Some(Reason::ExitNonzero { code: 3 }));
    assert_eq!(of("broken").message.as_deref(), Some("exited with code 3 (attempt 2 of 2)"));
}

#[test]
fn a_unit_waits_for_what_it_needs_and_never_starts_when_that_fails() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::open(folder.path());
    world.apply(
        "name: a\nrun: [a]\nneeds: [b]\n---\nname: b\nrun: [b]\n---\nname: c\nrun: [c]\nneeds: [d]\n---\nname: d\nrun: [d]\n",
    );
    world.launcher.play("d", 1, Play::Exit(1));
    let run = world.start_all();
    assert_eq!(world.wait(run).state, RunState::Failed);
    let starts: Vec<String> = world.launcher.starts().into_iter().map(|(unit, _)| unit).collect();
    let place = |name: &str| starts.iter().position(|start| start == name);
    assert!(place("b") < place("a"), "{starts:?}");
    assert_eq!(place("c"), None);
    let view = world.block(world.app.run_view(&world.scope, run)).unwrap();
    let refused = view.executions.iter().find(|execution| execution.unit.as_str() == "c").unwrap();
    assert_eq!((refused.state, refused.reason.clone()), (ExecutionState::Cancelled, Some(Reason::Refused)));
}

#[test]
fn a_control_process_that_crashed_is_followed_by_one_that_ends_every_item_once() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::open(folder.path());
    world.apply(&format!("{}name: slow\nrun: [slow]\n", fleet(20)));
    world.launcher.play("slow", 1, Play::Hang);
    let run = world.start_all();
    world.until("all but one have ended", async || {
        let run = world.app.run(&world.scope, run).await.unwrap();
        (run.totals.succeeded == 20).then_some(())
    });
    drop(world);

    let world = World::open(folder.path());
    let recovered = world.block(world.app.recover(&world.scope)).unwrap();
    assert_eq!(recovered.runs, [run]);
    // To this launcher the attempt is unknown: it is started (again) under the same attempt number.
    assert_eq!(world.wait(run).state, RunState::Succeeded);
    assert_eq!(world.launcher.starts(), [("slow".to_owned(), 1)]);
}

#[test]
fn cancel_stops_what_runs_and_lets_nothing_start() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::open(folder.path());
    world.apply("name: a\nrun: [a]\n---\nname: b\nrun: [b]\nneeds: [a]\n");
    world.launcher.play("a", 1, Play::Hang);
    let run = world.start_all();
    world.until("the first one is launched", async || (world.launcher.starts().len() == 1).then_some(()));
    world.block(world.app.cancel_run(&world.scope, run, "a story")).unwrap();
    let ended = world.wait(run);
    assert_eq!((ended.state, ended.totals.cancelled), (RunState::Cancelled, 2));
    assert_eq!(world.launcher.starts().len(), 1);
}

#[test]
fn an_attempt_that_vanished_is_lost_and_its_retry_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::open(folder.path());
    world.apply("name: a\nrun: [a]\n");
    world.launcher.play("a", 1, Play::Vanish);
    let run = world.start_all();
    assert_eq!(world.wait(run).state, RunState::Succeeded);
    let view = world.block(world.app.run_view(&world.scope, run)).unwrap();
    assert_eq!(view.executions[0].attempts[0].reason, Some(Reason::Lost));
}

#[test]
fn a_run_that_is_cancelled_in_a_pause_ends_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::open(folder.path());
    world.apply("name: a\nrun: [a]\nretry: { attempts: 2, backoff: 1h }\n");
    world.launcher.play("a", 1, Play::Exit(1));
    let run = world.start_all();
    world.until("the first attempt has failed", async || {
        let view = world.app.run_view(&world.scope, run).await.unwrap();
        view.executions.first().is_some_and(|execution| execution.resume_at.is_some()).then_some(())
    });
    world.block(world.app.cancel_run(&world.scope, run, "a story")).unwrap();
    assert_eq!(world.wait(run).state, RunState::Cancelled);
    assert_eq!(world.launcher.starts().len(), 1);
}

#[test]
fn a_tier_that_this_home_cannot_launch_is_refused_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::open(folder.path());
    world.apply("kind: tier\nname: cloud\nlaunch: fargate\n---\nname: a\nrun: [a]\ntier: cloud\n");
    let refused = world.block(world.app.start(&world.scope, world.all())).unwrap_err();
    assert_eq!(refused.code, "E-R15");
    assert!(refused.message.contains("fargate") && refused.message.contains("process"), "{refused}");
}
