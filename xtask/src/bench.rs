//! Benchmarks: each prints one JSON line a workload, with its peer measured in the same call.

pub(crate) mod fanout;
pub(crate) mod measure;

use anyhow::Result;

use crate::shell::{build, run};

/// Runs an example that measures itself.
pub(crate) fn example(package: &str, name: &str, arguments: &[&str]) -> Result<()> {
    let mut command = std::process::Command::new(build(package, "--example", name)?);
    command.args(arguments);
    run(command)
}
