//! The lifecycle of an execution: every pair of (state, command) has a written answer.

use model::{
    Attempt, AttemptPhase, CancelRequest, Execution, ExecutionState as S, Outcome, Permits, ProcessIdentity, Reason, StopCause,
    Timestamp, Verdict,
};

use crate::{judge::Judgement, retry::Next};

/// What can be done to an execution.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// The gate gives permits: a new attempt.
    Grant {
        /// The slots.
        permits: Permits,
    },
    /// The program of an attempt was seen running.
    Start {
        /// The attempt.
        attempt: u32,
        /// Its process.
        process: ProcessIdentity,
        /// Since when.
        started_at: Timestamp,
    },
    /// The program of an attempt is gone and its output is being published.
    Publish {
        /// The attempt.
        attempt: u32,
    },
    /// An attempt is over, judged, and what follows is decided.
    Settle(Box<Settlement>),
    /// Somebody asks to cancel.
    Cancel(CancelRequest),
    /// The gate will never give permits.
    Refuse {
        /// `Refused`, or `TimedOut` where the time in the queue is over.
        reason: Reason,
        /// A sentence.
        message: String,
    },
}

/// The end of an attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Settlement {
    /// The attempt.
    pub attempt: u32,
    /// What the evidence means.
    pub judgement: Judgement,
    /// What follows a failure; of no matter for a success.
    pub next: Next,
    /// The evidence, where there is any.
    pub outcome: Option<Outcome>,
}

/// What a command did.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The execution is now this, and these are to be carried out.
    Applied(Box<Execution>, Vec<Effect>),
    /// It was so already.
    AlreadySo,
    /// It speaks of an attempt that is over: kept as history, changes nothing.
    Stale,
    /// It makes no sense here; a half sentence says why.
    Refused(&'static str),
}

/// What is to be carried out because of a change; each is safe to repeat.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Give the slots back, in the transaction of the change.
    FreeSlots(Permits),
    /// Ask the launcher to stop the attempt.
    Stop {
        /// The attempt.
        attempt: u32,
        /// Why.
        cause: StopCause,
    },
    /// The execution ended: whoever needs it, waits for its slots or counts it must know.
    Ended,
    /// An attempt ended and the next may start at this instant.
    Resume {
        /// Not before.
        at: Timestamp,
    },
}

const ENDED: &str = "it has ended";

/// Decides what `command` does.
pub fn decide(execution: &Execution, command: &Command, now: Timestamp) -> Answer {
    match (execution.state, execution.running()) {
        (S::Created | S::Started, None) => decide_waiting(execution, command, now),
        (S::Created | S::Started, Some(attempt)) => decide_under_way(execution, attempt, command, now),
        (S::Succeeded | S::Failed | S::Cancelled, _) => decide_ended(execution, command),
    }
}

/// Between attempts: waiting for permits, or pausing.
fn decide_waiting(execution: &Execution, command: &Command, now: Timestamp) -> Answer {
    match command {
        Command::Grant { permits } => match &execution.cancel {
            Some(_) => Answer::Refused("it is being cancelled"),
            None => Answer::Applied(Box::new(granted(execution, permits, now)), Vec::new()),
        },
        Command::Start { attempt, .. } | Command::Publish { attempt } => late(execution, *attempt),
        Command::Settle(settlement) => settled_before(execution, settlement.attempt),
        Command::Cancel(request) => {
            let message = format!("cancelled by {} before it started", request.by);
            let cancelled = Execution { cancel: Some(request.clone()), ..execution.clone() };
            let message =
                if execution.attempts.is_empty() { message } else { format!("cancelled by {} between attempts", request.by) };
            end(cancelled, S::Cancelled, Some((Reason::Cancelled, message)), now)
        }
        Command::Refuse { reason, message } => {
            let state = match reason {
                Reason::TimedOut { .. } => S::Failed,
                Reason::ExitNonzero { .. }
                | Reason::Signal { .. }
                | Reason::OutOfMemory
                | Reason::StartFailed
                | Reason::Capacity
                | Reason::Throttled
                | Reason::Interrupted
                | Reason::Lost
                | Reason::Cancelled
                | Reason::PublishFailed
                | Reason::Quality
                | Reason::Refused => S::Cancelled,
            };
            end(execution.clone(), state, Some((reason.clone(), message.clone())), now)
        }
    }
}

