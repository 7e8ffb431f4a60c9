//! A run: a requested operation over one or many items, and its overall state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CancelRequest, Execution, ExecutionState, RunId, Scope, TierName, Timestamp, UnitName, Verdict};

/// What a caller asked for, and how far it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its name.
    pub id: RunId,
    /// Whose it is.
    pub scope: Scope,
    /// Where it stands.
    pub state: RunState,
    /// Which units.
    pub selection: Selection,
    /// How.
    pub options: RunOptions,
    /// How many items; 0 until the selection is frozen.
    pub items: u32,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When its first item was frozen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Set once somebody asked to cancel it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<CancelRequest>,
    /// Counts by state, final once the run has ended.
    pub totals: Totals,
    /// The worst verdict of its items, once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Why it failed, where that is not a matter of its items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Follows the work from request to event, workload and log line.
    pub correlation: String,
}

/// `Created → Started → Succeeded | Failed | Cancelled`; the last three never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// Accepted.
    Created,
    /// Its items are frozen.
    Started,
    /// Every item succeeded.
    Succeeded,
    /// An item failed, or the run itself did.
    Failed,
    /// Cancelled on request.
    Cancelled,
}

impl RunState {
    /// True when the state never changes again.
    pub fn is_terminal(self) -> bool {
        match self {
            RunState::Created | RunState::Started => false,
            RunState::Succeeded | RunState::Failed | RunState::Cancelled => true,
        }
    }

    /// The word in tables, JSON and the store.
    pub fn as_str(self) -> &'static str {
        match self {
            RunState::Created => "created",
            RunState::Started => "started",
            RunState::Succeeded => "succeeded",
            RunState::Failed => "failed",
            RunState::Cancelled => "cancelled",
        }
    }
}

/// Which units a run covers. Disabled units are left out of `All` and `Tags`, and refused when named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Selection {
    /// Every enabled unit.
    All,
    /// The units named.
    Units {
        /// Their names.
        units: Vec<UnitName>,
    },
    /// Every enabled unit that has one of the tags.
    Tags {
        /// The tags.
        tags: Vec<String>,
    },
    /// The items of an earlier run that did not succeed.
    Retry {
        /// The earlier run.
        run: RunId,
    },
}

/// How a run goes about its items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunOptions {
    /// How many items at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// Added to each unit's priority.
    pub priority: i8,
    /// Parameters set for every unit that declares them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Value>,
    /// Arguments appended to the unit's own, byte for byte.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// Scope cap handed to the units; a capped run never enters the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The tier to use instead of each unit's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<TierName>,
    /// The nominal time.
    pub slot: Timestamp,
}

/// One entry of the frozen list of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Its place in the list, from 0. Needs point to smaller numbers only.
    pub item: u32,
    /// The unit.
    pub unit: UnitName,
    /// The unit's revision, pinned.
    pub revision: u64,
    /// The tier.
    pub tier: TierName,
    /// The tier's launch kind, for the state machine's Choice.
    pub launch: String,
    /// Parameters with defaults filled in.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Value>,
    /// The nominal time.
    pub slot: Timestamp,
}

/// Counts of a run's items by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Totals {
    /// Not started.
    pub created: u32,
    /// Under way.
    pub started: u32,
    /// Done.
    pub succeeded: u32,
    /// Failed.
    pub failed: u32,
    /// Cancelled or never started.
    pub cancelled: u32,
    /// Of those that succeeded: verdict `warn`.
    pub warned: u32,
    /// Of those that ended: verdict `fail`.
    pub bad: u32,
}

impl Totals {
    /// Counts one more execution.
    pub fn add(&mut self, execution: &Execution) {
        let count = match execution.state {
            ExecutionState::Created => &mut self.created,
            ExecutionState::Started => &mut self.started,
            ExecutionState::Succeeded => &mut self.succeeded,
            ExecutionState::Failed => &mut self.failed,
            ExecutionState::Cancelled => &mut self.cancelled,
        };
        *count += 1;
        match execution.verdict {
            Some(Verdict::Warn) => self.warned += 1,
            Some(Verdict::Fail | Verdict::Error) => self.bad += 1,
            Some(Verdict::Pass | Verdict::Learning | Verdict::Skipped) | None => {}
        }
    }

    /// The state of a run with these counts once all have ended.
    pub fn run_state(&self, cancel: Option<&CancelRequest>) -> RunState {
        if cancel.is_some() && self.cancelled > 0 {
            RunState::Cancelled
        } else if self.failed > 0 || self.cancelled > 0 {
            RunState::Failed
        } else {
            RunState::Succeeded
        }
    }
}
