//! Carries out one attempt as a local process: the worker contract.
//!
//! What a unit gets: its arguments byte for byte, a clean folder, an allow-list of variables, its own process group, a log of both streams, a
//! time limit kept from outside. What it leaves: published artifacts, and [`Outcome`], the evidence of how it ended.
//!
//! Start at [`Worker::carry_out`]. A worker belongs to one thread: programs are started from it one after the other.

mod aftermath;
mod attempt;
mod capture;
mod cgroup;
mod charge;
mod environment;
mod glob;
mod launch;
mod limits;
mod lines;
mod log;
mod mask;
mod memory;
mod output;
mod process;
mod program;
mod publish;
mod running;
mod stop;
mod strays;
mod workspace;

#[cfg(test)]
mod tests;

use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap, HashSet},
    io,
    path::PathBuf,
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use model::{Assignment, ExecutionId, ObjectKey, Outcome, Scope};
use ports::{Clock, Objects, Secrets};
use rustix::process::{Signal, getpid, set_child_subreaper};
use tokio::sync::Semaphore;
use tracing::warn;

pub use attempt::{Carried, Order};
pub use charge::Charge;
pub use environment::ALWAYS as PASSED_VARIABLES;
pub use limits::enforcement;
pub use stop::StopOrder;
pub use workspace::Recorded;

use crate::outcomes::{Outcomes, Standing};
use capture::Scratch;
pub(crate) use launch::remember_open_files;
pub(crate) use publish::chain;
use strays::{Children, Tag};
use workspace::Workspaces;

/// What a worker needs from the world.
#[derive(Clone)]
pub struct Ports {
    /// Where artifacts go and baselines come from: the objects folder of the same home.
    pub objects: Arc<dyn Objects>,
    /// Where the units' secrets are.
    pub secrets: Arc<dyn Secrets>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
}

/// How many outputs are judged and published at once.
const PUBLISHERS: usize = 4;

/// Carries out attempts in one home. Not for several threads; needs a tokio runtime that runs local tasks.
pub struct Worker {
    objects_folder: PathBuf,
    work: PathBuf,
    /// What the names of this home's control groups begin with.
    group_prefix: String,
    workspaces: RefCell<Workspaces>,
    outcomes: RefCell<Outcomes>,
    children: RefCell<Children>,
    start: launch::Start,
    /// Attempts that this process carries out now.
    in_hand: RefCell<HashSet<Tag>>,
    ports: Ports,
    boot: String,
    scratch: Rc<RefCell<Scratch>>,
    publishers: Semaphore,
    _charge: Charge,
}

/// What a former process left of an attempt.
#[derive(Debug, Clone, PartialEq)]
pub enum Remains {
    /// The attempt was never claimed here.
    Nothing,
    /// It ended and its outcome can be read.
    Outcome(Box<Outcome>),
    /// Something of it is alive; what was recorded of its program, where that can be read.
    Alive(Option<Recorded>),
    /// It was claimed, nothing of it is alive, and there is no outcome.
    Lost,
}

impl Worker {
    /// A worker of the home that this process is in charge of; the process becomes the parent of its units' orphans.
    ///
    /// # Errors
    /// The system's word, where the home cannot be used.
    pub fn new(charge: Charge, ports: Ports) -> io::Result<Worker> {
        set_child_subreaper(Some(getpid()))?;
        let home = charge.home();
        let workspaces = Workspaces::open(&home.join("work"))?;
        Ok(Worker {
            objects_folder: home.join("objects"),
            group_prefix: cgroup::prefix(workspaces.path()),
            work: workspaces.path().to_owned(),
            workspaces: RefCell::new(workspaces),
            outcomes: RefCell::new(Outcomes::open(&home.join("objects"))?),
            children: RefCell::new(Children::new()?),
            start: launch::start,
            in_hand: RefCell::new(HashSet::new()),
            ports,
            boot: process::boot_id()?,
            scratch: Scratch::new(),
            publishers: Semaphore::new(PUBLISHERS),
            _charge: charge,
        })
    }

