//! The journal: the same entries give the same execution, at every point of its life.

use std::sync::Arc;

use crate::host::{Answer, Host, json};
use asl::{Command, Event, Execution};
use jiff::Timestamp;
use proptest::prelude::*;

/// A run like the project's own: read items, admit by token, launch, settle, and try again after a pause.
const RUN: &str = r#"{"StartAt": "Open", "States": {
    "Open": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "ResultPath": "$.list", "TimeoutSeconds": 300,
        "Retry": [{"ErrorEquals": ["Lambda.TooManyRequestsException"], "JitterStrategy": "FULL"}],
        "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Close"}], "Next": "Each"},
    "Each": {"Type": "Map", "MaxConcurrencyPath": "$.concurrency", "ToleratedFailurePercentage": 100,
        "ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": {"InputType": "JSONL"}, "Parameters": {"Key.$": "$.list.key"}},
        "ItemSelector": {"run.$": "$.run", "item.$": "$$.Map.Item.Value", "turn": {"attempt": 1}},
        "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Admit", "States": {
            "Admit": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken", "TimeoutSeconds": 900,
                "Parameters": {"token.$": "$$.Task.Token", "item.$": "$.item"}, "ResultPath": "$.turn.permit", "Next": "Launch"},
            "Launch": {"Type": "Task", "Resource": "arn:aws:states:::ecs:runTask.sync", "HeartbeatSeconds": 60, "ResultPath": "$.turn.task",
                "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.turn.error", "Next": "Settle"}], "Next": "Settle"},
            "Settle": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "ResultPath": "$.turn", "Next": "Again?"},
            "Again?": {"Type": "Choice", "Choices": [{"Variable": "$.turn.again", "BooleanEquals": true, "Next": "Pause"}], "Default": "Done"},
            "Pause": {"Type": "Wait", "SecondsPath": "$.turn.seconds", "Next": "Admit"},
            "Done": {"Type": "Pass", "Parameters": {"item.$": "$.item", "id.$": "States.UUID()"}, "End": true}}},
        "ResultWriter": {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Prefix.$": "$.list.key"}},
        "ResultPath": "$.map", "Next": "Close"},
    "Close": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "End": true}}}"#;

