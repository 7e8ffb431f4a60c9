//! Measuring a program and the helper process that it leaves behind.

use std::{
    fs,
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, ExitStatus, Stdio},
    time::Instant,
};

use anyhow::{Context, Result};

/// What a program used.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    pub wall_ms: f64,
    /// Of the program, everything it waited for, and its helper.
    pub cpu_ms: f64,
    /// Of the program and its helper, at their highest, added.
    pub peak_rss_kb: u64,
}

/// Runs `command` to its end. `helper` names the folder whose helper process (the shim) is to be counted too.
pub(crate) fn run(mut command: Command, helper: Option<&Path>) -> Result<(Cost, ExitStatus)> {
    let before = children();
    let begin = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().context("could not start what is measured")?;
    let peak = Peak::watch(child.id());
    let status = child.wait()?;
    let wall_ms = begin.elapsed().as_secs_f64() * 1_000.0;
    let after = children();
    let (helper_cpu_ms, helper_kb) = helper.and_then(helper_cost).unwrap_or_default();
    let cost = Cost { wall_ms, cpu_ms: after - before + helper_cpu_ms, peak_rss_kb: peak.join() + helper_kb };
    Ok((cost, status))
}

/// Whether a status means success or a failure that the workload expects.
pub(crate) fn exited_with(status: ExitStatus, code: i32) -> bool {
    status.code() == Some(code) && status.signal().is_none()
}

/// CPU milliseconds of all children waited for so far.
fn children() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    // Fields 16 and 17 of the file, counted from 1: time of children waited for, user and kernel.
    ticks(&fields, 13) + ticks(&fields, 14)
}

fn ticks(fields: &[&str], place: usize) -> f64 {
    let ticks: f64 = fields.get(place).and_then(|field| field.parse().ok()).unwrap_or_default();
    ticks * 1_000.0 / rustix::param::clock_ticks_per_second() as f64
}

/// CPU milliseconds (its own and of children waited for) and peak kilobytes of the shim of `home`.
fn helper_cost(home: &Path) -> Option<(f64, u64)> {
    let home = home.to_str()?;
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words: Vec<&str> = command.split(|byte| *byte == 0).filter_map(|word| std::str::from_utf8(word).ok()).collect();
        if words.contains(&"shim") && words.iter().any(|word| word.contains(home)) {
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            let fields: Vec<&str> = stat.rsplit(") ").next()?.split(' ').collect();
            let cpu_ms = (11..15).map(|place| ticks(&fields, place)).sum();
            return Some((cpu_ms, peak_kb(&entry.path())?));
        }
    }
    None
}

fn peak_kb(process: &Path) -> Option<u64> {
    let status = fs::read_to_string(process.join("status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Watches the peak memory of one process until it is gone.
struct Peak(std::thread::JoinHandle<u64>);

impl Peak {
    fn watch(pid: u32) -> Peak {
        Peak(std::thread::spawn(move || {
            let process = Path::new("/proc").join(pid.to_string());
            let mut peak = 0;
            while let Some(kb) = peak_kb(&process) {
                peak = kb;
                std::thread::park_timeout(std::time::Duration::from_millis(5));
            }
            peak
        }))
    }

    fn join(self) -> u64 {
        self.0.join().unwrap_or_default()
    }
}

/// The middle one of an odd number of figures.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}
