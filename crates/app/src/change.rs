//! One way to change an execution: load, decide, write with conditions, then carry the effects out.

use std::task::Poll;

use engine::{
    execution::{self, Answer, Command, Effect},
    gate::{Decision, ItemEnd, Ruling},
};
use model::{Event, EventKind, Execution, ExecutionId, Permits, Reason, Scope, StopCause};
use ports::{Change, StepError, StoreError, Stored};
use serde_json::{Value, json};
use tracing::{debug, error, warn};

use crate::{App, Fault, board::OpenRun, fault::chain};

/// How often a write that somebody overtook is decided anew.
const TRIES: usize = 5;

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Changed {
    /// The execution now.
    pub execution: Execution,
    /// The answer to the command.
    pub answer: Answered,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answered {
    Applied,
    AlreadySo,
    Stale,
    Refused(&'static str),
}

impl App {
    /// Does `command` to an execution; durable when this returns. Its effects are carried out.
    pub(crate) async fn change(&self, open: &OpenRun, id: ExecutionId, command: Command) -> Result<Changed, Fault> {
        let record = self.board().record(id);
        let mut held = record.lock().await;
        for _ in 0..TRIES {
            let stored = match held.take() {
                Some(stored) => stored,
                None => self.load(&open.scope, id).await?,
            };
            let now = self.ports().clock.now();
            let (next, effects) = match execution::decide(&stored.value, &command, now) {
                Answer::Applied(next, effects) => (*next, effects),
                Answer::AlreadySo => {
                    let kept = keep(&mut held, stored, Answered::AlreadySo);
                    drop(held);
                    self.carry_out_again(open, &kept.execution).await;
                    return Ok(kept);
                }
                Answer::Stale => {
                    debug!(execution = %id, "late report kept out");
                    return Ok(keep(&mut held, stored, Answered::Stale));
                }
                Answer::Refused(why) => return Ok(keep(&mut held, stored, Answered::Refused(why))),
            };
            let event = event_of(open, &next, &command, now);
            let changes = changes_of(&stored, &next, &effects, event.clone());
            match self.write_releasing(open, &next, &effects, changes).await {
                Ok(()) => {
                    *held = Some(Stored { value: next.clone(), version: stored.version + 1 });
                    drop(held);
                    self.carry_out(open, &next, effects);
                    event.into_iter().for_each(|event| self.tell(event));
                    return Ok(Changed { execution: next, answer: Answered::Applied });
                }
                Err(StoreError::Conflict(what)) => debug!(execution = %id, what, "overtaken; deciding anew"),
                // Whether it was written is not known: the next look reads the store.
                Err(error) => return Err(Fault::store("write the execution", error)),
            }
        }
        Err(Fault::store("write the execution", StoreError::Conflict(format!("execution {id}"))))
    }

    /// Queues the write and lets the gate have the slots that it frees at once: whoever gets them is written behind it, so with it or after
    /// it, and on condition that they are free. Everything else waits until the write is durable.
    async fn write_releasing(
        &self,
        open: &OpenRun,
        next: &Execution,
        effects: &[Effect],
        changes: Vec<Change>,
    ) -> Result<(), StoreError> {
        let mut write = self.ports().runs.write(&open.scope, changes);
        let queued = std::future::poll_fn(|context| Poll::Ready(write.as_mut().poll(context))).await;
        let freed = effects.iter().find_map(|effect| match effect {
            Effect::FreeSlots(permits) if !permits.is_empty() => Some(permits),
            Effect::FreeSlots(_) | Effect::Stop { .. } | Effect::Ended | Effect::Resume { .. } => None,
        });
        let written = match (queued, freed) {
            (Poll::Ready(written), _) => return written,
            (Poll::Pending, None) => return write.await,
            (Poll::Pending, Some(_)) => {
                let rulings = self.board().gate().release(next.id, None);
                self.follow(rulings);
                write.await
            }
        };
        if let (Err(_), Some(permits)) = (&written, freed) {
            self.board().gate().occupy(next.id, permits);
        }
        written
    }

    pub(crate) async fn load(&self, scope: &Scope, id: ExecutionId) -> Result<Stored<Execution>, Fault> {
        self.ports().runs.execution(scope, id).await.map_err(|error| match error {
            StoreError::NotFound => Fault::not_found(format!("execution {id}")),
            other => Fault::store("read the execution", other),
        })
    }

    fn carry_out(&self, open: &OpenRun, execution: &Execution, effects: Vec<Effect>) {
        let ends = effects.contains(&Effect::Ended).then_some(ItemEnd { state: execution.state, verdict: execution.verdict });
        let mut rulings = Vec::new();
        for effect in effects {
            match effect {
                Effect::FreeSlots(_) => {
                    let mut gate = self.board().gate();
                    rulings.extend(gate.withdraw(execution.id));
                    rulings.extend(gate.release(execution.id, ends));
                }
                Effect::Stop { attempt, cause } => self.stop_attempt(open.scope.clone(), execution.id, attempt, cause),
                Effect::Ended => self.answer(execution.id, not_launched()),
                Effect::Resume { .. } => {}
            }
        }
        self.follow(rulings);
    }

    /// What follows from where an execution stands, once more: an earlier write may have been made and its answer lost. Each part changes
    /// nothing where it was done before.
    pub(crate) async fn carry_out_again(&self, open: &OpenRun, execution: &Execution) {
        if execution.running().is_some() {
            self.granted(open, execution).await;
            return;
        }
        let end = execution.state.is_terminal().then_some(ItemEnd { state: execution.state, verdict: execution.verdict });
        let rulings = self.board().gate().release(execution.id, end);
        self.follow(rulings);
        if end.is_some() {
            self.answer(execution.id, not_launched());
        }
    }

    /// Carries rulings of the gate out, each by itself.
    pub(crate) fn follow(&self, rulings: Vec<Ruling>) {
        for Ruling { execution, decision } in rulings {
            let Some(open) = self.board().run(execution.run) else { continue };
            let app = self.clone();
            tokio::spawn(async move {
                match decision {
                    Decision::Grant(permits) => app.grant(&open, execution, permits).await,
                    Decision::Refuse(message) => {
                        let refuse = Command::Refuse { reason: Reason::Refused, message };
                        if let Err(fault) = app.change(&open, execution, refuse).await {
                            error!(%execution, error = %fault, "refusal not written");
                        }
                    }
                }
            });
        }
    }

    async fn grant(&self, open: &OpenRun, id: ExecutionId, permits: Permits) {
        match self.change(open, id, Command::Grant { permits: permits.clone() }).await {
            Ok(Changed { execution, answer: Answered::Applied }) => self.granted(open, &execution).await,
            Ok(Changed { answer: Answered::AlreadySo | Answered::Stale, .. }) => {}
            Ok(Changed { execution, answer: Answered::Refused(why) }) => {
                debug!(execution = %id, why, "grant refused");
                self.give_back(id);
                // Where an attempt is under way, what it holds is in its record.
                self.board().gate().occupy(id, &execution.permits);
                self.carry_out_again(open, &execution).await;
            }
            Err(fault) => {
                warn!(execution = %id, error = %fault, "permits not written; asking again at the next tick");
                self.relearn_slots(open, &permits).await;
                self.give_back(id);
                self.board().live(id, |live| live.ask_again = true);
            }
        }
    }

    fn give_back(&self, id: ExecutionId) {
        let rulings = self.board().gate().release(id, None);
        self.follow(rulings);
    }

    /// After a conflict over a slot: who really holds the slots is in the store.
    async fn relearn_slots(&self, open: &OpenRun, permits: &Permits) {
        for (key, _) in permits {
            match self.ports().runs.holders(&open.scope, key).await {
                Ok(holders) => {
                    let mut gate = self.board().gate();
                    for holder in holders {
                        gate.occupy_slot(holder.execution, key.clone(), holder.slot);
                    }
                }
                Err(error) => warn!(%key, error = %chain(&error), "holders not read"),
            }
        }
    }

    /// Gives the waiting state machine its answer; an answer that is not delivered is owed until it is.
    pub(crate) fn answer(&self, id: ExecutionId, permit: Value) {
        self.board().live(id, |live| live.answer = Some(permit));
        self.deliver(id);
    }

    pub(crate) fn deliver(&self, id: ExecutionId) {
        let owed: Option<(String, Value)> = self.board().live(id, |live| match (live.token.take(), live.answer.take()) {
            (Some(token), Some(answer)) => Some((token, answer)),
            (token, answer) => {
                (live.token, live.answer) = (token, answer);
                None
            }
        });
        let (Some((token, answer)), Ok(engine)) = (owed, self.engine().cloned()) else { return };
        let app = self.clone();
        tokio::spawn(async move {
            if let Err(error) = engine.resume(&token, Ok::<Value, StepError>(answer.clone())).await {
                warn!(execution = %id, error = %chain(&error), "admission not answered; the next tick answers");
                app.board().live(id, |live| (live.token, live.answer) = (Some(token), Some(answer)));
            }
        });
    }

    /// Asks the launcher to stop an attempt; a stop that it did not take is owed until it does.
    pub(crate) fn stop_attempt(&self, scope: Scope, id: ExecutionId, attempt: u32, cause: StopCause) {
        if !self.owns() {
            return;
        }
        let app = self.clone();
        tokio::spawn(async move {
            if let Err(error) = app.ports().launcher.stop(&scope, id, attempt, cause.clone()).await {
                warn!(execution = %id, attempt, error = %chain(&error), "stop not delivered; the next tick delivers it");
                app.board().live(id, |live| live.stop = Some((attempt, cause)));
            }
        });
    }
}

/// The answer to an admission that leads nowhere.
pub(crate) fn not_launched() -> Value {
    json!({ "launch": "none", "attempt": 0 })
}

fn keep(held: &mut Option<Stored<Execution>>, stored: Stored<Execution>, answer: Answered) -> Changed {
    let execution = stored.value.clone();
    *held = Some(stored);
    Changed { execution, answer }
}

fn changes_of(stored: &Stored<Execution>, next: &Execution, effects: &[Effect], event: Option<Event>) -> Vec<Change> {
    let mut changes = vec![Change::UpdateExecution(Box::new(next.clone()), stored.version)];
    for (key, slot) in next.permits.iter().filter(|permit| !stored.value.permits.contains(permit)) {
        changes.push(Change::TakeSlot(key.clone(), *slot, next.id));
    }
    for effect in effects {
        match effect {
            Effect::FreeSlots(permits) => {
                changes.extend(permits.iter().map(|(key, slot)| Change::FreeSlot(key.clone(), *slot, next.id)));
            }
            Effect::Stop { .. } | Effect::Ended | Effect::Resume { .. } => {}
        }
    }
    changes.extend(event.map(|event| Change::Emit(Box::new(event))));
    changes
}

fn event_of(open: &OpenRun, next: &Execution, command: &Command, now: model::Timestamp) -> Option<Event> {
    let last = next.attempt();
    let attempt = last.map_or(0, |attempt| attempt.number);
    let (kind, step) = match (next.state.is_terminal(), command) {
        (true, _) => (EventKind::ExecutionEnded, "ended".to_owned()),
        (false, Command::Grant { .. }) => (EventKind::AttemptGranted, format!("granted-{attempt}")),
        (false, Command::Settle(_)) => (EventKind::AttemptEnded, format!("ended-{attempt}")),
        (false, Command::Cancel(_)) => (EventKind::CancelRequested, "cancel".to_owned()),
        (false, Command::Start { .. } | Command::Publish { .. } | Command::Refuse { .. }) => return None,
    };
    let data = json!({
        "run": next.id.run, "item": next.id.item, "unit": next.unit, "state": next.state, "attempt": attempt,
        "reason": next.reason.as_ref().or_else(|| last.and_then(|last| last.reason.as_ref())),
        "message": next.message.as_ref().or_else(|| last.and_then(|last| last.message.as_ref())),
        "verdict": next.verdict, "rows": next.rows, "resume_at": next.resume_at,
    });
    Some(Event::of_change(kind, &next.id.to_string(), &step, now, &open.scope, &open.run.correlation, data))
}
