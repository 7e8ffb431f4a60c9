//! How a run stands: the table of its items, its totals, and what to do next.

use app::RunView;
use model::{Attempt, Execution, ExecutionState, Reason, Run, RunState, Span, Verdict};
use serde::Serialize;
use serde_json::Value;

use crate::{
    args::FailOn,
    context::Context,
    evidence,
    exit::Exit,
    output::{Block, Data, Format, Reply, data_of},
    table::{Cell, Table, column, painted, status},
    times::{count, counted, length},
};

/// The table of items.
pub(crate) fn items(context: &Context, executions: &[Execution]) -> Table {
    let mut table = Table::new(&[
        column("unit"),
        column("tier"),
        column("state"),
        column("verdict"),
        column("attempts").right(),
        column("time").right(),
        column("rows").right(),
        column("waiting").right().wide(),
        column("launching").right().wide(),
        column("running").right().wide(),
        column("publishing").right().wide(),
        column("execution").wide(),
        column("reason").long(),
    ]);
    let now = context.now();
    for execution in executions {
        let parts = evidence::parts(execution, execution.attempts.len().max(1), now);
        let span = |span: Option<Span>| Cell::from(span.map(length).unwrap_or_default());
        let verdict = execution.verdict.map_or_else(Cell::default, |verdict| painted(verdict.as_str(), verdict.into()));
        table.rows.push(vec![
            (&execution.unit).into(),
            (&execution.tier).into(),
            status(execution.status()),
            verdict,
            execution.attempts.len().into(),
            span(evidence::time(execution, now)),
            execution.rows.map(count).unwrap_or_default().into(),
            span(parts.waiting),
            span(parts.launching),
            span(parts.running),
            span(parts.publishing),
            execution.id.into(),
            reason(execution).into(),
        ]);
    }
    table
}

/// Why it did not succeed or is suspicious; the last attempt's word while it goes on.
pub(crate) fn reason(execution: &Execution) -> String {
    let last = || execution.attempt().and_then(|attempt| attempt.message.clone());
    let goes_on = |text: String| format!("before: {text}");
    match &execution.message {
        Some(message) => message.clone(),
        None if execution.state.is_terminal() => String::new(),
        None => last().map(goes_on).unwrap_or_default(),
    }
}

/// The answer of the commands that end with a run.
pub(crate) fn reply(context: &Context, view: &RunView) -> Reply {
    either(context, view.run.id.to_string(), view, || vec![Block::Table(items(context, &view.executions))])
}

/// Data or text, whichever is asked for: of a run of ten thousand items each is tens of megabytes.
pub(crate) fn either(context: &Context, id: String, record: &impl Serialize, text: impl FnOnce() -> Vec<Block>) -> Reply {
    let json = "every record is JSON: its maps have text keys";
    let (data, text) = match context.screen.format() {
        _ if context.screen.is_quiet() => (Data::One(Value::Null), Vec::new()),
        Format::Table | Format::Wide => (Data::One(Value::Null), text()),
        Format::Json => (Data::Written(serde_json::to_string_pretty(record).expect(json)), Vec::new()),
        Format::Jsonl => (Data::Written(serde_json::to_string(record).expect(json)), Vec::new()),
        Format::Yaml => (Data::One(data_of(record)), Vec::new()),
    };
    Reply { ids: vec![id], data, text }
}

/// Totals, and the next useful command, on stderr.
pub(crate) fn conclude(context: &Context, view: &RunView) {
    context.screen.note(&totals(&view.run));
    if let Some(message) = &view.run.message {
        context.screen.note(message);
    }
    if let Some(command) = next(view) {
        context.screen.next(&context.command(&command));
    }
}

/// One sentence about a run that has ended.
fn totals(run: &Run) -> String {
    let took = run.ended_at.map(|end| format!(" in {}", length(Span::between(run.created_at, end)))).unwrap_or_default();
    let counts = counts(run);
    let counts = if counts.is_empty() { counts } else { format!(": {counts}") };
    format!("{} {}, {}{took}{counts}", run.id, run.state.as_str(), counted(run.items, "unit"))
}

/// How many items ended how.
pub(crate) fn counts(run: &Run) -> String {
    let all = run.totals;
    let mut parts = Vec::new();
    for (number, word) in [(all.succeeded, "succeeded"), (all.failed, "failed"), (all.cancelled, "cancelled")] {
        if number > 0 {
            parts.push(format!("{} {word}", count(number)));
        }
    }
    for (number, word) in [(all.warned, "warn"), (all.bad, "fail")] {
        if number > 0 {
            parts.push(format!("{} with verdict {word}", count(number)));
        }
    }
    parts.join(", ")
}

/// The most useful thing to look at after a run.
fn next(view: &RunView) -> Option<String> {
    let run = view.run.id;
    let first = |wanted: fn(&&Execution) -> bool| view.executions.iter().find(wanted);
    // What failed by itself tells more than what was never started because of it.
    let failed = first(|one| one.state == ExecutionState::Failed && !one.attempts.is_empty());
    if let Some(failed) = failed {
        let started = |attempt: &Attempt| attempt.reason.as_ref() != Some(&Reason::StartFailed);
        // What never started left no log.
        let look = if failed.attempts.iter().any(started) { "logs" } else { "show" };
        return Some(format!("runs {look} {run} {}", failed.unit));
    }
    let suspicious = view.executions.iter().filter(|one| one.verdict > Some(Verdict::Pass));
    // The worst; of equals the first.
    if let Some(suspicious) = suspicious.rev().max_by_key(|one| one.verdict) {
        return Some(format!("signals {run} {}", suspicious.unit));
    }
    match view.run.state {
        RunState::Succeeded if view.executions.iter().any(|one| one.output.is_some()) => Some(format!("artifacts {run}")),
        RunState::Succeeded => Some(format!("runs logs {run}")),
        RunState::Failed | RunState::Cancelled => Some(format!("runs retry {run} --failed")),
        RunState::Created | RunState::Started => None,
    }
}

/// What a command exits with that followed a run to its end.
pub(crate) fn exit(run: &Run, fail_on: Option<FailOn>) -> Exit {
    let limit = match fail_on {
        Some(FailOn::Warn) => Verdict::Warn,
        Some(FailOn::Fail) => Verdict::Fail,
        None => return exit_of_state(run.state),
    };
    match run.state {
        RunState::Succeeded if run.verdict >= Some(limit) => Exit::BadOutput,
        state => exit_of_state(state),
    }
}

fn exit_of_state(state: RunState) -> Exit {
    match state {
        RunState::Created | RunState::Started | RunState::Succeeded => Exit::Ok,
        RunState::Failed => Exit::RunFailed,
        RunState::Cancelled => Exit::TimedOutOrCancelled,
    }
}

/// What a command exits with that followed one execution to its end.
pub(crate) fn exit_of_execution(state: ExecutionState) -> Exit {
    match state {
        ExecutionState::Created | ExecutionState::Started | ExecutionState::Succeeded => Exit::Ok,
        ExecutionState::Failed => Exit::RunFailed,
        ExecutionState::Cancelled => Exit::TimedOutOrCancelled,
    }
}
