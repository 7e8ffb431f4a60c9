//! Maps: order, concurrency, failures that are tolerated, items that are read and results that are written.

use std::collections::HashMap;

use crate::host::{Answer, Called, Host, json, no_tasks};
use asl::{Command, Event, Value};

const DISTRIBUTED: &str = r#""ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},"#;

/// A Map whose processor is one task.
fn map(fields: &str, mode: &str) -> String {
    format!(
        r#"{{"StartAt": "M", "States": {{"M": {{"Type": "Map", {fields} "End": true, "ItemProcessor": {{ {mode}
            "StartAt": "T", "States": {{"T": {{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "End": true}}}}}}}}}}}}"#
    )
}

fn echo(called: &Called) -> Answer {
    Answer::Succeed(called.arguments.clone())
}

/// Fails for the items that are below a number.
fn fail_below(limit: i64) -> impl FnMut(&Called) -> Answer {
    move |called| match called.arguments.as_i64() {
        Some(item) if item >= limit => Answer::Succeed(called.arguments.clone()),
        _ => Answer::Fail("Low", "too low"),
    }
}

#[test]
fn results_come_in_the_order_of_the_items() {
    let definition = r#"{"StartAt": "M", "States": {"M": {"Type": "Map", "ItemsPath": "$.list", "ResultPath": "$.out", "End": true,
        "ItemSelector": {"wait.$": "$$.Map.Item.Value", "at.$": "$$.Map.Item.Index", "all.$": "$.k"},
        "ItemProcessor": {"StartAt": "W", "States": {"W": {"Type": "Wait", "SecondsPath": "$.wait", "End": true}}}}}}"#;
    let host = Host::run(definition, r#"{"list": [3, 1, 2], "k": "v"}"#, no_tasks);
    let item = |wait: i64, at: i64| format!(r#"{{"wait": {wait}, "at": {at}, "all": "v"}}"#);
    let out = format!(r#"{{"list": [3, 1, 2], "k": "v", "out": [{}, {}, {}]}}"#, item(3, 0), item(1, 1), item(2, 2));
    assert_eq!(host.output(), json(&out));
    assert_eq!(host.elapsed(), 3.0);
}

#[test]
fn no_more_run_at_once_than_are_allowed() {
    let mut host = Host::new(
        &map(r#""MaxConcurrencyPath": "$.most", "ItemsPath": "$.items","#, ""),
        r#"{"most": 2, "items": [10, 11, 12, 13]}"#,
        |_| Answer::Park,
    );
    host.carry_out();
    let mut done = 0;
    while done < host.calls.len() {
        assert!(host.calls.len() - done <= 2);
        let call = host.calls[done].clone();
        host.tell(Event::TaskSucceeded { task: call.task, output: call.arguments });
        host.carry_out();
        done += 1;
    }
    assert_eq!(host.output(), json("[10, 11, 12, 13]"));
}

#[test]
fn a_failing_item_fails_an_inline_map_and_stops_its_siblings() {
    let mut host = Host::new(&map("", ""), "[1, 2, 3]", |_| Answer::Park);
    host.carry_out();
    let task = host.calls[1].task;
    host.tell(Event::TaskFailed { task, error: Some("E".into()), cause: Some("c".into()) });
    host.carry_out();
    assert_eq!(host.failure(), ("E".into(), "c".into()));
    assert_eq!(host.stopped.len(), 2);
}

#[test]
fn a_distributed_map_tolerates_what_it_says() {
    let run = |fields: &str| Host::run(&map(fields, DISTRIBUTED), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]", fail_below(2));
    assert_eq!(run(r#""ToleratedFailureCount": 2,"#).output(), json("[2, 3, 4, 5, 6, 7, 8, 9]"));
    assert_eq!(run(r#""ToleratedFailurePercentage": 20,"#).output(), json("[2, 3, 4, 5, 6, 7, 8, 9]"));
    for strict in ["", r#""ToleratedFailureCount": 1,"#, r#""ToleratedFailurePercentage": 19.9,"#] {
        let (error, cause) = run(strict).failure();
        assert_eq!(error, "States.ExceedToleratedFailureThreshold", "{strict}");
        assert_eq!(cause, "The specified tolerated failure threshold was exceeded");
    }
}

#[test]
fn items_are_read_in_parts_and_results_written_in_parts() {
    let fields = r#""ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": {"InputType": "JSONL"},
            "Parameters": {"Bucket.$": "$.bucket", "Key": "items"}},
        "MaxConcurrency": 100, "ToleratedFailurePercentage": 50,
        "ResultWriter": {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket.$": "$.bucket"}},
        "ResultSelector": {"run.$": "$.MapRunArn"},"#;
    let mut host = Host::new(&map(fields, DISTRIBUTED), r#"{"bucket": "b"}"#, fail_below(10));
    host.items = (0..2_500_i64).map(Value::from).collect();
    host.settle();
    assert_eq!(host.output(), json(r#"{"run": "map-run"}"#));
    assert_eq!(host.reads, 3);
    assert_eq!(host.written.len(), 2_500);
    let mut by_index: HashMap<u64, bool> = HashMap::new();
    for result in &host.written {
        assert_eq!(result.input, Value::from(result.index));
        by_index.insert(result.index, result.outcome.is_ok());
    }
    assert_eq!(by_index.len(), 2_500);
    assert_eq!(by_index.values().filter(|ok| !**ok).count(), 10);
    let parts = host.commands.iter().filter(|command| matches!(command, Command::WriteResults { .. })).count();
    assert_eq!(parts, 3, "two full ones and the rest");
}

#[test]
fn a_read_in_flight_never_holds_more_than_was_asked_for() {
    let fields = r#""ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": {"InputType": "JSON", "MaxItems": 1200}},
        "MaxConcurrency": 10,"#;
    let mut host = Host::new(&map(fields, DISTRIBUTED), "{}", echo);
    host.items = (0..5_000_i64).map(Value::from).collect();
    host.settle();
    assert_eq!(host.output().as_array().map(<[Value]>::len), Some(1_200));
    let asked: Vec<(u64, u64)> = host
        .commands
        .iter()
        .filter_map(|command| match command {
            Command::ReadItems { from, at_most, .. } => Some((*from, *at_most)),
            _ => None,
        })
        .collect();
    assert_eq!(asked, [(0, 1_000), (1_000, 200)]);
}

#[test]
fn an_error_of_the_reader_or_the_writer_is_an_error_of_the_map() {
    let fields = r#""ItemReader": {"Resource": "arn:aws:states:::s3:getObject"}, "#;
    let mut host = Host::new(&map(fields, DISTRIBUTED), "{}", echo);
    let Some(Command::ReadItems { read, .. }) = host.commands.pop() else { panic!() };
    host.tell(Event::ItemsFailed { read, error: None, cause: Some("no such key".into()) });
    assert_eq!(host.failure(), ("States.ItemReaderFailed".into(), "no such key".into()));

    let fields = r#""ResultWriter": {"Resource": "arn:aws:states:::s3:putObject"}, "#;
    let mut host = Host::new(&map(fields, DISTRIBUTED), "[]", echo);
    let Some(Command::WriteResults { write, last, .. }) = host.commands.pop() else { panic!() };
    assert!(last);
    host.tell(Event::ResultsFailed { write, error: None, cause: Some("denied".into()) });
    assert_eq!(host.failure(), ("States.ResultWriterFailed".into(), "denied".into()));
}

#[test]
fn a_map_over_its_threshold_writes_what_it_has_before_it_fails() {
    let fields = r#""ResultWriter": {"Resource": "arn:aws:states:::s3:putObject"}, "#;
    let host = Host::run(&map(fields, DISTRIBUTED), "[5, 1, 6]", fail_below(2));
    assert_eq!(host.failure().0, "States.ExceedToleratedFailureThreshold");
    assert_eq!(host.written.len(), 2);
}

#[test]
fn batches_carry_items_and_what_all_share() {
    let fields = r#""ItemBatcher": {"MaxItemsPerBatch": 2, "BatchInput": {"k.$": "$.k"}}, "ItemsPath": "$.items",
        "ItemSelector": {"v.$": "$$.Map.Item.Value"},"#;
    let host = Host::run(&map(fields, DISTRIBUTED), r#"{"k": 9, "items": [1, 2, 3]}"#, echo);
    let expected = r#"[{"BatchInput": {"k": 9}, "Items": [{"v": 1}, {"v": 2}]}, {"BatchInput": {"k": 9}, "Items": [{"v": 3}]}]"#;
    assert_eq!(host.output(), json(expected));
}

#[test]
fn a_writer_without_a_place_only_says_how_the_output_looks() {
    let run = |transformation: &str| {
        let fields =
            format!(r#""ResultWriter": {{"WriterConfig": {{"Transformation": "{transformation}", "OutputType": "JSON"}}}},"#);
        Host::run(&map(&fields, DISTRIBUTED), "[[1, 2], 3, [[4]]]", echo).output()
    };
    assert_eq!(run("FLATTEN"), json("[1, 2, 3, [4]]"));
    assert_eq!(run("COMPACT"), json("[[1, 2], 3, [[4]]]"));
}

#[test]
fn a_map_over_nothing_gives_an_empty_list_and_over_no_list_fails() {
    assert_eq!(Host::run(&map("", ""), "[]", echo).output(), json("[]"));
    let (error, cause) = Host::run(&map("", ""), r#"{"a": 1}"#, echo).failure();
    assert_eq!((error.as_str(), cause.as_str()), ("States.Runtime", "Reference path \"$\" must point to array."));
}

#[test]
fn a_map_that_is_tried_again_begins_anew() {
    let mut tries = 0;
    let fields = r#""Retry": [{"ErrorEquals": ["Flaky"], "IntervalSeconds": 1, "MaxAttempts": 2}],"#;
    let host = Host::run(&map(fields, ""), "[1, 2]", move |called| {
        tries += 1;
        if tries == 2 { Answer::Fail("Flaky", "") } else { echo(called) }
    });
    assert_eq!(host.output(), json("[1, 2]"));
    assert_eq!(host.calls.len(), 4);
}
