//! `muster runs retry`

use app::RunRequest;
use model::{Kind, RunOptions, Selection};
use ports::Found;

use super::run::start;
use crate::{
    args::Retry,
    context::Context,
    exit::Exit,
    failure::Failure,
    interrupt::Interrupt,
    times::{count, counted},
    wire,
};

pub(super) async fn run(context: &Context, arguments: Retry) -> Result<Exit, Failure> {
    let visitor = wire::visit(context)?;
    let earlier = match visitor.app.find(&context.scope, &arguments.run).await? {
        Found::Run(run) => visitor.app.run(&context.scope, run).await?,
        Found::Execution(id) => {
            let message = format!("{id} is an execution, and a retry takes a run: {}", id.run);
            return Err(Failure::new(Kind::Invalid, "E-U05", message));
        }
    };
    let again = visitor.app.retryable(&context.scope, earlier.id).await?;
    drop(visitor);
    if again == 0 {
        return Err(Failure::new(Kind::Conflict, "E-R10", format!("nothing to run: every item of {} succeeded", earlier.id)));
    }
    context.screen.note(&format!(
        "{} of {} will run, by the manifests of that run; `muster run UNIT` goes by those of today",
        count(again as u64),
        counted(earlier.items, "unit")
    ));
    let options = RunOptions {
        concurrency: arguments.how.concurrency.or(earlier.options.concurrency),
        priority: arguments.how.priority.unwrap_or(earlier.options.priority),
        ..earlier.options
    };
    let selection = Selection::Retry { run: earlier.id };
    let request = RunRequest { selection, options, idempotency_key: None, take_up: true };
    let mut interrupt = Interrupt::listen()?;
    let console = wire::own(context).await?;
    start(context, &console, request, &arguments.how.follow, &mut interrupt).await
}
