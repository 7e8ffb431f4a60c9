//! `muster units validate`

use model::DefinitionKind;
use serde_json::json;

use crate::{
    context::Context,
    exit::Exit,
    failure::Failure,
    fleet,
    output::{Block, Data, Reply},
    times::counted,
};

/// What is wrong is the answer here, so that it goes to stdout.
pub(super) fn run(context: &Context) -> Exit {
    let (reply, exit) = match fleet::load(context) {
        Ok(fleet) => {
            let number = |kind| fleet.definitions.iter().filter(|definition| definition.kind() == kind).count() as u64;
            let [units, tiers, limits] = [DefinitionKind::Job, DefinitionKind::Tier, DefinitionKind::Limit].map(number);
            let sentence =
                format!("no problems: {}, {}, {}", counted(units, "unit"), counted(tiers, "tier"), counted(limits, "limit"));
            let data = json!({ "problems": [], "warnings": fleet.warnings, "units": units, "tiers": tiers, "limits": limits });
            (Reply { ids: Vec::new(), data: Data::One(data), text: vec![Block::Line(sentence)] }, Exit::Ok)
        }
        Err(failure) => faulty(failure),
    };
    context.screen.reply(&reply);
    exit
}

fn faulty(failure: Failure) -> (Reply, Exit) {
    let exit = failure.exit();
    let fault = failure.fault;
    let ids = fault.problems.iter().map(|problem| format!("{}:{}:{}", problem.file, problem.line, problem.column)).collect();
    let mut text: Vec<Block> = failure.explained.iter().map(|problem| Block::Line(format!("{problem}\n"))).collect();
    text.push(Block::Line(format!("{} [{}]", fault.message, fault.code)));
    text.extend(fault.hint.iter().map(|hint| Block::Line(format!("  hint: {hint}"))));
    let data = json!({ "problems": fault.problems, "message": fault.message, "code": fault.code });
    (Reply { ids, data: Data::One(data), text }, exit)
}
