//! Carries out one attempt as a local process: the worker contract.
//!
//! Start at [`Worker::carry_out`].

use std::sync::Arc;

use model::ResourceLimits;
use ports::{Clock, Objects, Secrets};

/// What a worker needs from the world.
#[derive(Clone)]
pub struct Ports {
    /// Where artifacts go and baselines come from.
    pub objects: Arc<dyn Objects>,
    /// Where the unit's secrets are.
    pub secrets: Arc<dyn Secrets>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
}

/// How each bound of `limits` is enforced on this machine, in sentences; for the plan of a dry run.
pub fn enforcement(limits: &ResourceLimits) -> Vec<String> {
    let _ = limits;
    Vec::new()
}
