//! `muster runs show`

use app::RunView;
use model::{Attempt, Ended, Execution, Kind, Outcome, Run, Span};
use ports::Found;
use serde_json::json;

use super::{
    dry_run::plain,
    runs_list::{selection, status_of},
    which,
};
use crate::{
    args::ShowRun,
    context::Context,
    evidence::{self, parts},
    exit::Exit,
    failure::Failure,
    output::{Block, Reply, data_of},
    result,
    table::{Cell, Table, column, painted, status},
    times::{absolute, between, both, count, length},
    wire::{self, Console},
};

pub(super) async fn run(context: &Context, arguments: ShowRun) -> Result<Exit, Failure> {
    let console = wire::visit(context)?;
    let found = which::find(context, &console, &arguments.which).await?;
    let view = which::view(context, &console, found.clone()).await?;
    match found {
        Found::Run(_) => context.screen.reply(&run_reply(context, &view)),
        Found::Execution(id) => {
            let execution = view
                .executions
                .first()
                .ok_or_else(|| Failure::new(Kind::NotFound, "E-N01", format!("there is no execution {id}")))?;
            context.screen.reply(&execution_reply(context, &console, execution).await);
        }
    }
    if !view.run.state.is_terminal() && wire::holder(context)?.is_none() {
        context.screen.note(&format!("no process carries {} on: nothing further of it starts", view.run.id));
        context.screen.next(&context.command(&format!("runs watch {}", view.run.id)));
    }
    Ok(Exit::Ok)
}

fn run_reply(context: &Context, view: &RunView) -> Reply {
    let text = || {
        vec![
            Block::Fields(run_fields(context, &view.run)),
            Block::Line(String::new()),
            Block::Table(result::items(context, &view.executions)),
        ]
    };
    result::either(context, view.run.id.to_string(), view, text)
}

fn run_fields(context: &Context, run: &Run) -> Vec<(&'static str, Cell)> {
    let now = context.now();
    let options = &run.options;
    let mut how: Vec<String> = Vec::new();
    how.extend(options.concurrency.map(|number| format!("{number} at once")));
    how.extend(options.limit.map(|limit| format!("limit {limit}")));
    how.extend(options.tier.as_ref().map(|tier| format!("tier {tier}")));
    how.extend((options.priority != 0).then(|| format!("priority {:+}", options.priority)));
    how.extend(options.parameters.iter().map(|(name, value)| format!("{name}={}", plain(value))));
    vec![
        ("run", run.id.into()),
        ("state", status(status_of(run))),
        ("verdict", run.verdict.map_or_else(Cell::default, |verdict| painted(verdict.as_str(), verdict.into()))),
        ("asked for", selection(&run.selection).into()),
        ("options", how.join(", ").into()),
        ("slot", absolute(options.slot, context.screen.zone()).into()),
        ("created", both(Some(run.created_at), now, &context.screen)),
        ("ended", both(run.ended_at, now, &context.screen)),
        ("took", between(Some(run.created_at), run.ended_at).into()),
        (
            "cancelled",
            run.cancel.as_ref().map_or_else(Cell::default, |cancel| {
                format!("asked for by {} at {}", cancel.by, absolute(cancel.at, context.screen.zone())).into()
            }),
        ),
        ("units", units(run).into()),
        ("message", run.message.clone().unwrap_or_default().into()),
    ]
}

fn units(run: &Run) -> String {
    let counts = result::counts(run);
    let colon = if counts.is_empty() { "" } else { ": " };
    format!("{}{colon}{counts}", count(run.items))
}

async fn execution_reply(context: &Context, console: &Console, execution: &Execution) -> Reply {
    let now = context.now();
    let mut outcomes = Vec::new();
    for attempt in &execution.attempts {
        outcomes.push(evidence::outcome(&console.app, execution, attempt.number).await);
    }
    let mut data = data_of(execution);
    data["status"] = json!(execution.status());
    data["parts"] = (1..=execution.attempts.len().max(1)).map(|number| data_of(&parts(execution, number, now))).collect();
    data["outcomes"] = data_of(&outcomes);
    let text = vec![
        Block::Fields(execution_fields(context, execution)),
        Block::Line(String::new()),
        Block::Table(attempts(context, execution, &outcomes)),
    ];
    Reply::one(execution.id.to_string(), data, text)
}

