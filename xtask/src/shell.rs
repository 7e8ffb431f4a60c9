//! Running other programs, with their output on the terminal.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository's root")
}

/// A command that runs in the root.
pub(crate) fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command; its failure is an error that names it.
pub(crate) fn run(mut command: Command) -> Result<()> {
    let words: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let line = words.join(" ");
    say(&format!("── {line}"));
    let status = command.status().with_context(|| format!("could not start `{line}`"))?;
    if status.success() { Ok(()) } else { bail!("`{line}` failed: {status}") }
}

/// Whether a program answers.
pub(crate) fn answers(program: &str, arguments: &[&str]) -> bool {
    command(program, arguments).output().is_ok_and(|output| output.status.success())
}

/// A line for people, on stderr.
#[expect(clippy::print_stderr, reason = "this is the one place that speaks to people")]
pub(crate) fn say(line: &str) {
    eprintln!("{line}");
}

/// A line of data, on stdout.
#[expect(clippy::print_stdout, reason = "this is the one place that prints data")]
pub(crate) fn print(line: &str) {
    println!("{line}");
}

/// Builds a binary or an example in release and says where it is.
pub(crate) fn build(package: &str, kind: &str, name: &str) -> Result<PathBuf> {
    run(command("cargo", &["build", "--quiet", "--release", "--package", package, kind, name]))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let folder = if kind == "--example" { "release/examples" } else { "release" };
    Ok(target.join(folder).join(name))
}
