//! Settle: reads the outcome, judges, frees the slots, decides on a retry.

use engine::{
    execution::{Command, Settlement},
    judge::{Failure, Judgement, Wish, judge},
    retry::{self, Next},
};
use model::{Execution, ExecutionId, ObjectKey, Outcome, Reason, RunId, Scope, Unit};
use ports::Observation;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{App, Fault, board::OpenRun};

#[derive(Debug, Deserialize)]
pub(super) struct Payload {
    scope: Scope,
    run: RunId,
    item: u32,
    turn: Turn,
}

/// What the machine knows of the turn; the record knows better, so only an error is read.
#[derive(Debug, Deserialize)]
struct Turn {
    #[serde(default)]
    error: Option<Caught>,
}

/// An error that the machine caught.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Caught {
    error: String,
    #[serde(default)]
    cause: String,
}

/// What is known of the attempt under way.
enum Evidence {
    Outcome(Box<Outcome>),
    Failure(Failure),
}

impl App {
    pub(super) async fn settle(&self, payload: Payload) -> Result<Value, Fault> {
        let id = ExecutionId { run: payload.run, item: payload.item };
        let open = self.open_run(&payload.scope, id.run).await?;
        let execution = self.current(&open, id).await?;
        let Some(attempt) = execution.running().map(|attempt| attempt.number) else {
            return self.settled_before(&open, &execution, payload.turn.error).await;
        };
        let unit = self.unit(&open.scope, &execution.unit, execution.revision).await?;
        let evidence = self.evidence(&open, &execution, attempt, payload.turn.error).await?;
        let settlement = weigh(&unit, &execution, attempt, evidence);
        let changed = self.change(&open, id, Command::Settle(Box::new(settlement))).await?;
        if changed.execution.state.is_terminal() {
            self.board().drop_record(id);
        } else {
            // Evidence stays in hand until it is written: a store that is full now must not make it lost.
            self.board().live(id, |live| live.outcome = None);
        }
        Ok(answer(&changed.execution))
    }

    /// No attempt is under way: this was settled by an earlier call, or admission itself failed.
    async fn settled_before(&self, open: &OpenRun, execution: &Execution, error: Option<Caught>) -> Result<Value, Fault> {
        let Some(caught) = error.filter(|_| !execution.state.is_terminal() && execution.resume_at.is_none()) else {
            self.carry_out_again(open, execution).await;
            return Ok(answer(execution));
        };
        let message = format!("could not be admitted: {}", words(&caught));
        let refuse = Command::Refuse { reason: Reason::Refused, message };
        Ok(answer(&self.change(open, execution.id, refuse).await?.execution))
    }

    /// Evidence in hand, then what the worker left, then what the launcher sees. An attempt that is still alive has not ended,
    /// whatever the machine thinks: an error here makes it ask again.
    async fn evidence(
        &self,
        open: &OpenRun,
        execution: &Execution,
        attempt: u32,
        error: Option<Caught>,
    ) -> Result<Evidence, Fault> {
        let in_hand = self.board().live(execution.id, |live| live.outcome.clone()).filter(|outcome| outcome.attempt == attempt);
        if let Some(outcome) = in_hand {
            return Ok(Evidence::Outcome(outcome));
        }
        let folder = ObjectKey::attempt(&open.scope, execution.id, attempt);
        if let Some(outcome) = self.stored_outcome(&folder).await? {
            return Ok(Evidence::Outcome(Box::new(outcome)));
        }
        let launcher = &self.ports().launcher;
        let observation = launcher.observe(&open.scope, execution.id, attempt).await;
        match observation.map_err(|error| Fault::launch("look at the attempt", &error))? {
            Observation::Ended(outcome) => Ok(Evidence::Outcome(outcome)),
            Observation::Lost => Ok(Evidence::Failure(lost())),
            Observation::Unknown => Ok(Evidence::Failure(error.map_or_else(lost, |caught| refusal(&caught)))),
            Observation::Starting | Observation::Running { .. } | Observation::Publishing => Err(Fault::new(
                model::Kind::Conflict,
                "E-A01",
                format!("attempt {attempt} of {} is still under way", execution.id),
            )),
        }
    }
}

fn weigh(unit: &Unit, execution: &Execution, attempt: u32, evidence: Evidence) -> Settlement {
    let (judgement, outcome) = match evidence {
        Evidence::Outcome(outcome) => (judge(unit, &outcome), Some(*outcome)),
        Evidence::Failure(failure) => (Judgement::Failure(failure), None),
    };
    let next = match &judgement {
        Judgement::Success => Next::Final { because: None },
        Judgement::Failure(failure) => {
            let mut attempts = execution.attempts.clone();
            if let Some(last) = attempts.last_mut() {
                last.reason = Some(failure.reason.clone());
            }
            retry::decide(&unit.retry, execution.id, &attempts, failure)
        }
    };
    Settlement { attempt, judgement, next, outcome }
}

fn lost() -> Failure {
    let message = "lost: nothing of it is alive and it left no outcome".to_owned();
    Failure { reason: Reason::Lost, message, wish: Wish::Open }
}

/// What a launch that never became an attempt means.
fn refusal(caught: &Caught) -> Failure {
    let (reason, message) = match caught.error.as_str() {
        "Muster.Capacity" => (Reason::Capacity, "the tier had no room".to_owned()),
        "Muster.Throttled" => (Reason::Throttled, "the tier asked to slow down".to_owned()),
        _ => (Reason::StartFailed, format!("could not be started: {}", words(caught))),
    };
    Failure { reason, message, wish: Wish::Open }
}

fn words(caught: &Caught) -> String {
    if caught.cause.is_empty() { caught.error.clone() } else { caught.cause.clone() }
}

fn answer(execution: &Execution) -> Value {
    let attempts = execution.attempt().map_or(0, |attempt| attempt.number);
    json!({
        "again": !execution.state.is_terminal(),
        "attempt": attempts + 1,
        "resumeAt": execution.resume_at.unwrap_or(execution.created_at),
        "state": execution.state,
    })
}
