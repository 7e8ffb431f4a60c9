//! Finds the processes that belong to an attempt wherever they have hidden.
//!
//! A process belongs to an attempt when it is in the group of its program, when it was started with its `MUSTER_OUT`, when it
//! works inside its folder, when its parent belongs to it, or when it shares a session with one that does. What was once seen to belong stays
//! known by number and start time, so that a daemon that cut every tie is still found.

use std::{
    collections::{HashMap, HashSet},
    io,
    path::Path,
    rc::Rc,
};

use rustix::{
    io::Errno,
    process::{Pid, WaitId, WaitIdOptions, test_kill_process_group, waitid},
};

use super::process::{self, Process};

/// Names an attempt: `<execution>-<attempt>`, also the name of its work folder.
pub(crate) type Tag = Rc<str>;

/// What this process knows of its children and of those that became its children.
pub(crate) struct Children {
    /// The programs under way: number → attempt, start ticks.
    mains: HashMap<i32, (Tag, u64)>,
    /// Every process once seen to belong to an attempt.
    seen: HashMap<(i32, u64), Tag>,
    own: Process,
}

/// A process and the attempt it belongs to; `None` where it is an orphan that cannot be attributed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) process: Process,
    pub(crate) tag: Option<Tag>,
}

impl Children {
    /// Nothing yet.
    pub(crate) fn new() -> io::Result<Children> {
        let own = Process::read(std::process::id().cast_signed()).ok_or(io::ErrorKind::NotFound)?;
        Ok(Children { mains: HashMap::new(), seen: HashMap::new(), own })
    }

    /// A program was started.
    pub(crate) fn add(&mut self, pid: i32, start_ticks: u64, tag: Tag) {
        self.mains.insert(pid, (tag, start_ticks));
    }

    /// A program was reaped.
    pub(crate) fn forget(&mut self, pid: i32) {
        self.mains.remove(&pid);
    }

    /// How many programs are under way.
    pub(crate) fn running(&self) -> usize {
        self.mains.len()
    }

    /// The oldest start time of the programs under way.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.mains.values().map(|(_, ticks)| *ticks).min()
    }

    /// Looks at all descendants of this process: reaps dead orphans, attributes the others. `work` is the folder of the work folders;
    /// `ended` are attempts whose program is gone and whose group number is still to be looked at.
    pub(crate) fn look(&mut self, work: &Path, ended: &[(i32, Tag)]) -> io::Result<Vec<Found>> {
        let descendants = descendants(Process::all()?, self.own.pid);
        let (dead, alive): (Vec<Process>, Vec<Process>) = descendants.into_iter().partition(|process| process.zombie);
        let unknown = |process: &&Process| process.parent == self.own.pid && !self.mains.contains_key(&process.pid);
        dead.iter().filter(unknown).for_each(|process| reap(process.pid));
        let groups: HashMap<i32, Tag> = self
            .mains
            .iter()
            .map(|(pid, (tag, _))| (*pid, Rc::clone(tag)))
            .chain(ended.iter().map(|(group, tag)| (*group, Rc::clone(tag))))
            .collect();
        let direct = |process: &Process| {
            let known = self.seen.get(&(process.pid, process.start_ticks)).or_else(|| groups.get(&process.group));
            known.cloned().or_else(|| tag_of(process.pid, work).map(Tag::from))
        };
        let own_session = self.own.session;
        let tags = attribute(&alive, |session, _| session != own_session, direct);
        self.seen = alive
            .iter()
            .filter_map(|process| Some(((process.pid, process.start_ticks), tags.get(&process.pid)?.clone())))
            .collect();
        Ok(alive.into_iter().map(|process| Found { tag: tags.get(&process.pid).cloned(), process }).collect())
    }

    /// Whether this process has no child at all. With no program under way, that proves that nothing was left behind: orphans become
    /// children of this process.
    pub(crate) fn is_childless(&self) -> bool {
        waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT).err() == Some(Errno::CHILD)
    }
}

/// The attempt that a process says it belongs to: by the environment it was started with, or by the folder it works in.
pub(crate) fn tag_of(pid: i32, work: &Path) -> Option<String> {
    let by_environment = || {
        let out = process::environment_value(pid, "MUSTER_OUT")?;
        let name = Path::new(&out).strip_prefix(work).ok()?.parent()?.to_str()?.to_owned();
        (!name.is_empty() && !name.contains('/')).then_some(name)
    };
    let by_folder = || {
        let folder = process::working_folder(pid)?;
        let name = folder.strip_prefix(work).ok()?.components().next()?.as_os_str().to_str()?.to_owned();
        (!name.starts_with('.')).then_some(name)
    };
    by_environment().or_else(by_folder)
}

