//! What a worker gets: everything it needs to carry out one attempt, and no secret value.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{ArtifactRule, ExecutionId, ObjectKey, ResourceLimits, Scope, Span, Timestamp, UnitName};

/// The version of the worker contract written today.
pub const CURRENT_CONTRACT: u32 = 1;

/// One attempt to carry out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// Version of the contract, [`CURRENT_CONTRACT`].
    pub contract: u32,
    /// Whose work it is.
    pub scope: Scope,
    /// The execution.
    pub execution: ExecutionId,
    /// The attempt number: the fence.
    pub attempt: u32,
    /// The unit.
    pub unit: UnitName,
    /// Program and arguments, rendered, byte for byte.
    pub run: Vec<String>,
    /// Absolute folder of the unit's files.
    pub location: String,
    /// The whole environment of the program but for secrets, `MUSTER_OUT` and what the worker adds.
    pub environment: BTreeMap<String, String>,
    /// Variables to copy from the worker's own environment when set there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass_environment: Vec<String>,
    /// Variable → reference of a secret.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<String, String>,
    /// Bounds.
    pub resources: ResourceLimits,
    /// Longest running time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<Span>,
    /// From SIGTERM to SIGKILL.
    pub stopping: Span,
    /// Exit codes after which the output is published: those that mean success.
    #[serde(default = "zero_only")]
    pub success_codes: Vec<u8>,
    /// Rules for what it publishes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<ArtifactRule>,
    /// Signals documents of the last accepted run, by artifact path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baselines: Vec<Baseline>,
    /// The nominal time.
    pub slot: Timestamp,
    /// The scope cap, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Follows the work from request to log line.
    pub correlation: String,
}

fn zero_only() -> Vec<u8> {
    vec![0]
}

/// The signals document of an artifact in the last accepted run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// The artifact's path.
    pub path: String,
    /// Key of the document in the object store.
    pub key: ObjectKey,
}
