//! The steps of `statemachines/run.asl.json`. Each may be called again with the same payload and then gives the same answer: it looks
//! at the record first.

mod admit;
mod close;
mod open;
mod settle;

use async_trait::async_trait;
use engine::assign;
use model::{Assignment, Baseline, ExecutionId, ObjectKey, Outcome, Scope};
pub(crate) use open::{execution_of, switch_words, tiers};
use ports::{ObjectError, Report, Step, StepError, Steps};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tracing::warn;

use crate::{App, Fault, board::OpenRun};

fn read<T: DeserializeOwned>(payload: Value) -> Result<T, Fault> {
    serde_json::from_value(payload)
        .map_err(|error| Fault::internal(&format!("a step got a payload that it cannot read: {error}")))
}

#[async_trait]
impl Steps for App {
    async fn call(&self, step: Step, payload: Value) -> Result<Value, StepError> {
        let answer = match step {
            Step::Open => self.open(read(payload)?).await,
            Step::Admit => self.admit(read(payload)?).await,
            Step::Settle => self.settle(read(payload)?).await,
            Step::Close => self.close(read(payload)?).await,
        };
        answer.map_err(StepError::from)
    }

    async fn assignment(&self, scope: &Scope, execution: ExecutionId, attempt: u32) -> Result<Assignment, StepError> {
        let open = self.open_run(scope, execution.run).await?;
        let stored = self.current(&open, execution).await?;
        let Some(running) = stored.running().filter(|running| running.number == attempt) else {
            let cause = format!("attempt {attempt} of {execution} is over");
            return Err(StepError { error: "Muster.Stale".to_owned(), cause });
        };
        let unit = self.unit(scope, &stored.unit, stored.revision).await?;
        let tier = self.tier(scope, &stored.tier).await?;
        let baselines = self.baselines(&open, &stored).await?;
        Ok(assign::assignment(&open.run, &stored, running.number, &unit, &tier, baselines))
    }

    async fn observe(&self, report: &Report) -> Result<(), StepError> {
        self.observed(report);
        Ok(())
    }
}

impl App {
    /// The execution as it is now, from the board or the store.
    pub(crate) async fn current(&self, open: &OpenRun, id: ExecutionId) -> Result<model::Execution, Fault> {
        let record = self.board().record(id);
        let mut held = record.lock().await;
        let stored = match held.take() {
            Some(stored) => stored,
            None => self.load(&open.scope, id).await?,
        };
        let execution = stored.value.clone();
        *held = Some(stored);
        Ok(execution)
    }

    /// The signals documents of the last accepted run that is comparable.
    async fn baselines(&self, open: &OpenRun, execution: &model::Execution) -> Result<Vec<Baseline>, Fault> {
        let Some((accepted, attempt)) = open.baselines.get(&execution.id.item) else { return Ok(Vec::new()) };
        let outcome = self.stored_outcome(&ObjectKey::attempt(&open.scope, *accepted, *attempt)).await?;
        let artifacts = outcome.map(|outcome| outcome.artifacts).unwrap_or_default();
        Ok(artifacts.into_iter().map(|artifact| Baseline { path: artifact.path, key: artifact.signals }).collect())
    }

    /// The outcome that a worker left. A store that does not answer is no absence: only a missing object is.
    pub(crate) async fn stored_outcome(&self, attempt: &ObjectKey) -> Result<Option<Outcome>, Fault> {
        let content = match self.ports().objects.get(&attempt.outcome()).await {
            Ok(content) => content,
            Err(ObjectError::NotFound(_)) => return Ok(None),
            Err(error) => return Err(Fault::object("read an outcome", &error)),
        };
        match serde_json::from_slice(&content) {
            Ok(outcome) => Ok(Some(outcome)),
            Err(error) => {
                warn!(%attempt, %error, "outcome cannot be read");
                Ok(None)
            }
        }
    }
}