fn run() -> Host {
    let mut settled = 0;
    let mut opened = 0;
    let mut host = Host::new(RUN, r#"{"run": "r", "concurrency": 3}"#, move |called| match &*called.state {
        "Open" => {
            opened += 1;
            if opened < 3 {
                Answer::Fail("Lambda.TooManyRequestsException", "")
            } else {
                Answer::Succeed(json(r#"{"key": "k"}"#))
            }
        }
        "Launch" if called.arguments.get("item") == Some(&json("2")) => Answer::Park,
        "Settle" => {
            settled += 1;
            Answer::Succeed(json(if settled % 3 == 0 { r#"{"again": true, "seconds": 5}"# } else { r#"{"again": false}"# }))
        }
        _ => Answer::Succeed(json(r#"{"ok": true}"#)),
    });
    host.items = (0..7_i64).map(asl::Value::from).collect();
    host.settle();
    host
}

fn replay(host: &Host, entries: usize) -> (Execution, Vec<Command>) {
    let mut out = Vec::new();
    let mut execution = Execution::start(Arc::clone(&host.machine), host.start.clone(), &mut out);
    for (at, event) in &host.journal[..entries] {
        execution.apply(event.clone(), *at, &mut out);
    }
    (execution, out)
}

#[test]
fn a_replay_gives_the_same_commands_ids_and_state() {
    let host = run();
    assert_eq!(host.output(), json(r#"{"ok": true}"#));
    let (execution, commands) = replay(&host, host.journal.len());
    assert_eq!(commands, host.commands);
    assert_eq!(execution.status(), host.execution.status());
}

#[test]
fn what_is_outstanding_after_any_part_of_the_journal_is_what_was_asked_for_and_not_answered() {
    let host = run();
    for entries in 0..=host.journal.len() {
        let (execution, commands) = replay(&host, entries);
        let mut open: Vec<Command> = Vec::new();
        for command in commands {
            match &command {
                Command::StopTask { task } => open.retain(|known| !starts(known, *task)),
                Command::CancelTimer { timer } => {
                    open.retain(|known| !matches!(known, Command::StartTimer { timer: armed, .. } if armed == timer));
                }
                Command::Finished(_) => {}
                _ => open.push(command),
            }
        }
        for (_, event) in &host.journal[..entries] {
            open.retain(|command| !answers(event, command));
        }
        let key = |command: &Command| format!("{command:?}");
        let (mut open, mut outstanding): (Vec<String>, Vec<String>) =
            (open.iter().map(key).collect(), execution.outstanding().map(|command| key(&command)).collect());
        open.sort();
        outstanding.sort();
        assert_eq!(outstanding, open, "after {entries} entries");
    }
}

fn starts(command: &Command, wanted: asl::TaskId) -> bool {
    matches!(command, Command::StartTask { task, .. } if *task == wanted)
}

fn answers(event: &Event, command: &Command) -> bool {
    match (event, command) {
        (Event::TaskSucceeded { task, .. } | Event::TaskFailed { task, .. }, command) => starts(command, *task),
        (Event::TimerFired { timer }, Command::StartTimer { timer: armed, .. }) => timer == armed,
        (Event::ItemsRead { read, .. }, Command::ReadItems { read: asked, .. }) => read == asked,
        (Event::ResultsWritten { write, .. }, Command::WriteResults { write: asked, .. }) => write == asked,
        _ => false,
    }
}

#[test]
fn the_machine_of_the_project_is_right() {
    let problems = asl::Machine::parse(include_str!("../../../../statemachines/run.asl.json")).err().unwrap_or_default();
    assert_eq!(problems, [], "each has line and column");
}

#[test]
fn machines_are_shared_between_threads_and_executions_move_between_them() {
    fn shared<T: Send + Sync>() {}
    shared::<asl::Machine>();
    shared::<Execution>();
    shared::<Command>();
    shared::<Event>();
}

#[test]
fn a_journal_survives_being_text() {
    let host = run();
    for entry in &host.journal {
        let text = serde_json::to_string(entry).unwrap();
        let read: (Timestamp, Event) = serde_json::from_str(&text).unwrap();
        assert_eq!(read, *entry, "{text}");
    }
}

/// An answer to a command, by chance: well, badly, twice, or to something that was never asked.
fn answer_by_chance(command: &Command, choice: u8) -> Event {
    let bad = choice.is_multiple_of(4);
    match command {
        Command::StartTask { task, submitted, .. } if submitted.is_none() && choice.is_multiple_of(3) => {
            Event::TaskSubmitted { task: *task, output: json("{}") }
        }
        Command::StartTask { task, .. } if bad => {
            Event::TaskFailed { task: *task, error: Some(Arc::from("Lambda.TooManyRequestsException")), cause: None }
        }
        Command::StartTask { task, .. } if choice.is_multiple_of(7) => Event::TaskHeartbeat { task: *task },
        Command::StartTask { task, .. } => {
            Event::TaskSucceeded { task: *task, output: json(r#"{"key": "k", "again": true, "seconds": 3}"#) }
        }
        Command::StartTimer { timer, .. } => Event::TimerFired { timer: *timer },
        Command::ReadItems { read, .. } if bad => Event::ItemsFailed { read: *read, error: None, cause: None },
        Command::ReadItems { read, from, .. } => {
            Event::ItemsRead { read: *read, items: vec![json("1"), json("2"), json("3")], more: *from < 6 }
        }
        Command::WriteResults { write, .. } if bad => Event::ResultsFailed { write: *write, error: None, cause: None },
        Command::WriteResults { write, .. } => Event::ResultsWritten { write: *write, output: json("{}") },
        Command::StopTask { task } => Event::TaskHeartbeat { task: *task },
        Command::CancelTimer { timer } => Event::TimerFired { timer: *timer },
        Command::Finished(_) => Event::Stop { error: None, cause: None },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_course_of_events_replays_to_the_same_state(course in prop::collection::vec((any::<u8>(), any::<u8>(), 0_i64..50), 0..120)) {
        let machine = Arc::new(asl::Machine::parse(RUN).unwrap());
        let now: Timestamp = "2024-01-31T12:00:00Z".parse().unwrap();
        let start = asl::Start::new("run:1", json(r#"{"run": "r", "concurrency": 2}"#), now, 3);
        let mut commands = Vec::new();
        let mut execution = Execution::start(Arc::clone(&machine), start.clone(), &mut commands);
        let (mut now, mut journal) = (now, Vec::new());
        for (which, choice, seconds) in course {
            now += jiff::SignedDuration::from_secs(seconds);
            // Mostly what is awaited, sometimes what was asked for long ago.
            let awaited: Vec<Command> = execution.outstanding().collect();
            let from = if which.is_multiple_of(8) || awaited.is_empty() { &commands } else { &awaited };
            let event = answer_by_chance(&from[usize::from(which) % from.len()], choice);
            let before = commands.len();
            match execution.apply(event.clone(), now, &mut commands) {
                asl::Applied::Applied => journal.push((now, event)),
                asl::Applied::Ignored(_) => prop_assert_eq!(commands.len(), before, "an ignored event asks for nothing"),
            }
        }
        let mut again = Vec::new();
        let mut replayed = Execution::start(machine, start, &mut again);
        for (at, event) in journal {
            replayed.apply(event, at, &mut again);
        }
        prop_assert_eq!(&again, &commands);
        prop_assert_eq!(replayed.status(), execution.status());
        prop_assert_eq!(replayed.outstanding().collect::<Vec<_>>(), execution.outstanding().collect::<Vec<_>>());
        if *execution.status() != asl::Status::Running {
            prop_assert_eq!(execution.outstanding().count(), 0, "an ended execution waits for nothing");
        } else {
            prop_assert!(execution.outstanding().count() > 0, "a running execution waits for something");
        }
    }
}