    /// Ends what a former process left behind: kills every process of every claimed attempt and removes their folders. For the
    /// one process that has the home, before it carries out anything. Gives how many attempts were left.
    ///
    /// # Errors
    /// The system's word, where the folders or the processes cannot be looked at.
    pub async fn recover(&self) -> io::Result<usize> {
        let (names, rubbish) = self.workspaces.borrow().leftovers()?;
        rubbish.into_iter().for_each(remove_later);
        if let Some(delegated) = cgroup::delegated() {
            self.remove_groups(delegated).await;
        }
        if names.is_empty() {
            return Ok(0);
        }
        let wanted: HashSet<&str> = names.iter().map(String::as_str).collect();
        let recorded = |name: &String| {
            let Recorded { identity, .. } = self.workspaces.borrow().recorded(name)?;
            if identity.boot != self.boot {
                return None;
            }
            Some((identity.pid, (Tag::from(name.as_str()), identity.start_ticks)))
        };
        let groups: HashMap<i32, (Tag, u64)> = names.iter().filter_map(recorded).collect();
        for round in 0..12_u32 {
            let found = strays::abandoned(&self.work, &wanted, &groups)?;
            if found.is_empty() {
                break;
            }
            for stray in &found {
                warn!(pid = stray.process.pid, command = %stray.process.command, attempt = ?stray.tag, "ended what a former shim left");
                drop(stray.process.signal(Signal::KILL));
            }
            tokio::time::sleep(Duration::from_millis(1 << round.min(9))).await;
        }
        for name in &names {
            if self.workspaces.borrow().is_fenced(name) {
                warn!(attempt = %name, "something of an attempt of a former shim holds its fence and could not be found");
                continue;
            }
            let gone = self.workspaces.borrow_mut().unclaim(name)?;
            remove_later(gone);
        }
        Ok(names.len())
    }

    /// Removes the control groups that a former process left, with all that is in them. One that stays harms nobody: it is looked for again.
    async fn remove_groups(&self, delegated: &cgroup::Delegated) {
        let mut groups = match delegated.leftovers(&self.group_prefix) {
            Ok(groups) => groups,
            Err(error) => {
                warn!(%error, "could not look for control groups that a former shim left");
                return;
            }
        };
        for round in 0..10_u32 {
            groups.iter().for_each(|group| drop(group.kill()));
            groups.retain(|group| !group.remove());
            if groups.is_empty() {
                return;
            }
            // What was killed leaves its group a moment later.
            tokio::time::sleep(Duration::from_millis(1 << round)).await;
        }
        warn!(groups = groups.len(), "control groups that a former shim left could not be removed");
    }

    /// What can be seen of an attempt that this process does not carry out.
    ///
    /// # Errors
    /// The system's word, where what became of it cannot be looked up: then nothing is known, not even that it is lost.
    pub fn remains(&self, scope: &Scope, execution: ExecutionId, attempt: u32) -> io::Result<Remains> {
        let key = ObjectKey::attempt(scope, execution, attempt);
        match self.outcomes.borrow_mut().find(&key)? {
            (Standing::Unknown, _) => return Ok(Remains::Nothing),
            (Standing::Ended, Some(outcome)) => return Ok(Remains::Outcome(Box::new(outcome))),
            (Standing::Claimed | Standing::Ended, _) => {}
        }
        let name = attempt::tag(execution, attempt);
        let workspaces = self.workspaces.borrow();
        let alive = workspaces.recorded(&name).filter(|recorded| process::is_alive(&recorded.identity, &self.boot));
        if alive.is_some() || workspaces.is_fenced(&name) {
            return Ok(Remains::Alive(alive));
        }
        Ok(Remains::Lost)
    }

    /// Looks for processes that outlived their attempt unseen, and kills them; reaps dead orphans. Gives how many were killed.
    ///
    /// # Errors
    /// The system's word, where the processes cannot be listed.
    pub fn sweep(&self) -> io::Result<usize> {
        let found = self.children.borrow_mut().look(&self.work, &[])?;
        let oldest = self.children.borrow().oldest();
        let in_hand = self.in_hand.borrow();
        let outlived = found.into_iter().filter(|found| match &found.tag {
            Some(tag) => !in_hand.contains(tag),
            // Nobody's child: it goes once no program under way is old enough to have started it.
            None => {
                oldest.is_none_or(|oldest| oldest > found.process.start_ticks) && in_hand.is_empty()
                    || oldest.is_some_and(|oldest| oldest > found.process.start_ticks)
            }
        });
        let mut killed = 0;
        for stray in outlived {
            warn!(pid = stray.process.pid, command = %stray.process.command, attempt = ?stray.tag, "killed a process that outlived its attempt");
            drop(stray.process.signal(Signal::KILL));
            killed += 1;
        }
        Ok(killed)
    }

    /// Whether this process has no child at all.
    pub fn is_childless(&self) -> bool {
        self.children.borrow().is_childless()
    }

    /// The file of an object.
    fn file(&self, key: &ObjectKey) -> PathBuf {
        self.objects_folder.join(key.as_str())
    }
}

/// Removes a folder on a thread where that may take long.
fn remove_later(path: PathBuf) {
    tokio::task::spawn_blocking(move || {
        if let Err(error) = workspace::remove(&path) {
            warn!(path = %path.display(), %error, "could not remove a work folder");
        }
    });
}

/// The variables that an assignment takes from the environment of whoever starts it.
pub fn passed(assignment: &Assignment, environment: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let names = PASSED_VARIABLES.into_iter().chain(assignment.pass_environment.iter().map(String::as_str));
    names.filter_map(|name| Some((name.to_owned(), environment.get(name)?.clone()))).collect()
}
