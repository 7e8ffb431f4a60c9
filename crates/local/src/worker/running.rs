//! A program under way: followed to its end, stopped at its limit or on an order.

use std::os::fd::OwnedFd;

use model::{Assignment, ProcessIdentity, StopCause, Timestamp};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{io::unix::AsyncFd, time::Instant};

use super::{Worker, capture::Capture, cgroup::Group, stop::StopOrder, strays::Tag};

/// A program under way, and all that is known of it so far.
pub(super) struct Running {
    pub(super) tag: Tag,
    pub(super) identity: ProcessIdentity,
    pub(super) group: Pid,
    pub(super) started_at: Timestamp,
    pub(super) since: Instant,
    pub(super) exit: AsyncFd<OwnedFd>,
    pub(super) capture: Capture,
    pub(super) cgroup: Option<Group>,
    pub(super) problems: Vec<String>,
}

/// A program that was told to stop.
pub(super) struct Stopping {
    pub(super) cause: StopCause,
    pub(super) kill_at: Instant,
}

impl Running {
    /// Waits for the program's end, reading what it writes; stops it at its time limit and on an order.
    pub(super) async fn until_gone(&mut self, assignment: &Assignment, stop: &StopOrder, worker: &Worker) -> Option<Stopping> {
        let limit = assignment.running.map(|limit| (self.since + limit.duration(), limit));
        let mut stopping: Option<Stopping> = None;
        let mut killed = false;
        loop {
            let wake = match &stopping {
                None => limit.map(|(at, _)| at),
                Some(stopping) => (!killed).then_some(stopping.kill_at),
            };
            tokio::select! {
                biased;
                gone = self.exit.readable() => {
                    drop(gone);
                    return stopping;
                }
                () = at(wake) => match (&stopping, limit) {
                    (None, Some((_, limit))) => stopping = Some(self.ask_to_stop(StopCause::TimedOut { limit }, assignment, worker)),
                    (None, None) => {}
                    (Some(_), _) => {
                        killed = true;
                        self.kill(worker);
                    }
                },
                cause = stop.wait(), if stopping.is_none() => stopping = Some(self.ask_to_stop(cause, assignment, worker)),
                () = self.capture.pump() => {}
            }
        }
    }

    fn ask_to_stop(&self, cause: StopCause, assignment: &Assignment, worker: &Worker) -> Stopping {
        self.signal_all(Signal::TERM, worker);
        // A program that was halted cannot hear the order.
        self.signal_all(Signal::CONT, worker);
        Stopping { cause, kill_at: Instant::now() + assignment.stopping.duration() }
    }

    fn kill(&self, worker: &Worker) {
        if let Some(cgroup) = &self.cgroup {
            drop(cgroup.kill());
        }
        self.signal_all(Signal::KILL, worker);
    }

    /// Signals the group and whoever left it.
    fn signal_all(&self, signal: Signal, worker: &Worker) {
        let _ = kill_process_group(self.group, signal);
        for process in worker.family(&self.identity, &self.tag).unwrap_or_default() {
            if process.group != self.identity.pid {
                drop(process.signal(signal));
            }
        }
    }
}

async fn at(when: Option<Instant>) {
    match when {
        Some(when) => tokio::time::sleep_until(when).await,
        None => std::future::pending().await,
    }
}
