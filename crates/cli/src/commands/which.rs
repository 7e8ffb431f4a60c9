//! Which run or execution a command speaks of.

use app::{Fault, RunView};
use model::{ExecutionId, Kind, RunId, UnitName};
use ports::{Found, RunFilter};

use crate::{args::Which, context::Context, failure::Failure, wire::Console};

/// What the arguments name. Without an id: the newest run. A unit's name instead of an id: the newest run that holds it.
pub(super) async fn find(context: &Context, console: &Console, which: &Which) -> Result<Found, Failure> {
    let named = match &which.id {
        None => Found::Run(newest(context, console, None).await?.ok_or_else(|| no_run(context))?),
        Some(id) => match console.app.find(&context.scope, id).await {
            Ok(found) => found,
            Err(fault) if fault.kind == Kind::NotFound && which.unit.is_none() => {
                let unit: UnitName = id.parse().map_err(|_| looked(context, fault.clone()))?;
                let run = newest(context, console, Some(unit)).await?.ok_or_else(|| looked(context, fault))?;
                return Ok(Found::Execution(of_unit(context, console, run, id).await?));
            }
            Err(fault) => return Err(looked(context, fault)),
        },
    };
    match (&which.unit, named) {
        (None, named) => Ok(named),
        (Some(unit), Found::Run(run)) => Ok(Found::Execution(of_unit(context, console, run, unit).await?)),
        (Some(unit), Found::Execution(id)) => {
            let message = format!("{id} is one execution already, and `{unit}` would name another");
            Err(Failure::new(Kind::Invalid, "E-N04", message))
        }
    }
}

/// What an id and perhaps a unit name: nothing is guessed where something is going to be changed.
pub(super) async fn exactly(context: &Context, console: &Console, id: &str, unit: Option<&str>) -> Result<Found, Failure> {
    match (console.app.find(&context.scope, id).await.map_err(|fault| looked(context, fault))?, unit) {
        (Found::Run(run), Some(unit)) => Ok(Found::Execution(of_unit(context, console, run, unit).await?)),
        (found, _) => Ok(found),
    }
}

/// The run that something belongs to.
pub(super) fn run_of(found: Found) -> RunId {
    match found {
        Found::Run(run) => run,
        Found::Execution(execution) => execution.run,
    }
}

/// The run with the items that are meant.
pub(super) async fn view(context: &Context, console: &Console, found: Found) -> Result<RunView, Failure> {
    let mut view = console.app.run_view(&context.scope, run_of(found.clone())).await?;
    if let Found::Execution(id) = found {
        view.executions.retain(|execution| execution.id == id);
    }
    Ok(view)
}

async fn newest(context: &Context, console: &Console, unit: Option<UnitName>) -> Result<Option<RunId>, Failure> {
    let filter = RunFilter { limit: 1, unit, ..RunFilter::default() };
    let page =
        console.runs.runs(&context.scope, &filter).await.map_err(|error| Fault::store("look for the newest run", error))?;
    Ok(page.items.first().map(|stored| stored.value.id))
}

/// What was not found may well be there, in another home.
fn looked(context: &Context, fault: Fault) -> Failure {
    if fault.kind != Kind::NotFound || fault.hint.is_none() {
        return fault.into();
    }
    let list = context.command("runs list");
    fault.with_hint(format!("`{list}` shows what there is in {}.", context.home.display())).into()
}

fn no_run(context: &Context) -> Failure {
    let home = context.home.display();
    Fault::not_found(format!("run yet in {home}")).with_hint("`muster run --all` makes one; --fleet names another fleet.").into()
}

async fn of_unit(context: &Context, console: &Console, run: RunId, unit: &str) -> Result<ExecutionId, Failure> {
    let view = console.app.run_view(&context.scope, run).await?;
    let found = view.executions.iter().find(|execution| execution.unit.as_str() == unit);
    found.map(|execution| execution.id).ok_or_else(|| {
        let fault = Fault::not_found(format!("unit `{unit}` in {run}"));
        let near = |execution: &&model::Execution| strsim::jaro_winkler(unit, execution.unit.as_str()) >= 0.75;
        match view.executions.iter().find(near) {
            Some(execution) => fault.with_hint(format!("Did you mean `{}`?", execution.unit)),
            None => fault.with_hint(format!("`muster runs show {run}` shows what it holds.")),
        }
        .into()
    })
}
