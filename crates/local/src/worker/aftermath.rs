//! After the program is gone: its exit facts, its last words, and what it left alive.

use std::{collections::BTreeMap, io, rc::Rc, time::Duration};

use model::{Assignment, ByteSize, Ended, MemoryEvidence, Outcome, ProcessIdentity, Span, StopCause, Stray, Timestamp, Usage};
use rustix::{
    io::Errno,
    process::{Pid, Signal, kill_process_group},
};
use tokio::time::Instant;

use super::{
    Worker,
    cgroup::Group,
    memory,
    process::Process,
    running::{Running, Stopping},
    strays::{self, Tag},
    workspace::Workspace,
};

/// How a program ended.
pub(super) struct Gone {
    pub(super) ended: Ended,
    pub(super) usage: Usage,
    pub(super) stopped: Option<StopCause>,
    pub(super) strays: Vec<Stray>,
    /// Nothing of it can be alive.
    pub(super) nothing_left: bool,
}

/// A program that was started and cannot be followed.
pub(super) struct Unwatched {
    pub(super) tag: Tag,
    pub(super) identity: ProcessIdentity,
    pub(super) group: Pid,
    pub(super) started_at: Timestamp,
    pub(super) cgroup: Option<Group>,
    pub(super) problems: Vec<String>,
}

/// After such a time, a look at all processes costs little beside the run itself.
const LONG_RUN: Duration = Duration::from_secs(1);
/// So long children may take to end with their program.
const ENDING: Duration = Duration::from_millis(200);
/// How long killing is tried.
const UNKILLABLE: Duration = Duration::from_secs(5);
/// The most strays named in an outcome.
const MOST_STRAYS: usize = 100;

impl Worker {
    /// After the program itself is gone: reaps it, ends what it left alive, reads its last words.
    pub(super) async fn bury(
        &self,
        running: &mut Running,
        stopped: Option<Stopping>,
        grace: Span,
        workspace: &Workspace,
    ) -> Gone {
        let pid = running.identity.pid;
        let reaped = wait4::try_wait4_pid(pid.cast_unsigned());
        self.children.borrow_mut().forget(pid);
        let (ended, usage) = match reaped {
            Ok(Some(reaped)) => (ended(reaped.status), usage(&reaped.rusage)),
            Ok(None) | Err(_) => (Ended::Unseen, Usage::default()),
        };
        let graced = stopped.as_ref().map(|stopping| stopping.kill_at.min(Instant::now() + grace.duration()));
        let (strays, nothing_left) = self.end_strays(running, graced, workspace).await;
        Gone { ended, usage, stopped: stopped.map(|stopping| stopping.cause), strays, nothing_left }
    }

    /// Ends a program that cannot be followed, with all its family. What it did meanwhile nobody saw: `bare` says no more than that.
    pub(super) async fn end_unwatched(&self, unwatched: Unwatched, bare: Outcome) -> Outcome {
        let Unwatched { tag, identity, group, started_at, cgroup, mut problems } = unwatched;
        let give_up = Instant::now() + UNKILLABLE;
        let mut pause = Duration::from_millis(1);
        let (mut reaped, mut is_main_gone) = (None, false);
        loop {
            cgroup.iter().for_each(|cgroup| drop(cgroup.kill()));
            if !is_main_gone {
                // Its number stays its own until it is reaped.
                let _ = kill_process_group(group, Signal::KILL);
                reaped = wait4::try_wait4_pid(identity.pid.cast_unsigned()).transpose().and_then(Result::ok);
                is_main_gone = reaped.is_some();
            }
            let family = self.family(&identity, &tag).unwrap_or_default();
            family.iter().for_each(|process| drop(process.signal(Signal::KILL)));
            if is_main_gone && family.is_empty() {
                break;
            }
            if Instant::now() >= give_up {
                problems.push("something of the program could not be ended; it may still run".to_owned());
                break;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(100));
        }
        self.children.borrow_mut().forget(identity.pid);
        let usage = reaped.map(|reaped| usage(&reaped.rusage));
        Outcome { process: Some(identity), started_at: Some(started_at), usage, problems, ..bare }
    }

    /// Whether, as far as cheap signs tell, nothing of the attempt is alive: its group is empty, its fence is free, nobody holds its pipes.
    fn looks_gone(&self, running: &mut Running, workspace: &Workspace) -> bool {
        let group = running.identity.pid;
        let is_empty = || {
            strays::is_group_empty(group) || {
                strays::reap_group(group);
                strays::is_group_empty(group)
            }
        };
        if !running.capture.drain() || !is_empty() || workspace.is_fenced() {
            return false;
        }
        // With no other program under way, having no child at all is proof. A long run is worth the look that costs as much as
        // a short one; what else escapes is found by the next sweep.
        if self.children.borrow().running() == 0 { self.is_childless() } else { running.since.elapsed() < LONG_RUN }
    }

