//! `muster schema`

use crate::{
    context::Context,
    exit::Exit,
    output::{Block, Data, Reply},
};

pub(super) fn run(context: &Context) -> Exit {
    let schema = manifest::schema();
    let text = vec![Block::Line(format!("{schema:#}"))];
    context.screen.reply(&Reply { ids: Vec::new(), data: Data::One(schema), text });
    Exit::Ok
}