fn decide_under_way(execution: &Execution, attempt: &Attempt, command: &Command, now: Timestamp) -> Answer {
    match command {
        // Whoever brings other slots must give these back.
        Command::Grant { permits } if *permits == execution.permits => Answer::AlreadySo,
        Command::Grant { .. } => Answer::Refused("an attempt is under way with other slots"),
        Command::Start { attempt: number, process, started_at } => match (attempt.number == *number, attempt.phase) {
            (false, _) => late(execution, *number),
            (true, AttemptPhase::Launching) => {
                let seen = with_attempt(execution, |attempt| {
                    attempt.phase = AttemptPhase::Running;
                    attempt.started_at = Some(*started_at);
                    attempt.process = Some(process.clone());
                    attempt.observed_at = now;
                });
                Answer::Applied(Box::new(seen), Vec::new())
            }
            (true, AttemptPhase::Running | AttemptPhase::Publishing | AttemptPhase::Ended) => Answer::AlreadySo,
        },
        Command::Publish { attempt: number } => match (attempt.number == *number, attempt.phase) {
            (false, _) => late(execution, *number),
            (true, AttemptPhase::Launching | AttemptPhase::Running) => {
                let seen = with_attempt(execution, |attempt| {
                    attempt.phase = AttemptPhase::Publishing;
                    attempt.observed_at = now;
                });
                Answer::Applied(Box::new(seen), Vec::new())
            }
            (true, AttemptPhase::Publishing | AttemptPhase::Ended) => Answer::AlreadySo,
        },
        Command::Settle(settlement) if settlement.attempt == attempt.number => settle(execution, settlement, now),
        Command::Settle(settlement) => late(execution, settlement.attempt),
        Command::Cancel(request) => match &execution.cancel {
            Some(_) => Answer::AlreadySo,
            None => {
                let cancelling = Execution { cancel: Some(request.clone()), ..execution.clone() };
                let stop = Effect::Stop { attempt: attempt.number, cause: StopCause::Cancelled };
                Answer::Applied(Box::new(cancelling), vec![stop])
            }
        },
        Command::Refuse { .. } => Answer::Refused("an attempt is under way"),
    }
}

fn decide_ended(execution: &Execution, command: &Command) -> Answer {
    match command {
        Command::Grant { .. } => Answer::Refused(ENDED),
        Command::Start { attempt, .. } | Command::Publish { attempt } => late(execution, *attempt),
        Command::Settle(settlement) => settled_before(execution, settlement.attempt),
        Command::Cancel(_) => match execution.state {
            S::Cancelled => Answer::AlreadySo,
            S::Created | S::Started | S::Succeeded | S::Failed => Answer::Refused(ENDED),
        },
        Command::Refuse { reason, .. } if execution.reason.as_ref() == Some(reason) => Answer::AlreadySo,
        Command::Refuse { .. } => Answer::Refused(ENDED),
    }
}

/// The end of an attempt where none is under way: that of the last one has been told before.
fn settled_before(execution: &Execution, attempt: u32) -> Answer {
    match execution.attempt() {
        Some(last) if last.number == attempt => Answer::AlreadySo,
        Some(_) | None => late(execution, attempt),
    }
}

/// A report about another attempt than the one under way: an older one is stale, a number that was never given is refused.
fn late(execution: &Execution, attempt: u32) -> Answer {
    match execution.attempt() {
        Some(last) if attempt <= last.number => Answer::Stale,
        Some(_) | None => Answer::Refused("no such attempt was ever granted"),
    }
}

