//! Reports of a launcher.

use model::Outcome;
use ports::{Observation, Report};

use crate::{App, board::Seen};

impl App {
    /// Takes note of what a launcher saw of an attempt. Twice, late and out of order are all the same: evidence waits for Settle, and that
    /// the program runs or publishes is written by the next tick unless it has ended by then. Of a run that is not in hand nothing is kept.
    pub fn observed(&self, report: &Report) {
        let Report { execution, attempt, observation, .. } = report;
        if self.board().run(execution.run).is_none() {
            return;
        }
        match observation {
            Observation::Running { process, started_at } => {
                let seen = Seen::Running { attempt: *attempt, process: process.clone(), started_at: *started_at };
                self.board().live(*execution, |live| live.seen = Some(seen));
            }
            Observation::Publishing => self.board().live(*execution, |live| {
                // A start that nobody wrote yet says more.
                live.seen.get_or_insert(Seen::Publishing { attempt: *attempt });
            }),
            Observation::Ended(outcome) => self.keep_outcome(outcome),
            Observation::Starting | Observation::Unknown | Observation::Lost => {}
        }
    }

    pub(crate) fn keep_outcome(&self, outcome: &Outcome) {
        self.board().live(outcome.execution, |live| {
            live.seen = None;
            live.outcome = Some(Box::new(outcome.clone()));
        });
    }
}
