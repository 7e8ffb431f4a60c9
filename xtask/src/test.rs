//! Everything that tests the project.

use anyhow::{Context, Result};

use crate::{
    generate,
    shell::{answers, command, root, run, say},
};

/// Runs all suites; the first failure ends it.
pub(crate) fn all() -> Result<()> {
    generate::check()?;
    rust()?;
    run(command("cargo", &["test", "--quiet", "--workspace", "--doc"]))?;
    examples()
}

/// The Rust suites, by nextest where it is installed (each test in a process of its own), else by cargo.
fn rust() -> Result<()> {
    if answers("cargo", &["nextest", "--version"]) {
        run(command("cargo", &["nextest", "run", "--workspace", "--no-fail-fast"]))
    } else {
        say("cargo-nextest is not installed: the same tests run by cargo test");
        run(command("cargo", &["test", "--workspace", "--all-targets", "--no-fail-fast"]))
    }
}

/// The units of the example fleet, each by hand as a user would start it.
fn examples() -> Result<()> {
    let mut python = command("python3", &["-m", "unittest", "-q", "test_units"]);
    python.current_dir(root().join("examples/fleet")).env("PYTHONDONTWRITEBYTECODE", "1");
    run(python).context("the units of the example fleet (Python 3.10 or newer)")
}
