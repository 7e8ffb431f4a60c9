//! What attempts left behind, and how long each part of them took.

use app::App;
use model::{Attempt, Execution, ExecutionState, ObjectKey, Outcome, Span, Timestamp};
use serde::Serialize;

/// The outcome that the worker of an attempt left, where it did.
pub(crate) async fn outcome(app: &App, execution: &Execution, attempt: u32) -> Option<Outcome> {
    let key = ObjectKey::attempt(&execution.scope, execution.id, attempt).outcome();
    serde_json::from_slice(&app.object(&key).await.ok()?).ok()
}

/// How long each part of an attempt took; absent where it did not come to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Parts {
    /// For permits, the pause before a retry included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Span>,
    /// From the permits to the program's first instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launching: Option<Span>,
    /// From the first instruction to the exit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running: Option<Span>,
    /// From the exit to the settled outcome; of the last attempt only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publishing: Option<Span>,
}

/// The parts of attempt `number`, from 1; those under way count to `now`.
pub(crate) fn parts(execution: &Execution, number: usize, now: Timestamp) -> Parts {
    let before = number.checked_sub(2).and_then(|place| execution.attempts.get(place));
    let asked = before.and_then(|before| before.ended_at).unwrap_or(execution.created_at);
    let Some(Attempt { granted_at, started_at, ended_at, .. }) = execution.attempts.get(number - 1) else {
        let waits = !execution.state.is_terminal();
        return Parts { waiting: waits.then(|| Span::between(asked, now)), ..Parts::default() };
    };
    let gone = ended_at.unwrap_or(now);
    let is_last = number == execution.attempts.len();
    Parts {
        waiting: Some(Span::between(asked, *granted_at)),
        launching: Some(Span::between(*granted_at, started_at.unwrap_or(gone))),
        running: started_at.map(|started| Span::between(started, gone)),
        publishing: execution
            .ended_at
            .filter(|_| is_last && ended_at.is_some() && execution.state != ExecutionState::Cancelled)
            .map(|ended| Span::between(gone, ended)),
    }
}

/// From the first permit to the end.
pub(crate) fn time(execution: &Execution, now: Timestamp) -> Option<Span> {
    let start = execution.started_at?;
    Some(Span::between(start, execution.ended_at.unwrap_or(now)))
}
