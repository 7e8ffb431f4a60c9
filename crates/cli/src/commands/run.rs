//! `muster run`

use std::collections::BTreeMap;

use app::{Fault, How, RunRequest, Started};
use model::{Kind, RunId, RunOptions, Selection};
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

/// Up to so many definitions a request is checked before anything is taken up or written.
const CHECKED_FIRST: usize = 1_000;

pub(super) async fn run(context: &Context, arguments: Run) -> Result<Exit, Failure> {
    let fleet = fleet::load(context)?;
    let (request, follow) = request(context, arguments)?;
    let Some(follow) = follow else {
        return dry_run::run(context, fleet, &request).await;
    };
    if fleet.definitions.len() <= CHECKED_FIRST {
        wire::preview(context, fleet.clone())?.app.plan(&context.scope, &request).await?;
    }
    let mut interrupt = Interrupt::listen()?;
    let console = wire::own(context).await?;
    let changed = console.app.apply(&context.scope, &fleet).await?;
    drop(fleet);
    if let Some(changes) = fleet::changes(&changed) {
        context.screen.note(&changes);
    }
    let ended = start(context, &console, request, &follow, &mut interrupt).await;
    leave(interrupt, ended)
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
    let recovered = console.app.recover(&context.scope).await?;
    let started = console.app.start(&context.scope, request).await?;
    tell_start(context, console, &started).await?;
    let run = started.run.id;
    let end = follow::here(context, console, run, events, interrupt, deadline).await?;
    let others: Vec<RunId> = recovered.runs.into_iter().filter(|other| *other != run).collect();
    conclude(context, console, run, end, follow, &others).await
}

async fn tell_start(context: &Context, console: &Console, started: &Started) -> Result<(), Failure> {
    let run = &started.run;
    match started.how {
        How::New => context.screen.note(&format!("{} {}", context.screen.paint(Paint::Faint, "run:"), run.id)),
        How::SameKey => context.screen.note(&format!("the idempotency key made {} before: this is that run", run.id)),
        How::TakenUp => {
            let now = console.app.run(&context.scope, run.id).await?;
            let ended = now.totals.succeeded + now.totals.failed + now.totals.cancelled;
            context.screen.note(&format!(
                "taking up {}, asked for at {} and interrupted with {} of {} ended; --new starts another",
                run.id,
                clock(run.created_at, context.screen.zone()),
                count(ended),
                counted(now.items, "unit"),
            ));
        }
    }
    Ok(())
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
    let now = console.app.run(&context.scope, run).await?;
    let verb = if now.totals.started == 1 { "goes" } else { "go" };
    context.screen.note(&format!(
        "{why}: the run goes on without this command: {} of it {verb} on running, and {} of it not start until somebody comes back",
        counted(now.totals.started, "unit"),
        if now.totals.created == 1 { "1 unit does".to_owned() } else { format!("{} units do", count(now.totals.created)) },
    ));
    context.screen.note(&format!("come back: {}, or the same command again", context.command(&format!("runs watch {run}"))));
    Ok(())
}

/// Ends a command that could be interrupted: whoever interrupts once more does not wait for what is left to do.
pub(super) fn leave(interrupt: Interrupt, exit: Result<Exit, Failure>) -> Result<Exit, Failure> {
    interrupt.last_warning();
    exit
}
