//! `muster units enable` and `muster units disable`

use model::Kind;
use serde_json::json;

use crate::{
    context::Context,
    exit::Exit,
    failure::Failure,
    fleet,
    output::{Block, Reply},
    wire,
};

/// Disables the unit with a note, or enables it.
pub(super) async fn run(context: &Context, unit: &str, disable: Option<String>) -> Result<Exit, Failure> {
    let visitor = wire::visit(context)?;
    match visitor.app.switch(&context.scope, unit, disable.clone(), &context.by).await {
        Ok(()) => {}
        // A unit that has never been applied: this is the first thing that happens to it.
        Err(fault) if fault.kind == Kind::NotFound && wire::holder(context)?.is_none() => {
            let fleet = fleet::load(context)?;
            wire::preview(context, fleet.clone())?.app.unit_view(&context.scope, unit).await?;
            let console = wire::hold(context)?;
            let changed = console.app.apply(&context.scope, &fleet).await?;
            fleet::changes(&changed).into_iter().for_each(|changes| context.screen.note(&changes));
            console.app.switch(&context.scope, unit, disable.clone(), &context.by).await?;
        }
        Err(fault) => return Err(fault.into()),
    }
    let (word, next) = match disable {
        Some(_) => ("disabled", format!("units enable {unit}")),
        None => ("enabled", format!("run {unit}")),
    };
    let data = json!({ "unit": unit, "state": word, "by": context.by, "note": disable });
    context.screen.reply(&Reply::one(unit, data, vec![Block::Line(format!("{unit} {word}"))]));
    context.screen.next(&context.command(&next));
    Ok(Exit::Ok)
}
