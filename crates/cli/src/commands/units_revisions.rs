//! `muster units revisions`

use crate::{
    context::Context,
    exit::Exit,
    failure::Failure,
    output::{Reply, data_of},
    table::{Table, column},
    times::{absolute, ago},
    wire,
};

pub(super) async fn run(context: &Context, unit: &str, limit: usize) -> Result<Exit, Failure> {
    let console = wire::visit(context)?;
    let revisions = console.app.unit_revisions(&context.scope, unit, limit).await?;
    let mut table = Table::new(&[column("revision").right(), column("applied"), column("at").wide(), column("digest")]);
    let now = context.now();
    for revision in &revisions {
        let digest = revision.content.digest().to_string();
        table.rows.push(vec![
            revision.revision.into(),
            ago(revision.applied_at, now).into(),
            absolute(revision.applied_at, context.screen.zone()).into(),
            digest[..12].into(),
        ]);
    }
    let ids = revisions.iter().map(|revision| revision.revision.to_string()).collect();
    context.screen.reply(&Reply::list(ids, revisions.iter().map(data_of).collect(), table));
    Ok(Exit::Ok)
}
