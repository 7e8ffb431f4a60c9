//! Measures how many state transitions the interpreter does in a second of CPU time, and prints a line per workload.
//!
//! `cargo run --release -p asl --example throughput`

#![expect(clippy::print_stdout, reason = "the figures are the output of this program")]

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use asl::{Command, Event, Execution, Machine, Start, Status, Value};
use jiff::Timestamp;

/// How long each workload is repeated, in seconds.
const SECONDS: f64 = 2.0;

fn main() {
    measure("pass chain of 10", 10, &chain(), Value::parse(r#"{"a": 1}"#).expect("JSON"));
    let items: Vec<Value> = (0..1_000_i64).map(Value::from).collect();
    measure("inline map of 1000 x 3", 3_001, &map(), Value::from(items));
    measure("choice loop to 1000", 2_003, &choice_loop(), Value::parse(r#"{"i": 0}"#).expect("JSON"));
    let input = Value::parse(r#"{"i": 0, "name": "n"}"#).expect("JSON");
    measure("JSONata chain of 10", 10, &jsonata_chain(), input.clone());
    measure("JSONata loop to 1000", 2_003, &jsonata_loop(), input);
    parked();
    read_and_written();
}

fn measure(name: &str, transitions: u32, definition: &str, input: Value) {
    let machine = Arc::new(Machine::parse(definition).unwrap_or_else(|problems| panic!("{name}: {problems:?}")));
    let (mut runs, began, used) = (0_u32, Instant::now(), cpu_seconds().unwrap_or(0.0));
    while began.elapsed().as_secs_f64() < SECONDS {
        let mut out = Vec::new();
        let start = Start::new("bench", input.clone(), Timestamp::UNIX_EPOCH, u64::from(runs));
        let execution = Execution::start(Arc::clone(&machine), start, &mut out);
        assert!(matches!(execution.status(), Status::Succeeded { .. }), "{name}: {:?}", execution.status());
        runs += 1;
    }
    let seconds = cpu_seconds().map_or_else(|| began.elapsed().as_secs_f64(), |now| now - used);
    let rate = f64::from(runs) * f64::from(transitions) / seconds;
    println!("{name:24} {runs:8} executions {rate:12.0} transitions per CPU second");
}

/// 10,000 items of a distributed Map, each parked in a task that waits for its token.
fn parked() {
    let definition = r#"{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemsPath": "$.items",
        "ItemSelector": {"run.$": "$.run", "item.$": "$$.Map.Item.Value", "turn": {"attempt": 1}},
        "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "T",
          "States": {"T": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
            "TimeoutSeconds": 3600, "End": true, "ResultPath": "$.turn.permit", "OutputPath": "$.turn.permit",
            "Parameters": {"FunctionName": "admit", "Payload": {"token.$": "$$.Task.Token", "item.$": "$.item"}}}}}}}}"#;
    let machine = Arc::new(Machine::parse(definition).unwrap_or_else(|problems| panic!("{problems:?}")));
    let items: Vec<Value> = (0..10_000_i64).map(|item| Value::from(format!("item-{item}"))).collect();
    let input = Value::from(asl::Map::from_iter([("run", Value::from("run-1")), ("items", Value::from(items))]));
    let before = resident_kb();
    let began = Instant::now();
    let mut out = Vec::new();
    let start = Start::new("bench", input, Timestamp::UNIX_EPOCH, 1);
    let mut execution = Execution::start(machine, start, &mut out);
    let tasks: Vec<asl::TaskId> = out
        .drain(..)
        .filter_map(|command| if let Command::StartTask { task, .. } = command { Some(task) } else { None })
        .collect();
    drop(out);
    let each = resident_kb().saturating_sub(before) as f64 * 1024.0 / tasks.len() as f64;
    let parked = began.elapsed();
    let mut out = Vec::new();
    for task in &tasks {
        execution.apply(Event::TaskSubmitted { task: *task, output: Value::Null }, Timestamp::UNIX_EPOCH, &mut out);
        out.clear();
    }
    for task in &tasks {
        execution.apply(Event::TaskSucceeded { task: *task, output: Value::Null }, Timestamp::UNIX_EPOCH, &mut out);
        if !matches!(out.last(), Some(Command::Finished(_))) {
            out.clear();
        }
    }
    assert!(matches!(execution.status(), Status::Succeeded { .. }), "{:?}", execution.status());
    println!(
        "{:24} {:8} tasks {:12.0} bytes each, parked in {:.0} ms, all done in {:.0} ms",
        "parked on tokens",
        tasks.len(),
        each,
        parked.as_secs_f64() * 1e3,
        began.elapsed().as_secs_f64() * 1e3
    );
}

