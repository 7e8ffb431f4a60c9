//! Tasks: results, retries, catchers, limits, tokens, and answers that come too late.

use std::sync::Arc;

use crate::host::{Answer, Host, json, no_tasks};
use asl::{Applied, Event, Failure, Stale, Status, Target, Value};

fn task(fields: &str) -> String {
    format!(
        r#"{{"StartAt": "T", "States": {{
            "T": {{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", {fields} "Next": "Done"}},
            "Done": {{"Type": "Succeed"}}}}}}"#
    )
}

/// A task whose failure goes to a state that shows it.
fn caught(fields: &str) -> String {
    format!(
        r#"{{"StartAt": "T", "States": {{
            "T": {{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", {fields}
                "Catch": [{{"ErrorEquals": ["States.ALL"], "Next": "Caught"}}], "End": true}},
            "Caught": {{"Type": "Succeed"}}}}}}"#
    )
}

#[test]
fn the_host_gets_the_arguments_and_the_state_makes_its_output_of_the_result() {
    let definition = task(
        r#""Parameters": {"FunctionName": "f", "Payload.$": "$.p"},
           "ResultSelector": {"got.$": "$.Payload.x"}, "ResultPath": "$.r","#,
    );
    let host = Host::run(&definition, r#"{"p": {"k": 1}}"#, |_| Answer::Succeed(json(r#"{"Payload": {"x": 5}, "y": 0}"#)));
    assert_eq!(host.calls[0].arguments, json(r#"{"FunctionName": "f", "Payload": {"k": 1}}"#));
    let service = Target::Integration { service: Arc::from("lambda"), action: Arc::from("invoke") };
    assert_eq!(host.calls[0].resource.target, service);
    assert_eq!(host.output(), json(r#"{"p": {"k": 1}, "r": {"got": 5}}"#));
}

#[test]
fn a_retrier_waits_longer_each_time_and_then_gives_up() {
    let definition = task(
        r#""Retry": [{"ErrorEquals": ["Other"], "MaxAttempts": 0},
                     {"ErrorEquals": ["Busy"], "IntervalSeconds": 2, "BackoffRate": 3, "MaxAttempts": 3, "MaxDelaySeconds": 10}],"#,
    );
    let host = Host::run(&definition, "{}", |_| Answer::Fail("Busy", "later"));
    assert_eq!(host.failure(), ("Busy".into(), "later".into()));
    let at: Vec<f64> = host.calls.iter().map(|call| call.at.duration_since(host.start.now).as_secs_f64()).collect();
    assert_eq!(at, [0.0, 2.0, 8.0, 18.0]);
    assert_eq!(host.calls.iter().map(|call| call.attempt).collect::<Vec<_>>(), [0, 1, 2, 3]);
    let host = Host::run(&definition, "{}", |_| Answer::Fail("Other", ""));
    assert_eq!(host.calls.len(), 1, "no attempts means none");
}

#[test]
fn jitter_shortens_the_pause_and_is_the_same_for_the_same_seed() {
    let definition = task(
        r#""Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 100, "MaxAttempts": 5, "BackoffRate": 1, "JitterStrategy": "FULL"}],"#,
    );
    let elapsed = || Host::run(&definition, "{}", |_| Answer::Fail("E", "")).elapsed();
    let first = elapsed();
    assert!(first > 1.0 && first < 500.0, "{first}");
    assert_eq!(first.to_bits(), elapsed().to_bits());
}

#[test]
fn counts_of_retries_begin_anew_when_a_state_is_entered_again() {
    let definition = r#"{"StartAt": "T", "States": {
        "T": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Next": "Again",
            "Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 1}],
            "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Again"}]},
        "Again": {"Type": "Choice", "Choices": [{"Variable": "$.twice", "IsPresent": true, "Next": "End"}], "Default": "Mark"},
        "Mark": {"Type": "Pass", "Result": true, "ResultPath": "$.twice", "Next": "T"},
        "End": {"Type": "Succeed"}}}"#;
    let host = Host::run(definition, "{}", |_| Answer::Fail("E", "c"));
    assert_eq!(host.calls.iter().map(|call| call.attempt).collect::<Vec<_>>(), [0, 1, 0, 1]);
    assert_eq!(host.output(), json(r#"{"error": {"Error": "E", "Cause": "c"}, "twice": true}"#));
}

#[test]
fn a_task_that_takes_too_long_is_stopped() {
    let host = Host::run(&caught(r#""TimeoutSeconds": 30,"#), "{}", |_| Answer::Park);
    assert_eq!(host.output(), json(r#"{"Error": "States.Timeout", "Cause": null}"#));
    assert_eq!(host.stopped, [host.calls[0].task]);
    assert_eq!(host.elapsed(), 30.0);
    let host = Host::run(&caught(r#""TimeoutSecondsPath": "$.t","#), r#"{"t": 4}"#, |_| Answer::Park);
    assert_eq!(host.elapsed(), 4.0);
}

#[test]
fn heartbeats_keep_a_task_alive_until_they_stop() {
    let mut host = Host::new(&caught(r#""TimeoutSeconds": 100, "HeartbeatSeconds": 10,"#), "{}", |_| Answer::Park);
    host.carry_out();
    for _ in 0..3 {
        host.pass_time(9);
        let task = host.calls[0].task;
        assert_eq!(host.tell(Event::TaskHeartbeat { task }), Applied::Applied);
        host.carry_out();
    }
    host.settle();
    assert_eq!(host.output(), json(r#"{"Error": "States.Timeout", "Cause": null}"#));
    assert_eq!(host.elapsed(), 37.0);
}

#[test]
fn a_token_waits_for_whoever_has_it() {
    let definition = r#"{"StartAt": "T", "States": {"T": {"Type": "Task", "End": true,
        "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
        "Parameters": {"Payload": {"token.$": "$$.Task.Token"}}}}}"#;
    let mut host = Host::new(definition, "{}", |_| Answer::Park);
    host.carry_out();
    let call = host.calls[0].clone();
    let token = call.token.clone().unwrap();
    assert_eq!(call.arguments.get("Payload").and_then(|payload| payload.get("token")), Some(&Value::String(Arc::clone(&token))));
    assert_eq!(host.execution.task_of_token(&token), Some(call.task));
    assert_eq!(host.execution.task_of_token(&token.replace(".1.", ".2.")), None, "a guess");
    host.tell(Event::TaskSubmitted { task: call.task, output: json("{}") });
    assert_eq!(*host.execution.status(), Status::Running);
    host.tell(Event::TaskSucceeded { task: call.task, output: json("7") });
    assert_eq!(host.output(), json("7"));
    assert_eq!(host.execution.task_of_token(&token), None);
}

#[test]
fn answers_that_come_too_late_or_twice_change_nothing() {
    let mut host = Host::new(&task(r#""TimeoutSeconds": 5, "Retry": [{"ErrorEquals": ["E"]}],"#), "{}", |_| Answer::Park);
    host.carry_out();
    let task = host.calls[0].task;
    let failed = Event::TaskFailed { task, error: Some(Arc::from("E")), cause: None };
    assert_eq!(host.tell(failed.clone()), Applied::Applied);
    let commands = host.commands.len();
    let stale = Applied::Ignored(Stale::NotAwaited);
    assert_eq!(host.tell(failed), stale);
    assert_eq!(host.tell(Event::TaskSucceeded { task, output: Value::Null }), stale);
    assert_eq!(host.tell(Event::TaskHeartbeat { task }), stale);
    assert_eq!(host.tell(Event::TimerFired { timer: asl::TimerId(999) }), stale);
    assert_eq!(host.commands.len(), commands);
    host.tell(Event::Stop { error: None, cause: Some(Arc::from("enough")) });
    assert_eq!(*host.execution.status(), Status::Aborted(Failure { error: None, cause: Some(Arc::from("enough")) }));
    let late = host.tell(Event::TaskSucceeded { task, output: Value::Null });
    assert_eq!(late, Applied::Ignored(Stale::ExecutionEnded));
    assert_eq!(host.execution.outstanding().count(), 0);
}

#[test]
fn nothing_catches_a_runtime_error() {
    let definition = caught(r#""OutputPath": "$.no","#);
    let host = Host::run(&definition, "{}", |_| Answer::Succeed(json("{}")));
    assert_eq!(host.failure().0, "States.Runtime");
}

#[test]
fn a_result_that_is_too_large_is_caught_like_any_error() {
    let host = Host::run(&caught(""), "{}", |_| Answer::Succeed(Value::from("x".repeat(300_000))));
    let error = host.output().get("Error").cloned();
    assert_eq!(error, Some(Value::from("States.DataLimitExceeded")));
}

#[test]
fn a_machine_that_runs_too_long_times_out_with_all_that_it_waits_for() {
    let definition = r#"{"TimeoutSeconds": 20, "StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 60, "End": true}}}"#;
    let host = Host::run(definition, "{}", no_tasks);
    assert_eq!(*host.execution.status(), Status::TimedOut);
    assert_eq!(host.elapsed(), 20.0);
    assert_eq!(host.execution.outstanding().count(), 0);
}
