//! `muster runs list`

use app::Fault;
use model::{Run, RunState, Selection, Span};
use ports::RunFilter;

use super::which;
use crate::{
    args::{ListRuns, State},
    context::Context,
    exit::Exit,
    failure::Failure,
    output::{Reply, data_of},
    table::{Cell, Table, column, painted, status},
    times::{absolute, ago, count, length},
    wire,
};

pub(super) async fn run(context: &Context, arguments: ListRuns) -> Result<Exit, Failure> {
    let console = wire::visit(context)?;
    let before = match &arguments.before {
        Some(id) => Some(which::run_of(console.app.find(&context.scope, id).await?)),
        None => None,
    };
    let states = arguments.states.into_iter().map(state).collect();
    let filter = RunFilter { states, unit: arguments.unit, before, limit: arguments.limit };
    let (runs, more) = console.app.runs(&context.scope, &filter).await.map_err(|fault: Fault| Failure::from(fault))?;
    context.screen.reply(&Reply::list(
        runs.iter().map(|run| run.id.to_string()).collect(),
        runs.iter().map(data_of).collect(),
        table(context, &runs),
    ));
    if runs.is_empty() && !context.screen.format().is_data() {
        context.screen.note(&format!("no such run is kept in {}", context.home.display()));
    }
    if let Some(last) = runs.last().filter(|_| more) {
        context.screen.note(&format!("there are more: {}", context.command(&format!("runs list --before {}", last.id))));
    }
    Ok(Exit::Ok)
}

fn state(state: State) -> RunState {
    match state {
        State::Created => RunState::Created,
        State::Started => RunState::Started,
        State::Succeeded => RunState::Succeeded,
        State::Failed => RunState::Failed,
        State::Cancelled => RunState::Cancelled,
    }
}

/// The word for people: `cancelling` between the request and the end.
pub(super) fn status_of(run: &Run) -> &'static str {
    if run.cancel.is_some() && !run.state.is_terminal() { "cancelling" } else { run.state.as_str() }
}

/// What was asked for, in a few words.
pub(super) fn selection(selection: &Selection) -> String {
    match selection {
        Selection::All => "all".to_owned(),
        Selection::Units { units } => units.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        Selection::Tags { tags } => tags.iter().map(|tag| format!("tag {tag}")).collect::<Vec<_>>().join(", "),
        Selection::Retry { run } => format!("retry of {run}"),
    }
}

fn table(context: &Context, runs: &[Run]) -> Table {
    let mut table = Table::new(&[
        column("run"),
        column("state"),
        column("verdict"),
        column("units").right(),
        column("succeeded").right().wide(),
        column("failed").right(),
        column("cancelled").right().wide(),
        column("time").right(),
        column("started"),
        column("at").wide(),
        column("asked for").long(),
    ]);
    let now = context.now();
    for run in runs {
        let totals = run.totals;
        let verdict = run.verdict.map_or_else(Cell::default, |verdict| painted(verdict.as_str(), verdict.into()));
        let end = run.ended_at.unwrap_or(now);
        let cap = run.options.limit.map_or_else(String::new, |limit| format!(" (limit {limit})"));
        table.rows.push(vec![
            run.id.into(),
            status(status_of(run)),
            verdict,
            count(run.items).into(),
            count(totals.succeeded).into(),
            count(totals.failed).into(),
            count(totals.cancelled).into(),
            length(Span::between(run.created_at, end)).into(),
            ago(run.created_at, now).into(),
            absolute(run.created_at, context.screen.zone()).into(),
            format!("{}{cap}", selection(&run.selection)).into(),
        ]);
    }
    table
}
