//! Cancel: `cancelling` from the request on, `cancelled` once nothing of it is alive.

use engine::{
    execution::{self},
    run::{Answer, Command, decide},
};
use model::{CancelRequest, Event, EventKind, ExecutionId, RunId, Scope};
use ports::{Change, ExecutionFilter, StoreError};
use serde::Serialize;
use serde_json::json;

use crate::{App, Fault, board::OpenRun, change::Answered};

/// How often a write that somebody overtook is decided anew.
const TRIES: usize = 5;

/// What a request to cancel did.
#[derive(Debug, Clone, Serialize)]
pub struct Cancelled {
    /// The run or execution.
    pub id: String,
    /// `cancelling` for a run until it is closed; for an execution its status now.
    pub status: &'static str,
    /// How many executions have to stop.
    pub stopping: usize,
}

impl App {
    /// Asks a run to stop: no further item starts, what runs is stopped. Asking again changes nothing.
    ///
    /// # Errors
    /// An unknown run, one that has ended, a store that does not answer.
    pub async fn cancel_run(&self, scope: &Scope, run: RunId, by: &str) -> Result<Cancelled, Fault> {
        let request = CancelRequest { at: self.ports().clock.now(), by: by.to_owned() };
        self.mark_cancelled(scope, run, &request).await?;
        let stopping =
            if self.owns() { self.cancel_items(scope, run, &request).await? } else { self.under_way(scope, run).await? };
        Ok(Cancelled { id: run.to_string(), status: "cancelling", stopping })
    }

    /// Asks one execution to stop.
    ///
    /// # Errors
    /// An unknown execution, one that has ended, a store that does not answer.
    pub async fn cancel_execution(&self, scope: &Scope, id: ExecutionId, by: &str) -> Result<Cancelled, Fault> {
        let request = CancelRequest { at: self.ports().clock.now(), by: by.to_owned() };
        let open = self.open_run(scope, id.run).await?;
        let changed = self.change(&open, id, execution::Command::Cancel(request)).await?;
        match changed.answer {
            Answered::Refused(why) => Err(Fault::new(model::Kind::Conflict, "E-C01", format!("could not cancel {id}: {why}"))),
            Answered::Applied | Answered::AlreadySo | Answered::Stale => {
                let status = changed.execution.status();
                Ok(Cancelled { id: id.to_string(), status, stopping: usize::from(changed.execution.running().is_some()) })
            }
        }
    }

    async fn mark_cancelled(&self, scope: &Scope, run: RunId, request: &CancelRequest) -> Result<(), Fault> {
        for _ in 0..TRIES {
            let stored = self.load_run(scope, run).await?;
            let marked = match decide(&stored.value, &Command::Cancel(request.clone()), request.at) {
                Answer::Applied(marked) => marked,
                Answer::AlreadySo => return Ok(()),
                Answer::Refused(why) => {
                    return Err(Fault::new(model::Kind::Conflict, "E-C01", format!("could not cancel {run}: {why}")));
                }
            };
            let data = json!({ "run": run, "by": request.by });
            let correlation = &marked.correlation;
            let event =
                Event::of_change(EventKind::CancelRequested, &run.to_string(), "cancel", request.at, scope, correlation, data);
            let changes = vec![Change::UpdateRun(marked, stored.version), Change::Emit(Box::new(event.clone()))];
            match self.ports().runs.write(scope, changes).await {
                Ok(()) => {
                    self.tell(event);
                    return Ok(());
                }
                Err(StoreError::Conflict(_)) => {}
                Err(error) => return Err(Fault::store("write the request to cancel", error)),
            }
        }
        Err(Fault::store("write the request to cancel", StoreError::Conflict(format!("run {run}"))))
    }

    /// Cancels every unfinished item; says how many have to stop.
    pub(crate) async fn cancel_items(&self, scope: &Scope, run: RunId, request: &CancelRequest) -> Result<usize, Fault> {
        let open = self.open_run(scope, run).await?;
        self.board().mark_cancelled(run);
        let mut stopping = 0;
        for id in self.unfinished(scope, run).await? {
            stopping += usize::from(self.cancel_one(&open, id, request.clone()).await?);
        }
        Ok(stopping)
    }

    /// Cancels one item; true where something has to stop. Where the request was written before, the launcher is asked again.
    pub(crate) async fn cancel_one(&self, open: &OpenRun, id: ExecutionId, request: CancelRequest) -> Result<bool, Fault> {
        let changed = self.change(open, id, execution::Command::Cancel(request)).await?;
        if changed.answer == Answered::AlreadySo {
            self.stop_cancelled(open, &changed.execution);
        }
        Ok(changed.execution.running().is_some())
    }

    async fn unfinished(&self, scope: &Scope, run: RunId) -> Result<Vec<ExecutionId>, Fault> {
        let states = vec![model::ExecutionState::Created, model::ExecutionState::Started];
        let filter = ExecutionFilter { states, ..ExecutionFilter::default() };
        let left = self.ports().runs.executions(scope, run, &filter).await;
        let left = left.map_err(|error| Fault::store("read the items of the run", error))?;
        Ok(left.into_iter().map(|stored| stored.value.id).collect())
    }

    async fn under_way(&self, scope: &Scope, run: RunId) -> Result<usize, Fault> {
        self.unfinished(scope, run).await.map(|left| left.len())
    }
}
