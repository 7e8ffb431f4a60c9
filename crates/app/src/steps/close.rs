//! Close: totals, verdict, run state.

use engine::{
    execution,
    run::{Answer, Command, decide},
};
use model::{Event, EventKind, Reason, Run, RunId, Scope, Totals, Verdict};
use ports::{Change, ExecutionFilter, StoreError};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{App, Fault};

#[derive(Debug, Deserialize)]
pub(super) struct Payload {
    scope: Scope,
    run: RunId,
    #[serde(default)]
    error: Option<Caught>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Caught {
    error: String,
    #[serde(default)]
    cause: String,
}

impl App {
    pub(super) async fn close(&self, payload: Payload) -> Result<Value, Fault> {
        let Payload { scope, run, error } = payload;
        let broken = error.map(|caught| if caught.cause.is_empty() { caught.error } else { caught.cause });
        self.close_run(&scope, run, broken).await
    }

    /// Closes a run all of whose items have ended; `broken` says why the others never will.
    pub(crate) async fn close_run(&self, scope: &Scope, run: RunId, broken: Option<String>) -> Result<Value, Fault> {
        if let Some(why) = &broken {
            self.refuse_the_rest(scope, run, why).await?;
        }
        let (totals, verdict) = self.totals(scope, run).await?;
        if totals.started > 0 {
            return Err(Fault::new(
                model::Kind::Conflict,
                "E-A02",
                format!("{} items of {run} are still under way", totals.started),
            ));
        }
        let stored = self.load_run(scope, run).await?;
        let now = self.ports().clock.now();
        match decide(&stored.value, &Command::Close { totals, verdict, broken }, now) {
            Answer::Applied(closed) => {
                let event = ended(&closed);
                let changes = vec![Change::UpdateRun(closed.clone(), stored.version), Change::Emit(Box::new(event))];
                match self.ports().runs.write(scope, changes).await {
                    Ok(()) => Ok(self.closed(&closed)),
                    Err(StoreError::Conflict(_)) => {
                        Err(Fault::new(model::Kind::Conflict, "E-A02", format!("{run} changed meanwhile")))
                    }
                    Err(error) => Err(Fault::store("close the run", error)),
                }
            }
            // Closed by an earlier call, whose answer may have been lost.
            Answer::AlreadySo => Ok(self.closed(&stored.value)),
            Answer::Refused(why) => Err(Fault::new(model::Kind::Conflict, "E-A02", format!("{run} is not closed: {why}"))),
        }
    }

    /// Takes a closed run off the board and tells whoever listens.
    fn closed(&self, run: &Run) -> Value {
        self.board().close(run.id);
        self.tell(ended(run));
        json!({ "state": run.state, "totals": run.totals })
    }

    /// The machine broke: what still waits will never be admitted.
    async fn refuse_the_rest(&self, scope: &Scope, run: RunId, why: &str) -> Result<(), Fault> {
        let open = self.open_run(scope, run).await?;
        let states = vec![model::ExecutionState::Created, model::ExecutionState::Started];
        let filter = ExecutionFilter { states, ..ExecutionFilter::default() };
        let left = self.ports().runs.executions(scope, run, &filter).await;
        for stored in left.map_err(|error| Fault::store("read the items of the run", error))? {
            let message = format!("the run broke: {why}");
            let refuse = execution::Command::Refuse { reason: Reason::Refused, message };
            self.change(&open, stored.value.id, refuse).await?;
        }
        Ok(())
    }

    /// Counts by state and the worst verdict.
    pub(crate) async fn totals(&self, scope: &Scope, run: RunId) -> Result<(Totals, Option<Verdict>), Fault> {
        let executions = self.ports().runs.executions(scope, run, &ExecutionFilter::default()).await;
        let executions = executions.map_err(|error| Fault::store("read the items of the run", error))?;
        let mut totals = Totals::default();
        executions.iter().for_each(|stored| totals.add(&stored.value));
        Ok((totals, executions.iter().filter_map(|stored| stored.value.verdict).max()))
    }
}

/// The event of a run's end: the same however often it is made.
fn ended(run: &Run) -> Event {
    let data = json!({
        "run": run.id, "state": run.state, "totals": run.totals, "verdict": run.verdict, "message": run.message,
    });
    let time = run.ended_at.unwrap_or(run.created_at);
    Event::of_change(EventKind::RunEnded, &run.id.to_string(), "ended", time, &run.scope, &run.correlation, data)
}
