//! `muster runs watch`

use super::{run::conclude, which};
use crate::{
    args::Watch,
    context::Context,
    exit::Exit,
    failure::Failure,
    follow::{self, End},
    interrupt::Interrupt,
    wire,
};

pub(super) async fn run(context: &Context, arguments: Watch) -> Result<Exit, Failure> {
    let deadline = follow::deadline(arguments.follow.timeout);
    let mut interrupt = Interrupt::listen()?;
    let visitor = wire::visit(context)?;
    let run = which::run_of(which::find(context, &visitor, &arguments.which).await?);
    loop {
        let ended = visitor.app.run(&context.scope, run).await?.state.is_terminal();
        if ended || wire::holder(context)?.is_some() {
            let end = follow::beside(context, &visitor, run, &mut interrupt, deadline).await?;
            match end {
                // Whoever carried it out has left: this process can.
                End::Abandoned => continue,
                End::Ended => return conclude(context, &visitor, run, end, &arguments.follow, &[]).await,
                End::Interrupted | End::TimedOut => {
                    context.screen.note(&format!("no longer watching; {run} goes on"));
                    return Ok(if end == End::TimedOut { Exit::TimedOutOrCancelled } else { Exit::Interrupted });
                }
            }
        }
        let console = match wire::own(context).await {
            Ok(console) => console,
            // Somebody else was quicker.
            Err(failure) if failure.exit() == Exit::Refused => continue,
            Err(failure) => return Err(failure),
        };
        context.screen.note(&format!("nobody carried {run} on: this process does"));
        let events = console.app.subscribe();
        let recovered = console.app.recover(&context.scope).await?;
        let end = follow::here(context, &console, run, events, &mut interrupt, deadline).await?;
        let others: Vec<_> = recovered.runs.into_iter().filter(|other| *other != run).collect();
        return conclude(context, &console, run, end, &arguments.follow, &others).await;
    }
}
