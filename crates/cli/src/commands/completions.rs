//! `muster completions`

use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

use crate::{args::Arguments, context::Context, exit::Exit};

pub(super) fn run(context: &Context, shell: Shell) -> Exit {
    let mut script = Vec::new();
    generate(shell, &mut Arguments::command(), "muster", &mut script);
    context.screen.data(&script);
    Exit::Ok
}
