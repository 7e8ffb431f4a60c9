//! `muster run`

use std::collections::{BTreeMap, HashSet};

use app::{Fault, How, Plan, RunRequest, Started};
use manifest::Fleet;
use model::{Definition, Kind, Run as Record, RunId, RunOptions, RunState, Selection, UnitName};
use ports::RunFilter;
use serde_json::Value;

use super::dry_run;
use crate::{
    args::{Follow, Run},
    context::Context,
    exit::Exit,
    failure::Failure,
    fleet,
    follow::{self, End},
    interrupt::Interrupt,
    paint::Paint,
    result,
    times::{clock, count, counted},
    wire::{self, Console},
};

/// The most units that are named in a line.
const MOST_NAMED: usize = 5;

/// The most unfinished runs whose standing is told.
const MOST_TOLD: usize = 100;

pub(super) async fn run(context: &Context, arguments: Run) -> Result<Exit, Failure> {
    let fleet = fleet::load(context)?;
    let (request, follow) = request(context, arguments)?;
    let Some(follow) = follow else {
        return dry_run::run(context, fleet, &request).await;
    };
    // A request that cannot be carried out takes nothing up and writes nothing.
    let plan = wire::preview(context, fleet.clone())?.app.plan(&context.scope, &request).await?;
    if request.selection == Selection::All {
        tell_left_out(context, &fleet, &plan);
    }
    drop(plan);
    let mut interrupt = Interrupt::listen()?;
    let console = wire::own(context).await?;
    let changed = console.app.apply(&context.scope, &fleet).await?;
    drop(fleet);
    if let Some(changes) = fleet::changes(&changed) {
        context.screen.note(&changes);
    }
    start(context, &console, request, &follow, &mut interrupt).await
}

/// `--all` is every enabled unit: which are not.
fn tell_left_out(context: &Context, fleet: &Fleet, plan: &Plan) {
    let planned: HashSet<&UnitName> = plan.items.iter().map(|item| &item.item.unit).collect();
    let units = fleet.definitions.iter().filter_map(|definition| match definition {
        Definition::Job(unit) => Some(&unit.name),
        Definition::Tier(_) | Definition::Limit(_) => None,
    });
    let left_out: Vec<&str> = units.filter(|unit| !planned.contains(unit)).map(UnitName::as_str).collect();
    let named = match left_out.as_slice() {
        [] => return,
        few if few.len() <= MOST_NAMED => few.join(", "),
        many => format!("{}, …", many[..MOST_NAMED].join(", ")),
    };
    context.screen.note(&format!("left out as disabled: {} ({named})", counted(left_out.len() as u64, "unit")));
}

/// The request, and how to follow it; nothing to follow in a dry run.
fn request(context: &Context, arguments: Run) -> Result<(RunRequest, Option<Follow>), Failure> {
    let selection = if arguments.what.all {
        Selection::All
    } else if arguments.what.tags.is_empty() {
        Selection::Units { units: arguments.what.units }
    } else {
        Selection::Tags { tags: arguments.what.tags }
    };
    let mut parameters = BTreeMap::new();
    for (name, value) in arguments.parameters {
        if parameters.insert(name.clone(), Value::from(value)).is_some() {
            return Err(Failure::new(Kind::Invalid, "E-U04", format!("parameter `{name}` is set twice")));
        }
    }
    let options = RunOptions {
        concurrency: arguments.how.concurrency,
        priority: arguments.how.priority.unwrap_or_default(),
        parameters,
        arguments: arguments.arguments,
        limit: arguments.limit,
        tier: arguments.tier,
        slot: arguments.slot.unwrap_or_else(|| context.now()),
    };
    let idempotency_key = arguments.idempotency_key;
    let request = RunRequest { selection, options, idempotency_key, take_up: !arguments.new };
    Ok((request, (!arguments.dry_run).then_some(arguments.how.follow)))
}

