//! Every pair of (state, command) and its answer, as a table: a changed rule is a changed line.

#[path = "fixture/execution.rs"]
mod fixture;

use engine::{
    execution::{self, Answer, Command, Effect},
    retry::Next,
    run,
};
use fixture::{after, again, at, cancel, confirm_cancel, created, fail, grant, queue_time_over, refuse, start, succeed};
use model::{
    CancelRequest, Execution, PermitKey, Reason, Run, RunId, RunOptions, RunState, Scope, Selection, StopCause, Totals, Verdict,
};

const FINAL: Next = Next::Final { because: None };

/// Attempt 1 failed and is to be tried again; all later rows are about attempt 2, so that an older attempt exists.
fn pausing() -> Execution {
    after(&after(&created(), &grant(0)), &fail(1, again()))
}

fn execution_rows() -> Vec<(&'static str, Execution)> {
    let launching = after(&pausing(), &grant(1));
    let running = after(&launching, &start(2));
    let publishing = after(&running, &Command::Publish { attempt: 2 });
    let mut rows = Vec::new();
    let open = [
        (["waiting", "waiting, cancel"], created()),
        (["pausing", "pausing, cancel"], pausing()),
        (["launching", "launching, cancel"], launching.clone()),
        (["running", "running, cancel"], running.clone()),
        (["publishing", "publishing, cancel"], publishing),
    ];
    for ([plain, cancelled], execution) in open {
        // Set by hand: no command leaves a request behind where nothing is under way, and yet it has an answer.
        let cancelling = Execution { cancel: Some(CancelRequest { at: at(7), by: "ada".to_owned() }), ..execution.clone() };
        rows.push((plain, execution));
        rows.push((cancelled, cancelling));
    }
    rows.push(("succeeded", after(&running, &succeed(2))));
    rows.push(("failed", after(&running, &fail(2, FINAL))));
    rows.push(("cancelled", after(&after(&running, &cancel()), &confirm_cancel(2))));
    rows.push(("cancelled, never began", after(&created(), &cancel())));
    rows
}

/// `1` stands for an attempt that is over in all rows but the first two, where none was granted, and `2` for the one under way.
fn execution_columns() -> Vec<(&'static str, Command)> {
    vec![
        ("grant", grant(2)),
        ("grant of the same slots", grant(1)),
        ("start 2", start(2)),
        ("start 1", start(1)),
        ("start 9", start(9)),
        ("publish 2", Command::Publish { attempt: 2 }),
        ("settle 2 success", succeed(2)),
        ("settle 2 failure, again", fail(2, again())),
        ("settle 2 failure, final", fail(2, FINAL)),
        ("settle 2 cancelled", confirm_cancel(2)),
        ("settle 1 success", succeed(1)),
        ("settle 9 success", succeed(9)),
        ("cancel", cancel()),
        ("refuse (refused)", refuse(Reason::Refused)),
        ("refuse (timed out)", refuse(queue_time_over())),
    ]
}

fn execution_answer(answer: &Answer) -> String {
    match answer {
        Answer::Applied(next, effects) => {
            let effects: String = effects.iter().map(|effect| format!(" +{}", effect_words(effect))).collect();
            format!("applied → {}{effects}", next.status())
        }
        Answer::AlreadySo => "already so".to_owned(),
        Answer::Stale => "stale".to_owned(),
        Answer::Refused(why) => format!("refused: {why}"),
    }
}

fn effect_words(effect: &Effect) -> String {
    match effect {
        Effect::FreeSlots(permits) => match permits.last() {
            None => "free nothing".to_owned(),
            Some((PermitKey::Tier(_), slot)) => format!("free {} slots (tier {slot})", permits.len()),
            Some(other) => panic!("the tier comes last, not {other:?}"),
        },
        Effect::Stop { attempt, cause: StopCause::Cancelled } => format!("stop {attempt}"),
        Effect::Stop { attempt, cause } => format!("stop {attempt} ({cause:?})"),
        Effect::Ended => "ended".to_owned(),
        Effect::Resume { at: instant } => format!("resume at {}", instant.as_second()),
    }
}

/// One block a state, one line a command: a wide table would be cut off in every review.
fn table<S, C>(rows: &[(&str, S)], columns: &[(&str, C)], answer: impl Fn(&S, &C) -> String) -> String {
    let mut text = String::new();
    for (state_name, state) in rows {
        text.push_str(state_name);
        text.push('\n');
        for (command_name, command) in columns {
            text.push_str(&format!("  {command_name:<26} {}\n", answer(state, command)));
        }
    }
    text
}

#[test]
fn every_command_has_an_answer_in_every_state_of_an_execution() {
    let answer = |execution: &Execution, command: &Command| execution_answer(&execution::decide(execution, command, at(20)));
    insta::assert_snapshot!(table(&execution_rows(), &execution_columns(), answer));
}

