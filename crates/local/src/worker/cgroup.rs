//! Control groups (version 2), where this process may make them.
//!
//! The rules of the kernel: a group that hands controllers to its children holds no processes itself. So the place to look is the parent
//! of this process's own group: a service manager that delegates, or a container, starts Muster in a leaf of what it delegates.
//! No machine of the project delegates one: this file is not covered by tests.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use model::{ByteSize, MemoryEvidence, ResourceLimits};
use rustix::fs::{Access, access};

/// What a control group can bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controller {
    Memory,
    Cpu,
    Pids,
}

impl Controller {
    fn as_str(self) -> &'static str {
        match self {
            Controller::Memory => "memory",
            Controller::Cpu => "cpu",
            Controller::Pids => "pids",
        }
    }
}

/// A group below which this process may make others.
#[derive(Debug)]
pub(crate) struct Delegated {
    path: PathBuf,
    controllers: String,
}

/// The group that is delegated to this process, looked for once.
pub(crate) fn delegated() -> Option<&'static Delegated> {
    static FOUND: OnceLock<Option<Delegated>> = OnceLock::new();
    FOUND.get_or_init(find).as_ref()
}

fn find() -> Option<Delegated> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    // Fields after the hyphen: file system type, source, options; the fifth field before it is the mount point.
    let mount = mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        after.starts_with("cgroup2 ").then(|| before.split(' ').nth(4))?
    })?;
    let path = Path::new(mount).join(own).parent()?.to_owned();
    let writable = |name: &str| access(path.join(name), Access::WRITE_OK).is_ok();
    if !path.starts_with(mount) || !writable("") || !writable("cgroup.procs") {
        return None;
    }
    let controllers = fs::read_to_string(path.join("cgroup.subtree_control")).ok()?;
    Some(Delegated { path, controllers }).filter(|found| found.has(Controller::Memory) || found.has(Controller::Pids))
}

impl Delegated {
    /// Whether children get this controller.
    pub(crate) fn has(&self, controller: Controller) -> bool {
        self.controllers.split_ascii_whitespace().any(|name| name == controller.as_str())
    }

    /// Makes a group for one attempt and moves its process there.
    pub(crate) fn enter(&self, name: &str, pid: i32, limits: &ResourceLimits) -> io::Result<Group> {
        let group = Group { path: self.path.join(format!("muster-{name}")), limit: limits.memory };
        fs::create_dir(&group.path)?;
        let write = |file: &str, value: String| fs::write(group.path.join(file), value);
        if let Some(memory) = limits.memory.filter(|_| self.has(Controller::Memory)) {
            write("memory.max", memory.as_bytes().to_string())?;
        }
        if let Some(millis) = limits.cpu_millis.filter(|_| self.has(Controller::Cpu)) {
            write("cpu.max", format!("{} 100000", u64::from(millis) * 100))?;
        }
        if let Some(processes) = limits.processes.filter(|_| self.has(Controller::Pids)) {
            write("pids.max", processes.to_string())?;
        }
        write("cgroup.procs", pid.to_string())?;
        Ok(group)
    }
}

/// The group of one attempt. Removed when dropped, which works once it is empty.
#[derive(Debug)]
pub(crate) struct Group {
    path: PathBuf,
    limit: Option<ByteSize>,
}

impl Group {
    /// Kills all processes in it, whatever they fork meanwhile.
    pub(crate) fn kill(&self) -> io::Result<()> {
        fs::write(self.path.join("cgroup.kill"), "1")
    }

    /// The kernel's own count of kills for memory in it.
    pub(crate) fn out_of_memory(&self) -> Option<MemoryEvidence> {
        let events = fs::read_to_string(self.path.join("memory.events")).ok()?;
        let kills: u64 = events.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()?;
        let peak = fs::read_to_string(self.path.join("memory.peak"))
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .map(ByteSize::from_bytes);
        (kills > 0).then(|| MemoryEvidence {
            limit: self.limit,
            peak,
            source: format!("memory.events of its cgroup: oom_kill {kills}"),
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A group that still holds something stays, for the next look at what was left behind.
        drop(fs::remove_dir(&self.path));
    }
}