/// Takes up what was left, starts the run, and follows it to its end.
pub(super) async fn start(
    context: &Context,
    console: &Console,
    request: RunRequest,
    follow: &Follow,
    interrupt: &mut Interrupt,
) -> Result<Exit, Failure> {
    let deadline = follow::deadline(follow.timeout);
    let events = console.app.subscribe();
    let unfinished = RunFilter { states: vec![RunState::Created, RunState::Started], limit: MOST_TOLD, ..RunFilter::default() };
    let (left, _) = console.app.runs(&context.scope, &unfinished).await?;
    let recovered = console.app.recover(&context.scope).await?;
    let started = console.app.start(&context.scope, request).await?;
    tell_start(context, &started, left);
    let run = started.run.id;
    let end = follow::here(context, console, run, events, interrupt, deadline).await?;
    let others: Vec<RunId> = recovered.runs.into_iter().filter(|other| *other != run).collect();
    conclude(context, console, run, end, follow, &others).await
}

/// `left` are the unfinished runs as they were before anything was taken up.
fn tell_start(context: &Context, started: &Started, left: Vec<Record>) {
    let run = &started.run;
    match started.how {
        How::New => context.screen.note(&format!("{} {}", context.screen.paint(Paint::Faint, "run:"), run.id)),
        How::SameKey => context.screen.note(&format!("the idempotency key made {} before: this is that run", run.id)),
        How::TakenUp => {
            let then = left.into_iter().find(|then| then.id == run.id).unwrap_or_else(|| run.clone());
            let ended = then.totals.succeeded + then.totals.failed + then.totals.cancelled;
            context.screen.note(&format!(
                "taking up {}, asked for at {} and interrupted with {} of {} ended; --new starts another",
                run.id,
                clock(run.created_at, context.screen.zone()),
                count(ended),
                counted(then.items, "unit"),
            ));
        }
    }
}

/// Says how the run stands once this command stops following it.
pub(super) async fn conclude(
    context: &Context,
    console: &Console,
    run: RunId,
    end: End,
    follow: &Follow,
    others: &[RunId],
) -> Result<Exit, Failure> {
    let exit = match end {
        End::Ended => {
            let view = console.app.run_view(&context.scope, run).await?;
            context.screen.reply(&result::reply(context, &view));
            result::conclude(context, &view);
            result::exit(&view.run, follow.fail_on_quality)
        }
        End::Interrupted => {
            tell_left(context, console, run, "interrupted").await?;
            Exit::Interrupted
        }
        End::TimedOut => {
            tell_left(context, console, run, "timed out").await?;
            Exit::TimedOutOrCancelled
        }
        End::Abandoned => {
            let fault = Fault::new(Kind::Unavailable, "E-W01", format!("the process that carried {run} out is gone"));
            return Err(fault.with_hint(format!("Carry it on: {}", context.command(&format!("runs watch {run}")))).into());
        }
    };
    for other in others {
        let unfinished = !console.app.run(&context.scope, *other).await?.state.is_terminal();
        if unfinished {
            let command = context.command(&format!("runs watch {other}"));
            context.screen.note(&format!("{other} is unfinished, and nothing further of it starts now; carry it on: {command}"));
        }
    }
    Ok(exit)
}

async fn tell_left(context: &Context, console: &Console, run: RunId, why: &str) -> Result<(), Failure> {
    let totals = console.app.run(&context.scope, run).await?.totals;
    let running = match totals.started {
        0 => "nothing of it runs now".to_owned(),
        1 => "1 unit of it runs on".to_owned(),
        number => format!("{} units of it run on", count(number)),
    };
    let waiting = match totals.created {
        0 => String::new(),
        1 => " (1 unit waits)".to_owned(),
        number => format!(" ({} units wait)", count(number)),
    };
    context.screen.note(&format!(
        "{why}; the run goes on without this command: {running}, and nothing further starts{waiting} until somebody comes back"
    ));
    context.screen.note(&format!("come back: {}, or the same command again", context.command(&format!("runs watch {run}"))));
    Ok(())
}
