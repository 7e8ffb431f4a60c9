//! The command `muster`: arguments in, use cases of `app`, answers out. One file a command; start at [`mod@wire`] for what is plugged into what.

mod args;
mod commands;
mod context;
mod evidence;
mod exit;
mod failure;
mod fleet;
mod follow;
mod interrupt;
mod log_lines;
mod nowhere;
mod output;
mod paint;
mod preview;
mod progress;
mod result;
mod screen;
mod table;
mod times;
mod wire;
mod yaml;

use std::process::ExitCode;

use clap::Parser as _;
use tracing_subscriber::EnvFilter;

use args::{Arguments, Command};
use context::Context;
use exit::Exit;
use failure::Failure;
use screen::Screen;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return context::usage(&error).into(),
    };
    let screen = Screen::new(&arguments.global);
    panics_in_one_line(screen.clone());
    let exit = match carry_out(arguments, screen.clone()) {
        Ok(exit) => exit,
        Err(failure) => {
            screen.failure(&failure);
            failure.exit()
        }
    };
    match screen.fault() {
        Some(failure) => {
            screen.failure(&failure);
            failure.exit().into()
        }
        None => exit.into(),
    }
}

fn carry_out(arguments: Arguments, screen: Screen) -> Result<Exit, Failure> {
    log_to(&screen, &arguments.global.log)?;
    let context = Context::new(arguments.global, screen);
    match arguments.command {
        // Forks nothing and waits for nobody: it must not inherit a runtime.
        Command::Shim => wire::serve_as_shim(&context),
        command => wire::block_on(commands::carry_out(&context, command)),
    }
}

fn log_to(screen: &Screen, level: &str) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(level)
        .map_err(|error| Failure::new(model::Kind::Invalid, "E-U03", format!("could not read --log `{level}`: {error}")))?;
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(screen.clone()).with_ansi(false).with_target(false).init();
    Ok(())
}

/// A mistake of ours is told in one line, like every other failure.
fn panics_in_one_line(screen: Screen) {
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or("no message");
        let place = panic.location().map(|place| format!(" at {}:{}", place.file(), place.line())).unwrap_or_default();
        let text = format!("a mistake in muster{place}: {message}");
        screen.failure(&Failure::new(model::Kind::Internal, "E-I01", text));
    }));
}