fn execution_fields(context: &Context, execution: &Execution) -> Vec<(&'static str, Cell)> {
    let now = context.now();
    let parameters: Vec<String> = execution.parameters.iter().map(|(name, value)| format!("{name}={}", plain(value))).collect();
    let permits: Vec<String> = execution.permits.iter().map(|(key, slot)| format!("{key} (slot {slot})")).collect();
    vec![
        ("execution", execution.id.into()),
        ("unit", format!("{} (revision {})", execution.unit, execution.revision).into()),
        ("tier", (&execution.tier).into()),
        ("state", status(execution.status())),
        ("verdict", execution.verdict.map_or_else(Cell::default, |verdict| painted(verdict.as_str(), verdict.into()))),
        ("rows", execution.rows.map(count).unwrap_or_default().into()),
        ("reason", result::reason(execution).into()),
        ("parameters", parameters.join(", ").into()),
        ("slot", absolute(execution.slot, context.screen.zone()).into()),
        ("created", both(Some(execution.created_at), now, &context.screen)),
        ("started", both(execution.started_at, now, &context.screen)),
        ("ended", both(execution.ended_at, now, &context.screen)),
        ("resumes", both(execution.resume_at, now, &context.screen)),
        ("holds", permits.join(", ").into()),
    ]
}

fn attempts(context: &Context, execution: &Execution, outcomes: &[Option<Outcome>]) -> Table {
    let mut table = Table::new(&[
        column("attempt").right(),
        column("waiting").right(),
        column("launching").right(),
        column("running").right(),
        column("publishing").right(),
        column("exit"),
        column("memory").right(),
        column("pid").right().wide(),
        column("granted").wide(),
        column("reason").long(),
    ]);
    let span = |span: Option<Span>| Cell::from(span.map(length).unwrap_or_default());
    for (attempt, outcome) in execution.attempts.iter().zip(outcomes) {
        let parts = parts(execution, attempt.number as usize, context.now());
        table.rows.push(vec![
            attempt.number.into(),
            span(parts.waiting),
            span(parts.launching),
            span(parts.running),
            span(parts.publishing),
            exit(attempt, outcome.as_ref()).into(),
            memory(outcome.as_ref()).into(),
            attempt.process.as_ref().map(|process| process.pid.to_string()).unwrap_or_default().into(),
            absolute(attempt.granted_at, context.screen.zone()).into(),
            words(attempt, outcome.as_ref()).into(),
        ]);
    }
    table
}

/// How the program ended: code 137 and killed by signal 9 are different facts.
fn exit(attempt: &Attempt, outcome: Option<&Outcome>) -> String {
    match outcome.map(|outcome| &outcome.ended) {
        Some(Ended::Exited { code }) => format!("code {code}"),
        Some(Ended::Killed { signal, core: false }) => format!("signal {signal}"),
        Some(Ended::Killed { signal, core: true }) => format!("signal {signal}, core left"),
        Some(Ended::NotStarted { .. }) => "not started".to_owned(),
        Some(Ended::Unseen) => "unseen".to_owned(),
        None if attempt.ended_at.is_none() => "running".to_owned(),
        None => String::new(),
    }
}

fn memory(outcome: Option<&Outcome>) -> String {
    let peak = outcome.and_then(|outcome| outcome.usage).map(|usage| usage.peak_rss);
    peak.map_or_else(String::new, |bytes| format!("{} MiB", count(bytes.div_ceil(1 << 20))))
}

/// The reason, and what the worker could not do.
fn words(attempt: &Attempt, outcome: Option<&Outcome>) -> String {
    let mut words: Vec<String> = attempt.message.iter().cloned().collect();
    if let Some(outcome) = outcome {
        words.extend(outcome.problems.iter().cloned());
        words.extend(
            outcome
                .strays
                .iter()
                .map(|stray| format!("process {} ({}) outlived the program: {}", stray.pid, stray.command, stray.fate)),
        );
    }
    words.join("; ")
}
