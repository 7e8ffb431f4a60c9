//! Admit: asks the gate. The answer goes to the token once every permit is given.

use std::sync::Arc;

use engine::assign;
use model::{Execution, ExecutionId, RunId, Scope, Tier, TierName, Unit, UnitName};
use serde::Deserialize;
use serde_json::{Value, json};
use tracing::warn;

use crate::{
    App, Fault,
    board::{OpenRun, TimeLimit},
    change::not_launched,
};

#[derive(Debug, Deserialize)]
pub(super) struct Payload {
    token: String,
    scope: Scope,
    run: RunId,
    item: u32,
}

impl App {
    pub(super) async fn admit(&self, payload: Payload) -> Result<Value, Fault> {
        let id = ExecutionId { run: payload.run, item: payload.item };
        let open = self.open_run(&payload.scope, id.run).await?;
        let execution = self.current(&open, id).await?;
        self.board().live(id, |live| live.token = Some(payload.token));
        if execution.state.is_terminal() {
            self.answer(id, not_launched());
        } else if execution.running().is_some() {
            self.granted(&open, &execution).await;
        } else {
            self.ask(&open, &execution).await?;
        }
        Ok(json!({}))
    }

    /// Asks the gate for an execution that waits.
    pub(crate) async fn ask(&self, open: &OpenRun, execution: &Execution) -> Result<(), Fault> {
        let unit = self.unit(&open.scope, &execution.unit, execution.revision).await?;
        let tier = self.tier(&open.scope, &execution.tier).await?;
        if let Some(limit) = unit.timeouts.waiting {
            let since = execution.resume_at.unwrap_or(execution.created_at);
            self.board().watch(limit.after(since), execution.id, TimeLimit::Waiting);
        }
        let request = assign::request(&open.run, execution, &unit, &tier, |name| self.board().limit(&open.scope, name));
        let rulings = self.board().gate().ask(request);
        self.follow(rulings);
        Ok(())
    }

    /// Tells the waiting state machine where to launch the attempt that has its permits.
    pub(crate) async fn granted(&self, open: &OpenRun, execution: &Execution) {
        let Some(attempt) = execution.running() else { return };
        let found = match self.unit(&open.scope, &execution.unit, execution.revision).await {
            Ok(unit) => self.tier(&open.scope, &execution.tier).await.map(|tier| (unit, tier)),
            Err(fault) => Err(fault),
        };
        let (unit, tier) = match found {
            Ok(found) => found,
            Err(fault) => {
                warn!(execution = %execution.id, error = %fault, "grant not told; the next tick tells it");
                self.board().live(execution.id, |live| live.ask_again = true);
                return;
            }
        };
        self.board().watch(unit.timeouts.starting.after(attempt.granted_at), execution.id, TimeLimit::Starting(attempt.number));
        let permit = json!({
            "launch": tier.launch.as_str(),
            "attempt": attempt.number,
            "seconds": longest_seconds(&unit),
            "target": (self.ports().target)(&tier),
        });
        self.answer(execution.id, permit);
    }

    /// A unit's revision, pinned by the run.
    pub(crate) async fn unit(&self, scope: &Scope, name: &UnitName, revision: u64) -> Result<Arc<Unit>, Fault> {
        if let Some(unit) = self.board().unit(scope, name, revision) {
            return Ok(unit);
        }
        let kind = model::DefinitionKind::Job;
        let revised = self.ports().registry.revision(scope, kind, name.as_str(), revision).await;
        match revised.map_err(|error| Fault::store("read the unit", error))?.content {
            model::Definition::Job(unit) => Ok(self.board().put_unit(scope, revision, *unit)),
            model::Definition::Tier(_) | model::Definition::Limit(_) => Err(Fault::internal("a unit's revision is not a unit")),
        }
    }

    /// A tier as it is now: its capacity belongs to the installation, not to the run.
    pub(crate) async fn tier(&self, scope: &Scope, name: &TierName) -> Result<Arc<Tier>, Fault> {
        if let Some(tier) = self.board().tier(scope, name) {
            return Ok(tier);
        }
        self.learn_registry(scope).await?;
        self.board().tier(scope, name).ok_or_else(|| Fault::not_found(format!("tier `{name}`")))
    }
}

/// How long the launch may take in all before the state machine gives up on it: a bound from outside for a worker that went silent,
/// generous because the worker keeps the real limit.
fn longest_seconds(unit: &Unit) -> u64 {
    const SLACK_SECONDS: u64 = 600;
    const LONGEST_SECONDS: u64 = 31_536_000;
    let timeouts = &unit.timeouts;
    let running = timeouts.running.map_or(LONGEST_SECONDS, |running| running.as_millis().div_ceil(1_000));
    let around = (timeouts.starting.as_millis() + timeouts.stopping.as_millis()).div_ceil(1_000) + SLACK_SECONDS;
    running.saturating_add(around).min(LONGEST_SECONDS)
}
