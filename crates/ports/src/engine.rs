//! The engine that executes state machines, and the steps that a machine calls.

use async_trait::async_trait;
use model::{Assignment, ExecutionId, Scope};
use serde_json::Value;

use crate::{BoxError, Report};

/// Starts, stops and describes executions of state machines, and resumes what waits for a token.
#[async_trait]
pub trait Engine: Send + Sync {
    /// Starts `machine` under `name`. A name that exists already is the same request: the answer is `Ok`.
    async fn start(&self, scope: &Scope, machine: &str, name: &str, input: Value) -> Result<(), EngineError>;

    /// Stops the execution; what it was waiting for is abandoned. Stopping an ended one is `Ok`.
    async fn stop(&self, scope: &Scope, name: &str, cause: &str) -> Result<(), EngineError>;

    /// How far the execution is.
    async fn describe(&self, scope: &Scope, name: &str) -> Result<MachineStatus, EngineError>;

    /// Gives a waiting task its result. A token that nobody waits for is `Ok`: the second delivery changes nothing.
    async fn resume(&self, token: &str, result: Result<Value, StepError>) -> Result<(), EngineError>;
}

/// How far an execution of a state machine is.
#[derive(Debug, Clone, PartialEq)]
pub enum MachineStatus {
    /// Under way.
    Running,
    /// Ended well, with its output.
    Succeeded(Value),
    /// Ended with an error.
    Failed(StepError),
}

/// Why the engine did not do it.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// No such machine or execution in this scope.
    #[error("no such execution of a state machine")]
    NotFound,
    /// The definition or the input is wrong.
    #[error("could not start the state machine: {0}")]
    Invalid(String),
    /// The engine does not answer now.
    #[error("could not reach the engine")]
    Unavailable(#[source] BoxError),
}

/// A step of `statemachines/run.asl.json`: the name of the function that a Task state invokes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// Freezes the selection into the item list.
    Open,
    /// Asks for permits; the answer comes through the token.
    Admit,
    /// Reads the outcome, judges, frees the permits, decides on a retry.
    Settle,
    /// Totals, verdict, run state.
    Close,
}

impl Step {
    /// The function's name in the embedded home; in the cloud a substitution puts the function's ARN there.
    pub fn as_str(self) -> &'static str {
        match self {
            Step::Open => "open",
            Step::Admit => "admit",
            Step::Settle => "settle",
            Step::Close => "close",
        }
    }

    /// The step of a function's name.
    pub fn named(name: &str) -> Option<Step> {
        [Step::Open, Step::Admit, Step::Settle, Step::Close].into_iter().find(|step| step.as_str() == name)
    }
}

/// A failure as a state machine sees it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}: {cause}")]
pub struct StepError {
    /// The error's name, which Retry and Catch match.
    pub error: String,
    /// A sentence.
    pub cause: String,
}

/// What a state machine calls. Every step may be called again with the same payload and then gives the same answer.
#[async_trait]
pub trait Steps: Send + Sync {
    /// Carries out a step.
    async fn call(&self, step: Step, payload: Value) -> Result<Value, StepError>;

    /// The assignment of an attempt that holds its permits.
    async fn assignment(&self, scope: &Scope, execution: ExecutionId, attempt: u32) -> Result<Assignment, StepError>;

    /// Takes note of what a launcher saw.
    async fn observe(&self, report: &Report) -> Result<(), StepError>;
}
