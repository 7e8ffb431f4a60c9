//! `muster version`

use serde_json::json;

use crate::{
    context::Context,
    exit::Exit,
    output::{Block, Reply},
};

pub(super) fn run(context: &Context) -> Exit {
    let version = env!("CARGO_PKG_VERSION");
    let data = json!({ "version": version, "worker_contract": model::CURRENT_CONTRACT });
    context.screen.reply(&Reply::one(version, data, vec![Block::Line(format!("muster {version}"))]));
    Exit::Ok
}