fn granted(execution: &Execution, permits: &Permits, now: Timestamp) -> Execution {
    let mut next = execution.clone();
    next.state = S::Started;
    next.started_at = next.started_at.or(Some(now));
    next.resume_at = None;
    next.permits = permits.clone();
    next.attempts.push(Attempt {
        number: execution.attempt().map_or(1, |last| last.number + 1),
        phase: AttemptPhase::Launching,
        granted_at: now,
        started_at: None,
        ended_at: None,
        observed_at: now,
        process: None,
        reason: None,
        message: None,
    });
    next
}

fn settle(execution: &Execution, settlement: &Settlement, now: Timestamp) -> Answer {
    let mut next = with_attempt(execution, |attempt| end_attempt(attempt, settlement, now));
    match (&settlement.judgement, &settlement.next) {
        (Judgement::Success, _) => {
            if let Some(outcome) = &settlement.outcome {
                next.verdict = outcome.verdict;
                next.rows = rows(outcome);
                next.message = outcome.findings.first().filter(|_| outcome.verdict > Some(Verdict::Pass)).cloned();
                next.output = (!outcome.artifacts.is_empty()).then_some(settlement.attempt);
            }
            end(next, S::Succeeded, None, now)
        }
        (Judgement::Failure(failure), _) if failure.reason == Reason::Cancelled => {
            end(next, S::Cancelled, Some((Reason::Cancelled, failure.message.clone())), now)
        }
        // A request to cancel outlives the attempt that failed on its own: no further attempt starts after it.
        (Judgement::Failure(_), Next::Again { .. }) if next.cancel.is_some() => {
            let message = "cancelled; its last attempt had failed by itself".to_owned();
            end(next, S::Cancelled, Some((Reason::Cancelled, message)), now)
        }
        (Judgement::Failure(_), Next::Again { after }) => {
            let at = after.after(now);
            let permits = std::mem::take(&mut next.permits);
            next.resume_at = Some(at);
            Answer::Applied(Box::new(next), vec![Effect::FreeSlots(permits), Effect::Resume { at }])
        }
        (Judgement::Failure(failure), Next::Final { because }) => {
            if let Some(outcome) = &settlement.outcome {
                next.verdict = outcome.verdict;
                next.rows = rows(outcome);
            }
            let suffix = because.as_ref().map(|because| format!(" ({because})")).unwrap_or_default();
            let message = format!("{}{suffix}", failure.message);
            end(next, S::Failed, Some((failure.reason.clone(), message)), now)
        }
    }
}

fn rows(outcome: &Outcome) -> Option<u64> {
    outcome.artifacts.iter().filter_map(|artifact| artifact.rows).reduce(|all, rows| all + rows)
}

fn end_attempt(attempt: &mut Attempt, settlement: &Settlement, now: Timestamp) {
    attempt.phase = AttemptPhase::Ended;
    attempt.observed_at = now;
    attempt.ended_at = Some(now);
    if let Some(outcome) = &settlement.outcome {
        attempt.ended_at = Some(outcome.ended_at);
        attempt.started_at = outcome.started_at.or(attempt.started_at);
        attempt.process = outcome.process.clone().or_else(|| attempt.process.take());
    }
    if let Judgement::Failure(failure) = &settlement.judgement {
        attempt.reason = Some(failure.reason.clone());
        attempt.message = Some(failure.message.clone());
    }
}

fn end(mut execution: Execution, state: S, reason: Option<(Reason, String)>, now: Timestamp) -> Answer {
    execution.state = state;
    execution.ended_at = Some(now);
    execution.resume_at = None;
    if let Some((reason, message)) = reason {
        execution.reason = Some(reason);
        execution.message = Some(message);
    }
    let permits = std::mem::take(&mut execution.permits);
    Answer::Applied(Box::new(execution), vec![Effect::FreeSlots(permits), Effect::Ended])
}

fn with_attempt(execution: &Execution, change: impl FnOnce(&mut Attempt)) -> Execution {
    let mut next = execution.clone();
    if let Some(attempt) = next.attempts.last_mut() {
        change(attempt);
    }
    next
}
