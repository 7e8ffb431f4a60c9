//! Recovery at start: take up what an earlier process of this folder left.

use model::{CancelRequest, RunId, Scope};
use serde::Serialize;
use tracing::info;

use crate::{App, Fault};

/// What was taken up.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Recovered {
    /// Runs that go on.
    pub runs: Vec<RunId>,
}

impl App {
    /// Takes up every unfinished run of the scope: rebuilds the gate from the store (who holds slots first, so that nobody gets them twice), then lets
    /// the engine go on where its journal ends. Launching again what runs already is the launcher's to recognise.
    ///
    /// # Errors
    /// A store or an engine that does not answer.
    pub async fn recover(&self, scope: &Scope) -> Result<Recovered, Fault> {
        self.learn_registry(scope).await?;
        let unfinished = self.unfinished_runs(scope).await?;
        for run in &unfinished {
            self.open_run(scope, run.id).await?;
        }
        for run in &unfinished {
            info!(run_id = %run.id, "run taken up");
            self.start_machine(scope, run.id).await?;
            if let Some(CancelRequest { at, by }) = &run.cancel {
                self.cancel_items(scope, run.id, &CancelRequest { at: *at, by: by.clone() }).await?;
            }
        }
        Ok(Recovered { runs: unfinished.into_iter().map(|run| run.id).collect() })
    }
}
