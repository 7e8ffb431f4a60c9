//! The commands, one file each.

mod artifacts;
mod completions;
mod dry_run;
mod events;
mod init;
mod run;
mod runs_cancel;
mod runs_list;
mod runs_logs;
mod runs_retry;
mod runs_show;
mod runs_watch;
mod schema;
mod signals;
mod tiers_list;
mod units_diff;
mod units_list;
mod units_revisions;
mod units_show;
mod units_switch;
mod units_validate;
mod version;
mod which;
mod why;

use crate::{
    args::{Command, Runs, Tiers, Units},
    context::Context,
    exit::Exit,
    failure::Failure,
    wire,
};

/// Carries a command out.
pub(crate) async fn carry_out(context: &Context, command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Run(arguments) => Box::pin(run::run(context, arguments)).await,
        Command::Units(Units::List { tag }) => units_list::run(context, tag.as_deref()).await,
        Command::Units(Units::Show { unit }) => units_show::run(context, &unit).await,
        Command::Units(Units::Diff) => units_diff::run(context).await,
        Command::Units(Units::Enable { unit }) => units_switch::run(context, &unit, None).await,
        Command::Units(Units::Disable { unit, note }) => units_switch::run(context, &unit, Some(note)).await,
        Command::Units(Units::Validate) => Ok(units_validate::run(context)),
        Command::Units(Units::Revisions { unit, limit }) => units_revisions::run(context, &unit, limit).await,
        Command::Tiers(Tiers::List) => tiers_list::run(context).await,
        Command::Runs(Runs::List(arguments)) => runs_list::run(context, arguments).await,
        Command::Runs(Runs::Show(arguments)) => runs_show::run(context, arguments).await,
        Command::Runs(Runs::Watch(arguments)) => Box::pin(runs_watch::run(context, arguments)).await,
        Command::Runs(Runs::Logs(arguments)) => runs_logs::run(context, arguments).await,
        Command::Runs(Runs::Cancel(arguments)) => Box::pin(runs_cancel::run(context, arguments)).await,
        Command::Runs(Runs::Retry(arguments)) => Box::pin(runs_retry::run(context, arguments)).await,
        Command::Why(arguments) => why::run(context, arguments).await,
        Command::Artifacts(arguments) => artifacts::run(context, arguments).await,
        Command::Signals(arguments) => signals::run(context, arguments).await,
        Command::Events(arguments) => events::run(context, arguments).await,
        Command::Init(arguments) => init::run(context, &arguments.folder),
        Command::Schema => Ok(schema::run(context)),
        Command::Completions(arguments) => Ok(completions::run(context, arguments.shell)),
        Command::Version => Ok(version::run(context)),
        Command::Shim => wire::serve_as_shim(context),
    }
}
