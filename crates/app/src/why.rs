//! Why something waits: every constraint at once, by the same gate that decides.

use engine::{assign, gate::Hold};
use model::{ExecutionId, PermitKey, RunId, Scope, Timestamp, UnitName};
use ports::Found;
use serde::Serialize;

use crate::{App, Fault};

/// Why one execution is where it is.
#[derive(Debug, Clone, Serialize)]
pub struct Why {
    /// The execution.
    pub execution: ExecutionId,
    /// Its unit.
    pub unit: UnitName,
    /// `waiting`, `running`, `succeeded`, …
    pub status: &'static str,
    /// All constraints that hold it, a sentence each.
    pub constraints: Vec<String>,
    /// The same as data.
    pub holds: Vec<Hold>,
    /// Who holds the slots that it waits for.
    pub holders: Vec<Holder>,
    /// Its place among those that want the same, from 1; 0 where it does not wait at the gate.
    pub place: usize,
    /// How many want the same.
    pub of: usize,
    /// Not before this instant (the pause before a retry).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_at: Option<Timestamp>,
    /// What an ended one, or its last attempt, says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Who holds a slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Holder {
    /// Of what.
    pub key: String,
    /// The holder.
    pub execution: ExecutionId,
    /// Its unit.
    pub unit: UnitName,
    /// Since when.
    pub since: Option<Timestamp>,
}

impl App {
    /// Why the execution, or each unfinished item of the run, is where it is. Works from any process: the gate is rebuilt from the store.
    ///
    /// # Errors
    /// An unknown id.
    pub async fn why(&self, scope: &Scope, named: Found) -> Result<Vec<Why>, Fault> {
        if !self.owns() {
            self.rebuild_gate(scope).await?;
        }
        match named {
            Found::Execution(id) => Ok(vec![self.why_one(scope, id).await?]),
            Found::Run(run) => self.why_run(scope, run).await,
        }
    }

    async fn why_run(&self, scope: &Scope, run: RunId) -> Result<Vec<Why>, Fault> {
        let mut all = Vec::new();
        for execution in self.run_view(scope, run).await?.executions.iter().filter(|execution| !execution.state.is_terminal()) {
            all.push(self.why_one(scope, execution.id).await?);
        }
        Ok(all)
    }

    /// Opens every unfinished run on the board and asks for everything that waits; grants are only looked at, never carried out.
    async fn rebuild_gate(&self, scope: &Scope) -> Result<(), Fault> {
        for run in self.unfinished_runs(scope).await? {
            let open = self.open_run(scope, run.id).await?;
            for execution in self.run_view(scope, run.id).await?.executions {
                if execution.state.is_terminal() || execution.running().is_some() {
                    continue;
                }
                let unit = self.unit(scope, &execution.unit, execution.revision).await?;
                let tier = self.tier(scope, &execution.tier).await?;
                let request = assign::request(&open.run, &execution, &unit, &tier, |name| self.board().limit(scope, name));
                self.board().gate().watch(request);
            }
        }
        Ok(())
    }

    async fn why_one(&self, scope: &Scope, id: ExecutionId) -> Result<Why, Fault> {
        let execution = self.execution(scope, id).await?;
        let explanation = self.board().gate().explain(id);
        let mut why = Why {
            execution: id,
            unit: execution.unit.clone(),
            status: execution.status(),
            constraints: Vec::new(),
            holds: Vec::new(),
            holders: Vec::new(),
            place: 0,
            of: 0,
            resume_at: execution.resume_at,
            message: execution.message.clone().or_else(|| execution.attempt().and_then(|attempt| attempt.message.clone())),
        };
        if let Some(at) = execution.resume_at.filter(|at| *at > self.ports().clock.now()) {
            why.constraints.push(format!(
                "pauses before attempt {} until {}",
                execution.attempts.len() + 1,
                at.strftime("%H:%M:%S")
            ));
        }
        let Some(explanation) = explanation else { return Ok(why) };
        for hold in &explanation.holds {
            why.constraints.push(sentence(hold));
            if let Hold::Slots { key, holders, .. } = hold {
                for holder in holders {
                    why.holders.push(self.holder(scope, key, *holder).await?);
                }
            }
        }
        (why.holds, why.place, why.of) = (explanation.holds, explanation.before + 1, explanation.waiting);
        Ok(why)
    }

    async fn holder(&self, scope: &Scope, key: &PermitKey, id: ExecutionId) -> Result<Holder, Fault> {
        let execution = self.execution(scope, id).await?;
        let since = execution.running().map(|attempt| attempt.granted_at);
        Ok(Holder { key: key.to_string(), execution: id, unit: execution.unit, since })
    }
}

fn sentence(hold: &Hold) -> String {
    match hold {
        Hold::Disabled { unit, why } => format!("unit {unit} is {why}"),
        Hold::Need { unit, left: 1 } => format!("needs {unit}, which has not ended"),
        Hold::Need { unit, left } => format!("needs {unit}, of which {left} items have not ended"),
        Hold::Slots { key, limit, holders } => {
            let slots = if *limit == 1 { "the one slot".to_owned() } else { format!("all {limit} slots") };
            let what = match key {
                PermitKey::Run(_) => "of this run's limit".to_owned(),
                PermitKey::Unit(unit) => format!("of unit {unit}"),
                PermitKey::UnitValue(unit, value) => format!("of unit {unit} for {value}"),
                PermitKey::Tier(tier) => format!("of tier {tier}"),
                PermitKey::Limit(name) => format!("of limit {name}"),
            };
            format!("{slots} {what} taken ({} held)", holders.len())
        }
    }
}
