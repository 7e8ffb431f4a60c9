//! Reports of a launcher.

use model::Outcome;
use ports::{Observation, Report};

use crate::{App, Fault};

impl App {
    /// Takes note of what a launcher saw of an attempt. Twice, late and out of order are all the same: evidence waits for Settle, and that
    /// the program runs is written by the next tick unless it has ended by then.
    ///
    /// # Errors
    /// None today; the answer of a store that must be asked would come here.
    pub fn observed(&self, report: &Report) -> Result<(), Fault> {
        let Report { execution, attempt, observation, .. } = report;
        match observation {
            Observation::Running { process, started_at } => {
                self.board().live(*execution, |live| live.seen = Some((*attempt, process.clone(), *started_at)));
            }
            Observation::Ended(outcome) => self.keep_outcome(outcome),
            Observation::Starting | Observation::Publishing | Observation::Unknown | Observation::Lost => {}
        }
        Ok(())
    }

    pub(crate) fn keep_outcome(&self, outcome: &Outcome) {
        self.board().live(outcome.execution, |live| {
            live.seen = None;
            live.outcome = Some(Box::new(outcome.clone()));
        });
    }
}
