//! How a unit is stopped, and what it leaves behind.

#![expect(clippy::unwrap_used, reason = "a story that cannot go on ends where it is")]

mod worker_support;

use std::time::{Duration, Instant};

use model::{Ended, Span, StopCause};
use rustix::process::Signal;
use worker_support::{World, exited, lives, living, until};

/// Names processes of one test in a list of all processes: an argument that means nothing.
fn mark(name: &str) -> String {
    format!("muster-test-{name}-{}", std::process::id())
}

#[tokio::test]
async fn a_time_limit_is_kept_from_outside() {
    let mut world = World::new().await;
    let mut assignment = world.script("trap 'echo told; exit 0' TERM; echo begun; while :; do sleep 0.01; done");
    assignment.running = Some(Span::from_millis(150));
    let outcome = world.run(&assignment).await;
    assert_eq!(outcome.stopped, Some(StopCause::TimedOut { limit: Span::from_millis(150) }));
    assert_eq!(outcome.ended, exited(0), "a trap may end it well: it is stopped all the same");
    assert!(world.stdout(&assignment).ends_with("told\n"));
    assert!(outcome.artifacts.is_empty());
}

#[tokio::test]
async fn who_ignores_the_order_is_killed_with_its_group_after_the_grace() {
    let mut world = World::new().await;
    let mark = mark("ignores");
    let script = "trap '' TERM; (while :; do sleep 0.01; done) & while :; do sleep 0.01; done";
    let mut assignment = world.assignment(&["bash", "-c", script, &mark]);
    assignment.stopping = Span::from_millis(300);
    world.start(&assignment).await;
    until("both run", || living(&mark) >= 2).await;
    let asked = Instant::now();
    world.client_stop(&assignment).await;
    let outcome = world.ended(&assignment).await;
    let took = asked.elapsed();
    assert!(took >= Duration::from_millis(290), "killed after {took:?}");
    assert_eq!(outcome.ended, Ended::Killed { signal: 9, core: false });
    assert_eq!(outcome.stopped, Some(StopCause::Cancelled));
    assert_eq!(living(&mark), 0);
}

#[tokio::test]
async fn a_halted_unit_can_be_stopped() {
    let mut world = World::new().await;
    let assignment = world.script("kill -STOP $$; echo woken");
    let process = world.start(&assignment).await;
    let state = |pid: i32| std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default().contains(") T ");
    until("it halted", || state(process.pid)).await;
    world.client_stop(&assignment).await;
    let outcome = world.ended(&assignment).await;
    assert_eq!(outcome.ended, Ended::Killed { signal: 15, core: false });
}

#[tokio::test]
async fn children_left_in_the_group_are_ended_and_named() {
    let mut world = World::new().await;
    let mark = mark("left");
    let assignment = world.assignment(&["bash", "-c", "bash -c 'while :; do sleep 0.05; done' $0 & echo started; exit 0", &mark]);
    let outcome = world.run(&assignment).await;
    assert_eq!(outcome.ended, exited(0));
    assert_eq!(living(&mark), 0);
    assert!(outcome.strays.iter().any(|stray| stray.command == "bash" && stray.fate == "killed"), "{:?}", outcome.strays);
}

#[tokio::test]
async fn children_that_end_with_the_program_are_no_strays() {
    let mut world = World::new().await;
    for _ in 0..20 {
        let outcome = world.run_script("true & (sleep 0.001; true) & exit 0").await;
        assert_eq!(outcome.strays, [], "{outcome:?}");
    }
}

/// Double fork, own session, no descriptor kept, other environment, other folder.
const DAEMON: &str = r#"
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() > 0: os._exit(0)
    if "far" in sys.argv[2]: os.chdir("/")
    for fd in range(0, 256):
        try: os.close(fd)
        except OSError: pass
    if "env" in sys.argv[2]: os.execve(sys.executable, ["python", "-c", "import time; time.sleep(600)", sys.argv[1]], {})
    time.sleep(600)
os.wait()
"#;

