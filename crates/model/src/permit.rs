//! Permit keys: what an execution holds one slot of while it runs.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{LimitName, RunId, TierName, UnitName};

/// Something with a number of slots. Text form in the store: `run:…`, `unit:…`, `unit:NAME:VALUE`, `tier:…`, `limit:…`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PermitKey {
    /// The run's own limit.
    Run(RunId),
    /// The unit's limit.
    Unit(UnitName),
    /// The unit's limit for one value of a parameter.
    UnitValue(UnitName, String),
    /// The tier's capacity.
    Tier(TierName),
    /// A limit shared by several units.
    Limit(LimitName),
}

impl fmt::Display for PermitKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PermitKey::Run(run) => write!(f, "run:{run}"),
            PermitKey::Unit(unit) => write!(f, "unit:{unit}"),
            PermitKey::UnitValue(unit, value) => write!(f, "unit:{unit}:{value}"),
            PermitKey::Tier(tier) => write!(f, "tier:{tier}"),
            PermitKey::Limit(limit) => write!(f, "limit:{limit}"),
        }
    }
}
