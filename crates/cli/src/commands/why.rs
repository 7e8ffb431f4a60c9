//! `muster why`

use app::Why as Reasons;
use ports::Found;

use super::which;
use crate::{
    args::Why,
    context::Context,
    exit::Exit,
    failure::Failure,
    output::{Block, Data, Reply, data_of},
    table::{Cell, status},
    times::ago,
    wire,
};

pub(super) async fn run(context: &Context, arguments: Why) -> Result<Exit, Failure> {
    let console = wire::visit(context)?;
    let found = which::find(context, &console, &arguments.which).await?;
    let all = console.app.why(&context.scope, found.clone()).await?;
    let mut text = Vec::new();
    for why in &all {
        if !text.is_empty() {
            text.push(Block::Line(String::new()));
        }
        text.push(Block::Fields(fields(context, why)));
    }
    let ids = all.iter().map(|why| why.execution.to_string()).collect();
    context.screen.reply(&Reply { ids, data: Data::List(all.iter().map(data_of).collect()), text });
    let run = console.app.run(&context.scope, which::run_of(found.clone())).await?;
    if matches!(found, Found::Run(_)) && all.is_empty() {
        context.screen.note(&format!("nothing of {} waits: its state is {}", run.id, run.state.as_str()));
    }
    if !run.state.is_terminal() && wire::holder(context)?.is_none() {
        context.screen.note(&format!("no process carries {} on: nothing further of it starts, whatever else holds it", run.id));
        context.screen.next(&context.command(&format!("runs watch {}", run.id)));
    }
    Ok(Exit::Ok)
}

fn fields(context: &Context, why: &Reasons) -> Vec<(&'static str, Cell)> {
    let now = context.now();
    let holder = |holder: &app::Holder| {
        let since = holder.since.map(|since| format!(", since {}", ago(since, now))).unwrap_or_default();
        format!("{}: {} ({}{since})", holder.key, holder.execution, holder.unit)
    };
    let holders: Vec<String> = why.holders.iter().map(holder).collect();
    let place = if why.place == 0 { String::new() } else { format!("{} of {}", why.place, why.of) };
    vec![
        ("execution", why.execution.into()),
        ("unit", (&why.unit).into()),
        ("state", status(why.status)),
        ("waits for", why.constraints.join("\n").into()),
        ("held by", holders.join("\n").into()),
        ("place", place.into()),
        ("last word", why.message.clone().unwrap_or_default().into()),
    ]
}
