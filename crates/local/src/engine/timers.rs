//! Timers of one execution. A moment is turned into a monotonic deadline once, so that a clock that steps back delays nothing.

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use asl::TimerId;
use model::Timestamp;
use tokio::time::Instant;

#[derive(Debug, Default)]
pub(super) struct Timers {
    by_deadline: BTreeSet<(Instant, TimerId)>,
    deadlines: HashMap<TimerId, Instant>,
}

/// Beyond this, a deadline is as good as never; the runtime's clock need not hold it.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 86_400);

impl Timers {
    pub(super) fn start(&mut self, timer: TimerId, at: Timestamp, now: Timestamp) {
        let wait = Duration::try_from(at.duration_since(now)).unwrap_or(Duration::ZERO).min(LONGEST);
        let deadline = Instant::now() + wait;
        self.by_deadline.insert((deadline, timer));
        self.deadlines.insert(timer, deadline);
    }

    pub(super) fn cancel(&mut self, timer: TimerId) {
        if let Some(deadline) = self.deadlines.remove(&timer) {
            self.by_deadline.remove(&(deadline, timer));
        }
    }

    /// Waits for the next deadline; for ever where there is none.
    pub(super) async fn next(&self) {
        match self.by_deadline.first() {
            Some((deadline, _)) => tokio::time::sleep_until(*deadline).await,
            None => std::future::pending().await,
        }
    }

    /// The timers whose deadline has passed; each is given once.
    pub(super) fn due(&mut self) -> Vec<TimerId> {
        let now = Instant::now();
        let mut due = Vec::new();
        while let Some((deadline, timer)) = self.by_deadline.first().copied().filter(|(deadline, _)| *deadline <= now) {
            self.by_deadline.remove(&(deadline, timer));
            self.deadlines.remove(&timer);
            due.push(timer);
        }
        due
    }
}