    /// Ends what the program left alive. Where it was stopped, others of its family have the rest of the grace too.
    async fn end_strays(&self, running: &mut Running, graced: Option<Instant>, workspace: &Workspace) -> (Vec<Stray>, bool) {
        // Children that end together with the program are seen for a moment longer.
        let patience = graced.unwrap_or_else(|| Instant::now() + ENDING);
        let mut pause = Duration::from_millis(1);
        loop {
            if self.looks_gone(running, workspace) {
                return (Vec::new(), true);
            }
            let family = self.family(&running.identity, &running.tag);
            if family.as_ref().is_ok_and(Vec::is_empty) && running.capture.has_ended() && !workspace.is_fenced() {
                return (Vec::new(), true);
            }
            if Instant::now() >= patience {
                break;
            }
            tokio::time::sleep(pause.min(patience - Instant::now())).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
        self.kill_family(running, workspace).await
    }

    /// Kills whatever is found until nothing is, and names it.
    async fn kill_family(&self, running: &mut Running, workspace: &Workspace) -> (Vec<Stray>, bool) {
        let mut named: BTreeMap<(i32, u64), Stray> = BTreeMap::new();
        let give_up = Instant::now() + UNKILLABLE;
        let mut pause = Duration::from_millis(1);
        let nothing_left = loop {
            let family = match self.family(&running.identity, &running.tag) {
                Ok(family) => family,
                Err(error) => {
                    running.problems.push(format!("processes left behind could not be looked for: {error}"));
                    break false;
                }
            };
            for process in &family {
                let fate = match process.signal(Signal::KILL) {
                    Ok(()) => "killed".to_owned(),
                    // It ended by itself after the look.
                    Err(error) if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => continue,
                    Err(error) => format!("could not be killed: {error}"),
                };
                let stray = Stray { pid: process.pid, command: process.command.clone(), fate };
                if named.len() < MOST_STRAYS {
                    named.insert((process.pid, process.start_ticks), stray);
                }
            }
            // What was forked since the look dies with its group.
            let _ = kill_process_group(running.group, Signal::KILL);
            if let Some(cgroup) = &running.cgroup {
                drop(cgroup.kill());
            }
            let ended = running.capture.drain();
            if family.is_empty() && ended && !workspace.is_fenced() {
                break true;
            }
            if Instant::now() >= give_up {
                for process in &family {
                    let stray = named.get_mut(&(process.pid, process.start_ticks));
                    stray.into_iter().for_each(|stray| "could not be killed: it did not end".clone_into(&mut stray.fate));
                }
                break false;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(100));
        };
        if !nothing_left {
            let sentence = "something that the program left could not be found or ended; it may still run";
            running.problems.push(sentence.to_owned());
        }
        (named.into_values().collect(), nothing_left)
    }

    /// The living processes of the attempt, the program itself excluded.
    pub(super) fn family(&self, program: &ProcessIdentity, tag: &Tag) -> io::Result<Vec<Process>> {
        let main = program.pid;
        let ended = [(main, Rc::clone(tag))];
        let found = self.children.borrow_mut().look(&self.work, &ended)?;
        let own = |found: &strays::Found| found.process.pid != main && found.tag.as_ref() == Some(tag);
        // An orphan without any tie is this attempt's where no other program could have started it.
        let alone = self.children.borrow().running() == 0 && self.in_hand.borrow().len() == 1;
        let family = found.into_iter().filter(|found| own(found) || (alone && found.tag.is_none()));
        Ok(family.map(|found| found.process).collect())
    }
}

impl Running {
    /// Evidence, where the program was killed and nobody of ours did it.
    pub(super) fn out_of_memory(&self, gone: &Gone, assignment: &Assignment) -> Option<MemoryEvidence> {
        let by_cgroup = self.cgroup.as_ref().and_then(Group::out_of_memory);
        let killed = matches!(gone.ended, Ended::Killed { signal: 9, .. }) && gone.stopped.is_none();
        by_cgroup.or_else(|| if killed { memory::evidence(&self.identity) } else { None }).map(|evidence| MemoryEvidence {
            limit: evidence.limit.or(assignment.resources.memory),
            peak: evidence.peak.or(Some(ByteSize::from_bytes(gone.usage.peak_rss))),
            ..evidence
        })
    }
}

fn ended(status: std::process::ExitStatus) -> Ended {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exited { code: u8::try_from(code & 0xff).expect("it was cut to eight bits") },
        (None, Some(signal)) => Ended::Killed { signal, core: status.core_dumped() },
        (None, None) => Ended::Unseen,
    }
}

fn usage(usage: &wait4::ResourceUsage) -> Usage {
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    Usage { user_micros: micros(usage.utime), system_micros: micros(usage.stime), peak_rss: usage.maxrss }
}
