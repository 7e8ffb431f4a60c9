//! `muster runs cancel`

use std::time::Duration;

use app::{App, Cancelled};
use model::{ExecutionState, Kind, RunState, Timestamp};
use ports::Found;
use serde_json::json;
use tokio::time::{Instant, interval};

use super::which;
use crate::{
    args::Cancel,
    context::Context,
    exit::Exit,
    failure::Failure,
    follow,
    interrupt::Interrupt,
    output::{Block, Reply},
    paint::Paint,
    times::{clock, counted},
    wire::{self, Console},
};

/// How often the proof is looked for.
const LOOK: Duration = Duration::from_millis(50);

pub(super) async fn run(context: &Context, arguments: Cancel) -> Result<Exit, Failure> {
    let deadline = follow::deadline(arguments.timeout);
    let interrupt = Interrupt::listen()?;
    let visitor = wire::visit(context)?;
    let found = which::exactly(context, &visitor, &arguments.id, arguments.unit.as_deref()).await?;
    if let Some(end) = end(context, &visitor.app, &found).await? {
        return said(context, &found, end);
    }
    if wire::holder(context)?.is_some() || arguments.no_wait {
        let cancelled = ask(context, &visitor.app, &found).await?;
        return wait(context, &visitor, &found, cancelled, interrupt, deadline, arguments.no_wait).await;
    }
    let console = match wire::own(context).await {
        Ok(console) => console,
        // Somebody took it at this moment: they carry the request out.
        Err(failure) if failure.exit() == Exit::Refused => {
            let cancelled = ask(context, &visitor.app, &found).await?;
            return wait(context, &visitor, &found, cancelled, interrupt, deadline, false).await;
        }
        Err(failure) => return Err(failure),
    };
    // The request first: what is cancelled is not started again on the way.
    let cancelled = ask(context, &visitor.app, &found).await?;
    let recovered = console.app.recover(&context.scope).await?;
    let exit = wait(context, &console, &found, cancelled, interrupt, deadline, false).await?;
    for other in recovered.runs.into_iter().filter(|run| *run != which::run_of(found.clone())) {
        let command = context.command(&format!("runs watch {other}"));
        context.screen.note(&format!("{other} is unfinished, and nothing further of it starts now; carry it on: {command}"));
    }
    Ok(exit)
}

async fn ask(context: &Context, app: &App, found: &Found) -> Result<Cancelled, Failure> {
    let cancelled = match found {
        Found::Run(run) => app.cancel_run(&context.scope, *run, &context.by).await?,
        Found::Execution(id) => app.cancel_execution(&context.scope, *id, &context.by).await?,
    };
    Ok(cancelled)
}

/// How something ended.
struct EndedAs {
    word: &'static str,
    at: Option<Timestamp>,
    is_cancelled: bool,
}

async fn end(context: &Context, app: &App, found: &Found) -> Result<Option<EndedAs>, Failure> {
    Ok(match found {
        Found::Run(run) => {
            let run = app.run(&context.scope, *run).await?;
            let is_cancelled = run.state == RunState::Cancelled;
            run.state.is_terminal().then_some(EndedAs { word: run.state.as_str(), at: run.ended_at, is_cancelled })
        }
        Found::Execution(id) => {
            let one = app.execution(&context.scope, *id).await?;
            let is_cancelled = one.state == ExecutionState::Cancelled;
            one.state.is_terminal().then_some(EndedAs { word: one.state.as_str(), at: one.ended_at, is_cancelled })
        }
    })
}

fn name(found: &Found) -> String {
    match found {
        Found::Run(run) => run.to_string(),
        Found::Execution(id) => id.to_string(),
    }
}

/// Says how it ended: cancelled is what was asked for, everything else is not.
fn said(context: &Context, found: &Found, end: EndedAs) -> Result<Exit, Failure> {
    let (id, EndedAs { word, at, is_cancelled }) = (name(found), end);
    if !is_cancelled {
        return Err(Failure::new(Kind::Conflict, "E-C01", format!("could not cancel {id}: it has {word}")));
    }
    let confirmed = at.map(|at| format!(" (confirmed {})", clock(at, context.screen.zone()))).unwrap_or_default();
    let data = json!({ "id": id, "status": word, "confirmed_at": at });
    context.screen.reply(&Reply::one(id.clone(), data, vec![Block::Line(format!("{id} {word}{confirmed}"))]));
    Ok(Exit::Ok)
}

/// Waits for the proof that nothing of it is alive.
async fn wait(
    context: &Context,
    console: &Console,
    found: &Found,
    cancelled: Cancelled,
    mut interrupt: Interrupt,
    deadline: Option<Instant>,
    no_wait: bool,
) -> Result<Exit, Failure> {
    let id = name(found);
    let stopping = match cancelled.stopping {
        0 => String::new(),
        number => format!(": {} to stop", counted(number as u64, "unit")),
    };
    context.screen.note(&format!("{} {id}{stopping}", context.screen.paint(Paint::Doubtful, "cancelling")));
    if no_wait {
        let data = json!({ "id": id, "status": "cancelling" });
        context.screen.reply(&Reply::one(id.clone(), data, vec![Block::Line(format!("{id} cancelling"))]));
        context.screen.next(&context.command(&format!("runs show {id}")));
        return Ok(Exit::Ok);
    }
    let mut looks = interval(LOOK);
    loop {
        tokio::select! {
            _ = looks.tick() => {}
            () = interrupt.wait() => return Ok(left(context, &id, Exit::Interrupted)),
            () = follow::passed(deadline) => return Ok(left(context, &id, Exit::TimedOutOrCancelled)),
        }
        if let Some(end) = end(context, &console.app, found).await? {
            return said(context, found, end);
        }
    }
}

fn left(context: &Context, id: &str, exit: Exit) -> Exit {
    context.screen.note(&format!("no longer waiting; the request stands, and the proof is still to come for {id}"));
    context.screen.next(&context.command(&format!("runs show {id}")));
    exit
}
