//! `muster units list`

use app::UnitView;

use crate::{
    context::Context,
    exit::Exit,
    failure::Failure,
    fleet,
    output::{Reply, data_of},
    table::{Table, column, status},
    wire,
};

pub(super) async fn run(context: &Context, tag: Option<&str>) -> Result<Exit, Failure> {
    let console = wire::preview(context, fleet::load(context)?)?;
    let mut units = console.app.units(&context.scope).await?;
    units.retain(|unit| tag.is_none_or(|tag| unit.revised.content.tags.iter().any(|known| known == tag)));
    let mut table = Table::new(&[
        column("unit"),
        column("tier"),
        column("state"),
        column("revision").right(),
        column("tags"),
        column("owner").wide(),
        column("needs").wide(),
        column("location").wide(),
        column("description").long(),
    ]);
    for unit in &units {
        let content = &unit.revised.content;
        let needs: Vec<&str> = content.needs.iter().map(|need| need.unit.as_str()).collect();
        table.rows.push(vec![
            (&content.name).into(),
            (&content.tier).into(),
            status(state(unit)),
            unit.revised.revision.into(),
            content.tags.join(", ").into(),
            content.owner.clone().unwrap_or_default().into(),
            needs.join(", ").into(),
            (&content.location).into(),
            content.description.clone().unwrap_or_default().into(),
        ]);
    }
    let names = units.iter().map(|unit| unit.revised.content.name.to_string()).collect();
    context.screen.reply(&Reply::list(names, units.iter().map(data_of).collect(), table));
    Ok(Exit::Ok)
}

/// `enabled` or `disabled`, in the manifest or by an operator.
pub(super) fn state(unit: &UnitView) -> &'static str {
    if unit.enabled { "enabled" } else { "disabled" }
}