/// The processes below `own`, itself excluded.
fn descendants(all: Vec<Process>, own: i32) -> Vec<Process> {
    let parents: HashMap<i32, i32> = all.iter().map(|process| (process.pid, process.parent)).collect();
    let is_below = |pid: i32| {
        let mut at = pid;
        // Bounded: the table was not read at one instant, so it may hold a ring.
        for _ in 0..parents.len() {
            match parents.get(&at) {
                Some(parent) if *parent == own => return true,
                Some(parent) if *parent > 0 => at = *parent,
                Some(_) | None => return false,
            }
        }
        false
    };
    all.into_iter().filter(|process| is_below(process.pid)).collect()
}

/// Spreads what is directly known along parents, and along those sessions that `is_private` to a unit, until nothing changes.
fn attribute(
    alive: &[Process],
    is_private: impl Fn(i32, &HashMap<i32, Tag>) -> bool,
    direct: impl Fn(&Process) -> Option<Tag>,
) -> HashMap<i32, Tag> {
    let mut tags: HashMap<i32, Tag> = alive.iter().filter_map(|process| Some((process.pid, direct(process)?))).collect();
    loop {
        let sessions: HashMap<i32, Tag> = alive
            .iter()
            .filter(|process| is_private(process.session, &tags))
            .filter_map(|process| Some((process.session, tags.get(&process.pid)?.clone())))
            .collect();
        let news: Vec<(i32, Tag)> = alive
            .iter()
            .filter(|process| !tags.contains_key(&process.pid))
            .filter_map(|process| {
                let tag = tags.get(&process.parent).or_else(|| sessions.get(&process.session))?;
                Some((process.pid, tag.clone()))
            })
            .collect();
        if news.is_empty() {
            return tags;
        }
        tags.extend(news);
    }
}

/// Reaps the dead members of a process group that are our children now.
pub(crate) fn reap_group(group: i32) {
    let Some(group) = Pid::from_raw(group) else { return };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    while let Ok(Some(_)) = waitid(WaitId::Pgid(Some(group)), options) {}
}

/// Whether a process group has no member, not even a dead one.
pub(crate) fn is_group_empty(group: i32) -> bool {
    Pid::from_raw(group).is_none_or(|group| test_kill_process_group(group) == Err(Errno::SRCH))
}

fn reap(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    }
}

/// The processes anywhere on the machine that belong to the attempts `names`, for whoever comes after a crash: nobody's children here.
pub(crate) fn abandoned(work: &Path, names: &HashSet<&str>, groups: &HashMap<i32, (Tag, u64)>) -> io::Result<Vec<Found>> {
    let own = std::process::id().cast_signed();
    let alive: Vec<Process> = Process::all()?.into_iter().filter(|process| !process.zombie && process.pid != own).collect();
    let direct = |process: &Process| {
        // A group number is proof only while its leader is the recorded process, or its leader is gone.
        let leader = alive.iter().find(|other| other.pid == process.group);
        let by_group = groups
            .get(&process.group)
            .filter(|(_, ticks)| leader.map_or(process.start_ticks >= *ticks, |leader| leader.start_ticks == *ticks))
            .map(|(tag, _)| tag.clone());
        let named = |name: String| names.contains(name.as_str()).then(|| Tag::from(name));
        tag_of(process.pid, work).and_then(named).or(by_group)
    };
    // The session of the programs may be that of a person's shell: only a session that a unit itself began is a unit's.
    let tags = attribute(&alive, |session, tags| tags.contains_key(&session), direct);
    Ok(alive
        .into_iter()
        .filter_map(|process| tags.get(&process.pid).cloned().map(|tag| Found { process, tag: Some(tag) }))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32, group: i32, session: i32) -> Process {
        Process { pid, command: "sh".to_owned(), zombie: false, parent, group, session, start_ticks: 1 }
    }

    #[test]
    fn a_family_is_found_through_groups_parents_and_sessions() {
        let alive = [
            process(10, 1, 10, 5),   // the program
            process(11, 10, 10, 5),  // its child
            process(12, 11, 12, 5),  // a grandchild in a group of its own
            process(13, 12, 13, 13), // one that made a session
            process(14, 1, 14, 13),  // an orphan of that session
            process(20, 1, 20, 5),   // another unit's program
            process(30, 1, 30, 30),  // an orphan without any tie
        ];
        let direct = |process: &Process| match process.group {
            10 => Some(Tag::from("a-1")),
            20 => Some(Tag::from("b-1")),
            _ => None,
        };
        let tags = attribute(&alive, |session, _| session != 5, direct);
        let of = |pid: i32| tags.get(&pid).map(|tag| &**tag);
        assert_eq!([10, 11, 12, 13, 14].map(of), [Some("a-1"); 5]);
        assert_eq!((of(20), of(30)), (Some("b-1"), None));
    }

    #[test]
    fn descendants_end_at_rings_and_strangers() {
        let all = vec![process(2, 1, 2, 2), process(3, 2, 3, 3), process(4, 5, 4, 4), process(5, 4, 5, 5), process(6, 9, 6, 6)];
        let below: Vec<i32> = descendants(all, 1).into_iter().map(|process| process.pid).collect();
        assert_eq!(below, [2, 3]);
    }
}
