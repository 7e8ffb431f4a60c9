//! W1 and W2 of the budgets: 1,000 units, 16 at a time, every state durable, beside `xargs -P16` in the same call; then 10,000 units.

use std::{
    fs,
    ops::Range,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use tempfile::TempDir;

use super::measure::{self, Cost, exited_with, median};
use crate::shell::{self, build, command, print, root, say};

/// Counted runs of each; one more is run first and not counted.
const RUNS: usize = 5;
const AT_ONCE: usize = 16;
const UNITS_A_FILE: usize = 500;

#[derive(Clone, Copy)]
enum Workload {
    /// Every unit exits 0 at once.
    NoOp,
    /// Every tenth unit fails once and is retried.
    Flaky,
}

/// Measures and prints a line a workload.
pub(crate) fn run() -> Result<()> {
    let bench = Bench::set_up()?;
    for (name, workload) in [("W1", Workload::NoOp), ("W2", Workload::Flaky)] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for counted in 0..=RUNS {
            let pair = (bench.muster(workload, 1_000)?, bench.xargs(1_000)?);
            if counted > 0 {
                ours.push(pair.0);
                theirs.push(pair.1);
            }
        }
        print_line(name, 1_000, &ours, Some(&theirs));
    }
    let large = vec![bench.muster(Workload::NoOp, 10_000)?];
    print_line("10k", 10_000, &large, None);
    Ok(())
}

fn print_line(workload: &str, n: usize, ours: &[Cost], theirs: Option<&Vec<Cost>>) {
    let middle = |costs: &[Cost], of: fn(&Cost) -> f64| median(costs.iter().map(of).collect());
    let round = |figure: f64| (figure * 1_000.0).round() / 1_000.0;
    let wall_ms = middle(ours, |cost| cost.wall_ms);
    let xargs_ms = theirs.map(|theirs| middle(theirs, |cost| cost.wall_ms));
    let line = json!({
        "workload": workload,
        "n": n,
        "runs": ours.len(),
        "wall_ms": round(wall_ms),
        "cpu_ms": round(middle(ours, |cost| cost.cpu_ms)),
        "xargs_ms": xargs_ms.map(round),
        "xargs_cpu_ms": theirs.map(|theirs| round(middle(theirs, |cost| cost.cpu_ms))),
        "ratio": xargs_ms.map(|xargs_ms| round(wall_ms / xargs_ms)),
        "peak_rss_kb": ours.iter().map(|cost| cost.peak_rss_kb).max(),
    });
    print(&line.to_string());
}

struct Bench {
    folder: TempDir,
    unit: PathBuf,
    muster: PathBuf,
}

impl Bench {
    fn set_up() -> Result<Bench> {
        let muster = build("cli", "--bin", "muster")?;
        // Beside the build, not in a memory file system: durability has its price, and it is to be paid here.
        let folder =
            tempfile::Builder::new().prefix("bench-").tempdir_in(muster.parent().context("the binary lies in a folder")?)?;
        let unit = folder.path().join("unit");
        let source = root().join("xtask/src/bench/unit.c");
        let mut compile = command("cc", &["-O2", "-static", "-o"]);
        compile.arg(&unit).arg(&source);
        shell::run(compile)?;
        Ok(Bench { folder, unit, muster })
    }

    fn xargs(&self, n: usize) -> Result<Cost> {
        let numbers = self.folder.path().join("numbers");
        fs::write(&numbers, (0..n).map(|number| format!("{number}\n")).collect::<String>())?;
        let mut xargs = Command::new("xargs");
        xargs.arg(format!("-P{AT_ONCE}")).args(["-n1", "-a"]).arg(&numbers).arg(&self.unit).arg("true");
        let (cost, status) = measure::run(xargs, None)?;
        ensure!(exited_with(status, 0), "xargs: {status}");
        Ok(cost)
    }

    /// A whole `muster run` in a fresh folder: reading the manifests, starting, running, recording, ending.
    fn muster(&self, workload: Workload, n: usize) -> Result<Cost> {
        let world = tempfile::tempdir_in(self.folder.path())?;
        let fleet = world.path().join("fleet");
        let marks = world.path().join("marks");
        fs::create_dir_all(&fleet)?;
        fs::create_dir_all(&marks)?;
        fs::write(fleet.join("tiers.yaml"), format!("kind: tier\nname: bench\ncapacity: {AT_ONCE}\n"))?;
        for first in (0..n).step_by(UNITS_A_FILE) {
            let units = first..n.min(first + UNITS_A_FILE);
            fs::write(fleet.join(format!("units-{first}.yaml")), self.manifest(workload, units, &marks))?;
        }
        let mut muster = Command::new(&self.muster);
        muster.args(["run", "--all", "--quiet", "--fleet"]).arg(&fleet).stderr(Stdio::inherit());
        let (cost, status) = measure::run(muster, Some(&fleet.join(".muster")))?;
        ensure!(exited_with(status, 0), "muster: {status}");
        self.check(&fleet, n)?;
        say(&format!("   {n} units in {:.0} ms", cost.wall_ms));
        Ok(cost)
    }

    fn manifest(&self, workload: Workload, units: Range<usize>, marks: &Path) -> String {
        let mut text = String::new();
        let unit = self.unit.display();
        for number in units {
            let run = match workload {
                Workload::NoOp => format!("[{unit}, \"true\"]"),
                Workload::Flaky => {
                    format!("[{unit}, flaky, {}, \"{number}\"]\nretry: {{ attempts: 2, backoff: 0 }}", marks.display())
                }
            };
            text.push_str(&format!("---\nname: unit-{number}\ntier: bench\nrun: {run}\n"));
        }
        text
    }

    /// What is measured must have happened: every unit succeeded, and the store says so.
    fn check(&self, fleet: &Path, n: usize) -> Result<()> {
        let mut list = Command::new(&self.muster);
        list.args(["runs", "list", "-o", "json", "--fleet"]).arg(fleet);
        let runs: serde_json::Value = serde_json::from_slice(&list.output()?.stdout).context("muster runs list -o json")?;
        let succeeded = runs[0]["totals"]["succeeded"].as_u64();
        ensure!(succeeded == Some(n as u64), "the store says that {succeeded:?} of {n} units succeeded");
        Ok(())
    }
}