/// 100,000 items that are read in parts, a hundred at a time, their results written in parts.
fn read_and_written() {
    const ITEMS: u64 = 100_000;
    let definition = r#"{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "MaxConcurrency": 100,
        "ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": {"InputType": "JSONL"}},
        "ResultWriter": {"Resource": "arn:aws:states:::s3:putObject"},
        "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "T",
          "States": {"T": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "TimeoutSeconds": 60, "End": true}}}}}}"#;
    let machine = Arc::new(Machine::parse(definition).unwrap_or_else(|problems| panic!("{problems:?}")));
    let (before, began) = (resident_kb(), Instant::now());
    let (mut commands, mut waiting) = (Vec::new(), VecDeque::new());
    let start = Start::new("bench", Value::empty_object(), Timestamp::UNIX_EPOCH, 1);
    let mut execution = Execution::start(machine, start, &mut commands);
    let (mut most, mut events) = (0, 0_u32);
    loop {
        waiting.extend(commands.drain(..));
        let Some(command) = waiting.pop_front() else { break };
        let event = match command {
            Command::StartTask { task, arguments, .. } => Event::TaskSucceeded { task, output: arguments },
            Command::ReadItems { read, from, at_most, .. } => {
                most = most.max(resident_kb());
                let items = (from..ITEMS.min(from + at_most)).map(|item| Value::from(format!("item-{item}"))).collect();
                Event::ItemsRead { read, items, more: from + at_most < ITEMS }
            }
            Command::WriteResults { write, .. } => Event::ResultsWritten { write, output: Value::Null },
            _ => continue,
        };
        events += 1;
        execution.apply(event, Timestamp::UNIX_EPOCH, &mut commands);
    }
    assert!(matches!(execution.status(), Status::Succeeded { .. }), "{:?}", execution.status());
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{:24} {ITEMS:8} items {:12.0} events/s, {} kB more at most",
        "read and written",
        f64::from(events) / seconds,
        most.saturating_sub(before)
    );
}

/// The CPU time of this process so far, where the system tells it (in hundredths of a second).
fn cpu_seconds() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = status.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<f64>().ok());
    Some(ticks.sum::<Option<f64>>()? / 100.0)
}

/// The memory of this process, where the system tells it.
fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok()).unwrap_or(0)
}

fn chain() -> String {
    let state = |at: u32| {
        let next = if at == 9 { r#""End": true"#.to_owned() } else { format!(r#""Next": "S{}""#, at + 1) };
        format!(r#""S{at}": {{"Type": "Pass", "Result": {{"n": {at}}}, "ResultPath": "$.last", {next}}}"#)
    };
    let states: Vec<String> = (0..10).map(state).collect();
    format!(r#"{{"StartAt": "S0", "States": {{{}}}}}"#, states.join(","))
}

fn map() -> String {
    r#"{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "A", "States": {
        "A": {"Type": "Pass", "Parameters": {"n.$": "$"}, "Next": "B"},
        "B": {"Type": "Pass", "Result": "x", "ResultPath": "$.b", "Next": "C"},
        "C": {"Type": "Pass", "OutputPath": "$.n", "End": true}}}}}}"#
        .to_owned()
}

fn choice_loop() -> String {
    r#"{"StartAt": "C", "States": {
        "C": {"Type": "Choice", "Choices": [{"Variable": "$.i", "NumericLessThan": 1000, "Next": "Add"}], "Default": "D"},
        "Add": {"Type": "Pass", "Parameters": {"i.$": "States.MathAdd($.i, 1)"}, "Next": "C"},
        "D": {"Type": "Succeed"}}}"#
        .to_owned()
}

fn jsonata_chain() -> String {
    let state = |at: u32| {
        let next = if at == 9 { r#""End": true"#.to_owned() } else { format!(r#""Next": "S{}""#, at + 1) };
        format!(r#""S{at}": {{"Type": "Pass", "Output": {{"name": "{{% $states.input.name %}}", "n": {at}}}, {next}}}"#)
    };
    let states: Vec<String> = (0..10).map(state).collect();
    format!(r#"{{"QueryLanguage": "JSONata", "StartAt": "S0", "States": {{{}}}}}"#, states.join(","))
}

fn jsonata_loop() -> String {
    r#"{"QueryLanguage": "JSONata", "StartAt": "C", "States": {
        "C": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input.i < 1000 %}", "Next": "Add"}], "Default": "D"},
        "Add": {"Type": "Pass", "Output": {"i": "{% $states.input.i + 1 %}"}, "Next": "C"},
        "D": {"Type": "Succeed"}}}"#
        .to_owned()
}