#[tokio::test]
async fn a_daemon_that_cut_its_ties_is_found_ended_and_named() {
    let mut world = World::new().await;
    for ties in ["near", "far", "far env"] {
        let mark = mark(&ties.replace(' ', "-"));
        let assignment = world.assignment(&["python3", "-c", DAEMON, &mark, ties]);
        let outcome = world.run(&assignment).await;
        assert_eq!(outcome.ended, exited(0), "{outcome:?}");
        assert_eq!(living(&mark), 0, "{ties}");
        assert_eq!(outcome.strays.len(), 1, "{ties}: {:?}", outcome.strays);
    }
}

#[tokio::test]
async fn a_daemon_beside_other_units_is_found_by_the_sweep() {
    let mut world = World::new().await;
    let mark = mark("beside");
    let other = world.script("read line < gate");
    rustix::fs::mkfifoat(rustix::fs::CWD, world.unit.join("gate"), rustix::fs::Mode::RWXU).unwrap();
    let process = world.start(&other).await;
    let assignment = world.assignment(&["python3", "-c", DAEMON, &mark, "near"]);
    world.run(&assignment).await;
    until("the daemon is gone", || living(&mark) == 0).await;
    assert!(lives(process.pid), "the other unit is untouched");
    world.client_stop(&other).await;
    world.ended(&other).await;
}

#[tokio::test]
async fn a_stopped_unit_takes_its_daemons_along() {
    let mut world = World::new().await;
    let mark = mark("along");
    let script = format!("{DAEMON}\ntime.sleep(600)");
    let mut assignment = world.assignment(&["python3", "-c", &script, &mark, "far"]);
    assignment.stopping = Span::from_millis(500);
    world.start(&assignment).await;
    until("the daemon runs", || living(&mark) == 2).await;
    world.client_stop(&assignment).await;
    let outcome = world.ended(&assignment).await;
    assert_eq!(outcome.stopped, Some(StopCause::Cancelled));
    assert_eq!(living(&mark), 0);
}

#[tokio::test]
async fn a_family_that_keeps_forking_is_ended() {
    let mut world = World::new().await;
    let mark = mark("forks");
    let script = "f() { while :; do bash -c 'sleep 0.02' $0 & sleep 0.01; done; }; for i in 1 2 3 4 5; do f & done; wait";
    let mut assignment = world.assignment(&["bash", "-c", script, &mark]);
    assignment.stopping = Span::from_millis(100);
    world.start(&assignment).await;
    until("it forks", || living(&mark) > 5).await;
    world.client_stop(&assignment).await;
    world.ended(&assignment).await;
    assert_eq!(living(&mark), 0);
}

#[tokio::test]
async fn a_grandchild_that_holds_the_pipe_does_not_hold_the_attempt() {
    let mut world = World::new().await;
    let began = Instant::now();
    let assignment =
        world.assignment(&["python3", "-c", "import os, time\nif os.fork() == 0:\n os.setsid(); time.sleep(600)\nprint('done')"]);
    let outcome = world.run(&assignment).await;
    assert!(began.elapsed() < Duration::from_secs(30));
    assert_eq!((outcome.ended, outcome.strays.len()), (exited(0), 1));
    assert_eq!(world.stdout(&assignment), "done\n");
}

#[tokio::test]
async fn the_end_of_the_shim_interrupts_its_units() {
    let mut world = World::new().await;
    let assignment = world.script("sleep 600");
    world.start(&assignment).await;
    world.signal_shim(Signal::TERM);
    let outcome = world.ended(&assignment).await;
    assert_eq!(outcome.stopped, Some(StopCause::Interrupted));
}

#[tokio::test]
async fn two_hundred_orphans_leave_no_zombie() {
    let mut world = World::new().await;
    let other = world.script("read line < gate");
    rustix::fs::mkfifoat(rustix::fs::CWD, world.unit.join("gate"), rustix::fs::Mode::RWXU).unwrap();
    world.start(&other).await;
    world.run_script("for i in $(seq 200); do (setsid sleep 0.01 >/dev/null 2>&1 &); done").await;
    let shim = world.client.shim_process().to_string();
    let zombies = || {
        let lines = std::process::Command::new("ps").args(["-o", "stat=", "--ppid", &shim]).output().unwrap().stdout;
        String::from_utf8_lossy(&lines).lines().filter(|line| line.starts_with('Z')).count()
    };
    until("no zombie is left", || zombies() == 0).await;
    world.client_stop(&other).await;
    world.ended(&other).await;
}
