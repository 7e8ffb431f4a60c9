//! Control groups (version 2), where this process may make them.
//!
//! The rules of the kernel: a group that hands controllers to its children holds no processes itself. So the place to look is the parent
//! of this process's own group: a service manager that delegates, or a container, starts Muster in a leaf of what it delegates.
//! Where nothing is delegated, limits are kept otherwise (see `limits`), and the kernel's side of this file is not covered by tests.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use model::{ByteSize, Digest, MemoryEvidence, ResourceLimits};
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

/// What the names of a home's groups begin with: several homes may share what is delegated. `work` is the folder of its work folders.
pub(crate) fn prefix(work: &Path) -> String {
    let home = Digest::of(work.as_os_str().as_bytes()).bits() >> 64;
    format!("muster-{home:016x}-")
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
    /// As if `path` were delegated.
    #[cfg(test)]
    pub(crate) fn at(path: &Path) -> Delegated {
        Delegated { path: path.to_owned(), controllers: String::new() }
    }

    /// Whether children get this controller.
    pub(crate) fn has(&self, controller: Controller) -> bool {
        self.controllers.split_ascii_whitespace().any(|name| name == controller.as_str())
    }

    /// The groups of the home with this prefix that are there now.
    pub(crate) fn leftovers(&self, prefix: &str) -> io::Result<Vec<Group>> {
        let mut groups = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix));
            if is_ours && entry.file_type()?.is_dir() {
                groups.push(Group { path: entry.path(), limit: None });
            }
        }
        Ok(groups)
    }

    /// Makes a group for one attempt and moves its process there.
    pub(crate) fn enter(&self, name: &str, pid: i32, limits: &ResourceLimits) -> io::Result<Group> {
        let group = Group { path: self.path.join(name), limit: limits.memory };
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
        fs::OpenOptions::new().write(true).open(self.path.join("cgroup.kill"))?.write_all(b"1")
    }

    /// Removes it. False while it still holds something.
    pub(crate) fn remove(&self) -> bool {
        match fs::remove_dir(&self.path) {
            Ok(()) => true,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
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
        self.remove();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_one_home_are_found_and_removed_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let delegated = Delegated::at(folder.path());
        let (ours, other) = (prefix(Path::new("/a/work")), prefix(Path::new("/b/work")));
        assert_ne!(ours, other);
        // A group with another in it cannot be removed, as one that holds a process.
        for name in [format!("{ours}x-1"), format!("{ours}x-2/held"), format!("{other}x-1"), "system.slice".to_owned()] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let mut removed: Vec<bool> = delegated.leftovers(&ours).unwrap().iter().map(Group::remove).collect();
        removed.sort_unstable();
        assert_eq!(removed, [false, true]);
        let entries = fs::read_dir(folder.path()).unwrap();
        let mut left: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        let mut wanted = [format!("{ours}x-2"), format!("{other}x-1"), "system.slice".to_owned()];
        wanted.sort();
        assert_eq!(left, wanted);
    }
}
