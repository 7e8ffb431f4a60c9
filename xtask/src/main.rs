//! The project's own commands: `cargo xtask test`, `cargo xtask bench …`, `cargo xtask gen`.

mod bench;
mod generate;
mod shell;
mod test;

use anyhow::{Result, bail};

const USAGE: &str = "\
cargo xtask test            everything that tests the project
cargo xtask bench fanout    1,000 units beside xargs: W1, W2; then 10,000 units
cargo xtask bench asl       state transitions a CPU-second
cargo xtask gen [--check]   write what is generated from the code; --check only compares";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => test::all(),
        ["bench", "fanout"] => bench::fanout::run(),
        ["bench", "asl"] => bench::example("asl", "throughput", &[]),
        ["gen"] => generate::write(),
        ["gen", "--check"] => generate::check(),
        _ => bail!("usage:\n{USAGE}"),
    }
}
