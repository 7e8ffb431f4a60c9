//! What carries an attempt out.

use async_trait::async_trait;
use model::{Assignment, ExecutionId, Outcome, ProcessIdentity, Scope, StopCause, Timestamp};

use crate::BoxError;

/// Starts, stops and observes attempts. What happens to them is told by [`Report`]s, at least once and in any order.
#[async_trait]
pub trait Launcher: Send + Sync {
    /// Starts an attempt. The worker's claim is the fence: a second start of the same attempt is `Ok` and runs nothing.
    async fn start(&self, assignment: &Assignment) -> Result<(), LaunchError>;

    /// Asks the attempt to stop. The proof is its outcome, not this answer; an attempt that has ended is `Ok`.
    async fn stop(&self, scope: &Scope, execution: ExecutionId, attempt: u32, cause: StopCause) -> Result<(), LaunchError>;

    /// Looks at the attempt itself, not at what was reported of it.
    async fn observe(&self, scope: &Scope, execution: ExecutionId, attempt: u32) -> Result<Observation, LaunchError>;
}

/// What can be seen of an attempt.
#[derive(Debug, Clone, PartialEq)]
pub enum Observation {
    /// The launcher has it and the program does not run yet.
    Starting,
    /// The program runs.
    Running {
        /// The process.
        process: ProcessIdentity,
        /// Since when.
        started_at: Timestamp,
    },
    /// The program is gone; its output is being published.
    Publishing,
    /// Over, with evidence.
    Ended(Box<Outcome>),
    /// The launcher has never heard of it.
    Unknown,
    /// It was started, nothing of it is alive, and it left no outcome.
    Lost,
}

/// What a launcher tells of an attempt by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Whose.
    pub scope: Scope,
    /// The execution.
    pub execution: ExecutionId,
    /// The attempt.
    pub attempt: u32,
    /// When it was seen.
    pub at: Timestamp,
    /// What was seen.
    pub observation: Observation,
}

/// Why an attempt was not started or could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The compute has no room now.
    #[error("the tier has no room")]
    Capacity,
    /// The compute asks to slow down.
    #[error("the tier asks to slow down")]
    Throttled,
    /// It can never start like this.
    #[error("could not start: {0}")]
    Refused(String),
    /// The launcher does not answer now.
    #[error("could not reach the launcher")]
    Unavailable(#[source] BoxError),
}
