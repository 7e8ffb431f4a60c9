//! One call of a port fails, whichever: the run still ends, and its unit is started once.

#![expect(clippy::unwrap_used, reason = "a story that cannot go on fails")]

use model::RunState;
use testkit::FailsAt;
use tests::World;

const FLEET: &str = "name: a\nrun: [a]\n---\nname: b\nrun: [b]\nneeds: [a]\n";

/// Runs the fleet over ports of which one call fails; a caller whose request fails asks again with the same key. False where the fault lay
/// beyond the last call.
fn survives(fault: &FailsAt) -> bool {
    let folder = tempfile::tempdir().unwrap();
    World::open(folder.path()).apply(FLEET);
    let world = World::with(folder.path(), fault);
    let request = || app::RunRequest { idempotency_key: Some("story".to_owned()), ..world.all() };
    let started = world.block(world.app.start(&world.scope, request()));
    let started = started.or_else(|_| world.block(world.app.start(&world.scope, request())));
    let ended = world.wait(started.expect("the second try succeeds").run.id);
    assert_eq!((ended.state, ended.totals.succeeded), (RunState::Succeeded, 2), "{fault:?}");
    let mut starts = world.launcher.starts();
    starts.dedup();
    assert_eq!(starts, [("a".to_owned(), 1), ("b".to_owned(), 1)], "{fault:?}");
    fault.fired()
}

#[test]
fn a_run_survives_the_loss_of_any_call() {
    let lost = (0..60).take_while(|nth| survives(&FailsAt::call(*nth))).count();
    assert!(lost > 8, "only {lost} calls could fail");
}

#[test]
fn a_run_survives_the_loss_of_any_reply() {
    let lost = (0..60).take_while(|nth| survives(&FailsAt::reply(*nth))).count();
    assert!(lost > 8, "only {lost} replies could be lost");
}
