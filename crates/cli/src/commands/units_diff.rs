//! `muster units diff`

use super::dry_run::plain;
use crate::{
    context::Context,
    exit::Exit,
    failure::Failure,
    fleet,
    output::{Reply, data_of},
    table::{Table, column},
    wire,
};

/// The longest value that is shown whole, in characters.
const LONGEST: usize = 60;

pub(super) async fn run(context: &Context) -> Result<Exit, Failure> {
    let fleet = fleet::load(context)?;
    let console = wire::visit(context)?;
    let differences = console.app.differences(&context.scope, &fleet).await?;
    let mut table = Table::new(&[column("kind"), column("name"), column("change"), column("what").long()]);
    for difference in &differences {
        let (kind, name) = (difference.kind.as_str(), difference.name.as_str());
        if difference.change != "changed" {
            table.rows.push(vec![kind.into(), name.into(), difference.change.into(), "".into()]);
            continue;
        }
        for (key, before, after) in &difference.keys {
            let what = format!("{key}: {} → {}", short(&plain(before)), short(&plain(after)));
            table.rows.push(vec![kind.into(), name.into(), difference.change.into(), what.into()]);
        }
    }
    let names = differences.iter().map(|difference| difference.name.clone()).collect();
    context.screen.reply(&Reply::list(names, differences.iter().map(data_of).collect(), table));
    if differences.is_empty() {
        context.screen.note("the manifests are what ran last");
    }
    Ok(Exit::Ok)
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
