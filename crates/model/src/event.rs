//! Events: what happened, written to an outbox in the transaction that made it so.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Digest, EventId, Scope, Timestamp};

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// A consumer that has seen the id has seen the event.
    pub id: EventId,
    /// What happened.
    #[serde(rename = "type")]
    pub kind: EventKind,
    /// Version of the type's data.
    pub version: u32,
    /// When.
    pub time: Timestamp,
    /// Whose (tenant, organisation, project).
    pub scope: Scope,
    /// Follows the work from the request on.
    pub correlation_id: String,
    /// The record whose change this is.
    pub causation_id: String,
    /// The facts.
    pub data: Value,
}

impl Event {
    /// The event of one change of one record: the id derives from what changed, so that a repeated change is the same event.
    pub fn of_change(
        kind: EventKind,
        subject: &str,
        step: &str,
        time: Timestamp,
        scope: &Scope,
        correlation: &str,
        data: Value,
    ) -> Event {
        let name = format!("{scope}\n{}\n{subject}\n{step}", kind.as_str());
        Event {
            id: EventId::from_bits(Digest::of(name.as_bytes()).bits()),
            kind,
            version: 1,
            time,
            scope: scope.clone(),
            correlation_id: correlation.to_owned(),
            causation_id: subject.to_owned(),
            data,
        }
    }
}

/// What can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EventKind {
    /// A registry entry has a new revision.
    #[serde(rename = "definition.applied")]
    DefinitionApplied,
    /// An operator enabled or disabled a unit.
    #[serde(rename = "unit.switched")]
    UnitSwitched,
    /// A run was accepted.
    #[serde(rename = "run.created")]
    RunCreated,
    /// A run's items are frozen.
    #[serde(rename = "run.started")]
    RunStarted,
    /// A run ended.
    #[serde(rename = "run.ended")]
    RunEnded,
    /// An attempt got its permits.
    #[serde(rename = "attempt.granted")]
    AttemptGranted,
    /// An attempt ended and the execution goes on.
    #[serde(rename = "attempt.ended")]
    AttemptEnded,
    /// An execution ended.
    #[serde(rename = "execution.ended")]
    ExecutionEnded,
    /// Somebody asked to cancel.
    #[serde(rename = "cancel.requested")]
    CancelRequested,
}

impl EventKind {
    /// The type's name.
    pub fn as_str(self) -> &'static str {
        match self {
            EventKind::DefinitionApplied => "definition.applied",
            EventKind::UnitSwitched => "unit.switched",
            EventKind::RunCreated => "run.created",
            EventKind::RunStarted => "run.started",
            EventKind::RunEnded => "run.ended",
            EventKind::AttemptGranted => "attempt.granted",
            EventKind::AttemptEnded => "attempt.ended",
            EventKind::ExecutionEnded => "execution.ended",
            EventKind::CancelRequested => "cancel.requested",
        }
    }
}