/// What the table cannot say by itself: the rules of the lifecycle, cell by cell.
#[test]
fn the_rules_of_the_lifecycle_hold_in_every_cell() {
    for (state_name, execution) in execution_rows() {
        for (command_name, command) in execution_columns() {
            let cell = format!("{state_name} × {command_name}");
            let Answer::Applied(next, effects) = execution::decide(&execution, &command, at(20)) else { continue };
            assert!(!execution.state.is_terminal(), "{cell}: an ended execution changed");
            assert_ne!(*next, execution, "{cell}: applied, and nothing changed");
            let freed = effects.iter().filter(|effect| matches!(effect, Effect::FreeSlots(_))).count();
            let ended = effects.contains(&Effect::Ended);
            assert_eq!(ended, next.state.is_terminal(), "{cell}: the end and its announcement belong together");
            assert_eq!(next.permits.is_empty(), next.running().is_none(), "{cell}: slots are held while an attempt is under way");
            assert_eq!(freed == 1, next.running().is_none(), "{cell}: slots go back in the transition that ends the attempt");
            let started_more = next.attempts.len() > execution.attempts.len();
            assert!(!(started_more && execution.cancel.is_some()), "{cell}: an attempt began after a request to cancel");
            assert!(
                !(next.resume_at.is_some() && next.cancel.is_some()),
                "{cell}: a retry was planned after a request to cancel"
            );
        }
    }
}

fn run_in(state: RunState, items: u32, cancelled: bool) -> Run {
    Run {
        id: RunId::from_bits(1),
        scope: Scope::local(),
        state,
        selection: Selection::All,
        options: RunOptions {
            concurrency: None,
            priority: 0,
            parameters: std::collections::BTreeMap::new(),
            arguments: Vec::new(),
            limit: None,
            tier: None,
            slot: at(0),
        },
        items,
        created_at: at(0),
        started_at: (items > 0).then(|| at(1)),
        ended_at: state.is_terminal().then(|| at(2)),
        cancel: cancelled.then(|| CancelRequest { at: at(1), by: "ada".to_owned() }),
        totals: Totals::default(),
        verdict: None,
        message: None,
        correlation: "c-1".to_owned(),
    }
}

fn run_rows() -> Vec<(&'static str, Run)> {
    vec![
        ("created", run_in(RunState::Created, 0, false)),
        ("created, cancel", run_in(RunState::Created, 0, true)),
        ("started with 3 items", run_in(RunState::Started, 3, false)),
        ("started with 3 items, cancel", run_in(RunState::Started, 3, true)),
        ("succeeded", run_in(RunState::Succeeded, 3, false)),
        ("failed", run_in(RunState::Failed, 3, false)),
        ("failed before its items were frozen", run_in(RunState::Failed, 0, false)),
        ("cancelled", run_in(RunState::Cancelled, 3, true)),
        ("cancelled before its items were frozen", run_in(RunState::Cancelled, 0, true)),
    ]
}

fn run_columns() -> Vec<(&'static str, run::Command)> {
    let close = |totals: Totals, broken: Option<&str>| run::Command::Close {
        totals,
        verdict: Some(Verdict::Pass),
        broken: broken.map(str::to_owned),
    };
    let none = Totals::default();
    let broken = Some("the machine stopped");
    vec![
        ("freeze 3", run::Command::Freeze { items: 3 }),
        ("freeze 4", run::Command::Freeze { items: 4 }),
        ("cancel", run::Command::Cancel(CancelRequest { at: at(3), by: "bob".to_owned() })),
        ("close, no items", close(none, None)),
        ("close, 3 succeeded", close(Totals { succeeded: 3, ..none }, None)),
        ("close, 1 failed", close(Totals { succeeded: 2, failed: 1, ..none }, None)),
        ("close, 1 cancelled", close(Totals { succeeded: 2, cancelled: 1, ..none }, None)),
        ("close, 1 under way", close(Totals { succeeded: 2, started: 1, ..none }, None)),
        ("close broken, no items", close(none, broken)),
        ("close broken, 1 waiting", close(Totals { succeeded: 2, created: 1, ..none }, broken)),
        ("close broken, 3 succeeded", close(Totals { succeeded: 3, ..none }, broken)),
        ("close broken, 1 failed", close(Totals { succeeded: 2, failed: 1, ..none }, broken)),
    ]
}

fn run_answer(answer: &run::Answer) -> String {
    match answer {
        run::Answer::Applied(next) if next.cancel.is_some() && !next.state.is_terminal() => "applied → cancelling".to_owned(),
        run::Answer::Applied(next) => format!("applied → {}", next.state.as_str()),
        run::Answer::AlreadySo => "already so".to_owned(),
        run::Answer::Refused(why) => format!("refused: {why}"),
    }
}

#[test]
fn every_command_has_an_answer_in_every_state_of_a_run() {
    let answer = |run: &Run, command: &run::Command| run_answer(&run::decide(run, command, at(20)));
    insta::assert_snapshot!(table(&run_rows(), &run_columns(), answer));
}

#[test]
fn a_run_succeeds_only_when_all_its_items_did() {
    for (state_name, run) in run_rows() {
        for (command_name, command) in run_columns() {
            let run::Answer::Applied(next) = run::decide(&run, &command, at(20)) else { continue };
            let cell = format!("{state_name} × {command_name}");
            assert!(!run.state.is_terminal(), "{cell}: an ended run changed");
            assert_ne!(*next, run, "{cell}: applied, and nothing changed");
            if next.state == RunState::Succeeded {
                assert_eq!((next.items, next.totals.succeeded), (3, 3), "{cell}");
            }
            let frozen_after_cancel = run.cancel.is_some() && next.state == RunState::Started && run.state == RunState::Created;
            assert!(!frozen_after_cancel, "{cell}: items would start after the request to cancel");
        }
    }
}
