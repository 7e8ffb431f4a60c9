//! `muster tiers list`

use local::worker::enforcement;
use serde_json::json;

use crate::{
    context::Context,
    exit::Exit,
    failure::Failure,
    fleet,
    output::{Reply, data_of},
    table::{Table, column},
    wire,
};

pub(super) async fn run(context: &Context) -> Result<Exit, Failure> {
    let console = wire::preview(context, fleet::load(context)?)?;
    let tiers = console.app.tier_views(&context.scope).await?;
    let mut table = Table::new(&[
        column("tier"),
        column("launch"),
        column("capacity").right(),
        column("cpu").right(),
        column("memory").right(),
        column("processes").right().wide(),
        column("enforcement").wide(),
        column("description").long(),
    ]);
    let mut data = Vec::new();
    for tier in &tiers {
        let bounds = &tier.resources;
        let how = enforcement(bounds);
        table.rows.push(vec![
            (&tier.name).into(),
            tier.launch.as_str().into(),
            tier.capacity.into(),
            bounds.cpu_millis.map(|millis| (f64::from(millis) / 1_000.0).to_string()).unwrap_or_default().into(),
            bounds.memory.map(|memory| memory.to_string()).unwrap_or_default().into(),
            bounds.processes.map(|processes| processes.to_string()).unwrap_or_default().into(),
            how.join("; ").into(),
            tier.description.clone().unwrap_or_default().into(),
        ]);
        let mut tier = data_of(tier);
        tier["enforcement"] = json!(how);
        data.push(tier);
    }
    context.screen.reply(&Reply::list(tiers.iter().map(|tier| tier.name.to_string()).collect(), data, table));
    Ok(Exit::Ok)
}
