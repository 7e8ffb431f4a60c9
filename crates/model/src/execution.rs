//! An execution: the workload that carries out one item, with its attempts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ExecutionId, PermitKey, Reason, Scope, TierName, Timestamp, UnitName, Verdict};

/// The workload that carries out one item of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// Its name.
    pub id: ExecutionId,
    /// Whose it is.
    pub scope: Scope,
    /// What runs.
    pub unit: UnitName,
    /// The unit's revision, pinned.
    pub revision: u64,
    /// Where it runs.
    pub tier: TierName,
    /// Parameters with defaults filled in.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Value>,
    /// The nominal time: the same for a delayed, queued or retried attempt.
    pub slot: Timestamp,
    /// Where it stands.
    pub state: ExecutionState,
    /// When it was frozen into the run: its time in the queue counts from here.
    pub created_at: Timestamp,
    /// When it first got its permits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Not before this instant (the pause before a retry).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_at: Option<Timestamp>,
    /// Its attempts, numbered from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    /// The slots it holds while an attempt is under way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permits: Permits,
    /// Set once somebody asked to cancel it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<CancelRequest>,
    /// Why it did not succeed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The reason, or the verdict's, in one sentence with the facts of this case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The worst verdict of its artifacts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Rows of its artifacts in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Where its artifacts are: attempt number of the accepted output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u32>,
}

/// The slots an execution holds: (key, slot number).
pub type Permits = Vec<(PermitKey, u32)>;

impl Execution {
    /// The attempt under way, or the last one.
    pub fn attempt(&self) -> Option<&Attempt> {
        self.attempts.last()
    }

    /// The attempt under way.
    pub fn running(&self) -> Option<&Attempt> {
        self.attempt().filter(|attempt| attempt.phase != AttemptPhase::Ended)
    }

    /// The word for people: the state; `cancelling` between the request and the proof; `refused` where the gate never let it start.
    pub fn status(&self) -> &'static str {
        if self.cancel.is_some() && !self.state.is_terminal() {
            return "cancelling";
        }
        if self.reason == Some(Reason::Refused) {
            return "refused";
        }
        match (self.state, self.attempt().map(|attempt| attempt.phase)) {
            (ExecutionState::Created, _) => "waiting",
            (ExecutionState::Started, Some(AttemptPhase::Launching)) => "launching",
            (ExecutionState::Started, Some(AttemptPhase::Running)) => "running",
            (ExecutionState::Started, Some(AttemptPhase::Publishing)) => "publishing",
            (ExecutionState::Started, Some(AttemptPhase::Ended) | None) => "retrying",
            (ExecutionState::Succeeded | ExecutionState::Failed | ExecutionState::Cancelled, _) => self.state.as_str(),
        }
    }
}

/// `Created → Started → Succeeded | Failed | Cancelled`; the last three never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExecutionState {
    /// Frozen into its run, waiting for permits.
    Created,
    /// It got permits at least once.
    Started,
    /// A positive outcome was settled.
    Succeeded,
    /// Its last attempt failed.
    Failed,
    /// Cancelled and confirmed gone, or refused by the gate for good.
    Cancelled,
}

impl ExecutionState {
    /// True when the state never changes again.
    pub fn is_terminal(self) -> bool {
        match self {
            ExecutionState::Created | ExecutionState::Started => false,
            ExecutionState::Succeeded | ExecutionState::Failed | ExecutionState::Cancelled => true,
        }
    }

    /// The word in tables, JSON and the store.
    pub fn as_str(self) -> &'static str {
        match self {
            ExecutionState::Created => "created",
            ExecutionState::Started => "started",
            ExecutionState::Succeeded => "succeeded",
            ExecutionState::Failed => "failed",
            ExecutionState::Cancelled => "cancelled",
        }
    }
}

/// One try at an execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// From 1. A worker that reports for an older number is fenced.
    pub number: u32,
    /// How far it is.
    pub phase: AttemptPhase,
    /// When its permits were given.
    pub granted_at: Timestamp,
    /// When the program's process was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it was proven over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The last time anything was heard of it.
    pub observed_at: Timestamp,
    /// The process that runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessIdentity>,
    /// Why it did not succeed; absent on a success and while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The reason with the facts of this case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// How far an attempt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttemptPhase {
    /// Permits given, no process seen yet.
    Launching,
    /// The program runs.
    Running,
    /// The program is gone; its output is being judged and published.
    Publishing,
    /// Over.
    Ended,
}

/// A process that cannot be mistaken for a later one with the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// The kernel's boot id.
    pub boot: String,
    /// The process number; also its group.
    pub pid: i32,
    /// Start time in clock ticks since boot (`/proc/PID/stat`, field 22).
    pub start_ticks: u64,
}

/// A request to cancel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelRequest {
    /// When it was asked for.
    pub at: Timestamp,
    /// Who asked.
    pub by: String,
}
