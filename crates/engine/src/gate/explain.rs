//! Why an execution waits: every reason at once, from the same facts that decide.

use model::{ExecutionId, PermitKey, UnitName};
use serde::Serialize;

use super::{Gate, Rank, rank_of};

/// One thing that keeps an execution from starting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "constraint", rename_all = "kebab-case")]
pub enum Hold {
    /// Its unit is disabled.
    Disabled {
        /// The unit.
        unit: UnitName,
        /// By whom or by what.
        why: String,
    },
    /// A unit that it needs has not ended.
    Need {
        /// The unit.
        unit: UnitName,
        /// How many of its items have not ended.
        left: usize,
    },
    /// All slots of a key are held.
    Slots {
        /// The key.
        key: PermitKey,
        /// How many slots it has.
        limit: u32,
        /// Who holds them.
        holders: Vec<ExecutionId>,
    },
}

/// Why an execution waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// All constraints that hold it, narrowest first.
    pub holds: Vec<Hold>,
    /// How many waiting executions go before it, of those that want a slot of a key that it wants too.
    pub before: usize,
    /// How many wait for such a key in all, itself included.
    pub waiting: usize,
}

impl Gate {
    /// Why `execution` waits; `None` where it does not.
    pub fn explain(&self, execution: ExecutionId) -> Option<Explanation> {
        let request = self.requests.get(&execution)?;
        let holds = self.holds(request).unwrap_or_default();
        let rank: Rank = rank_of(request);
        let rival =
            |other: &&super::Request| request.keys.iter().any(|(key, _)| other.keys.iter().any(|(wanted, _)| wanted == key));
        let rivals: Vec<_> = self.requests.values().filter(rival).collect();
        let before = rivals.iter().filter(|other| rank_of(other) < rank).count();
        Some(Explanation { holds, before, waiting: rivals.len() })
    }
}
