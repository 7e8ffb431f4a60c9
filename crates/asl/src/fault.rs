//! What goes wrong while a state runs, in the words of the service.

use std::sync::Arc;

use crate::Value;

/// The error names that the language itself gives.
pub mod names {
    /// Matches every error that can be matched.
    pub const ALL: &str = "States.ALL";
    /// A task ran longer than its limit, or was silent for too long.
    pub const TIMEOUT: &str = "States.Timeout";
    /// A task was silent for longer than its heartbeat.
    pub const HEARTBEAT_TIMEOUT: &str = "States.HeartbeatTimeout";
    /// A task failed; as a name to match, any failure of a task but a timeout.
    pub const TASK_FAILED: &str = "States.TaskFailed";
    /// The definition met data that it cannot work on; nothing catches it.
    pub const RUNTIME: &str = "States.Runtime";
    /// A payload is larger than the limit.
    pub const DATA_LIMIT_EXCEEDED: &str = "States.DataLimitExceeded";
    /// An intrinsic function failed.
    pub const INTRINSIC_FAILURE: &str = "States.IntrinsicFailure";
    /// No rule of a Choice matched and there is no default.
    pub const NO_CHOICE_MATCHED: &str = "States.NoChoiceMatched";
    /// A result cannot be put where `ResultPath` points.
    pub const RESULT_PATH_MATCH_FAILURE: &str = "States.ResultPathMatchFailure";
    /// Too many items of a Map failed.
    pub const EXCEED_TOLERATED_FAILURE_THRESHOLD: &str = "States.ExceedToleratedFailureThreshold";
    /// The items of a Map could not be read.
    pub const ITEM_READER_FAILED: &str = "States.ItemReaderFailed";
    /// The results of a Map could not be written.
    pub const RESULT_WRITER_FAILED: &str = "States.ResultWriterFailed";
    /// A JSONata expression failed.
    pub const QUERY_EVALUATION_ERROR: &str = "States.QueryEvaluationError";
    /// A branch of a Parallel failed.
    pub const BRANCH_FAILED: &str = "States.BranchFailed";
}

/// An error and its cause, as a state reports them; a `Fail` state may leave both out.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Failure {
    /// The error's name, by which `Retry` and `Catch` match it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Arc<str>>,
    /// What happened, for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Arc<str>>,
}

impl Failure {
    /// A failure with a name and a cause.
    #[must_use]
    pub fn new(error: &str, cause: impl Into<Arc<str>>) -> Failure {
        Failure { error: Some(Arc::from(error)), cause: Some(cause.into()) }
    }

    /// A failure with a name only.
    #[must_use]
    pub fn named(error: &str) -> Failure {
        Failure { error: Some(Arc::from(error)), cause: None }
    }

    /// What a catcher hands to its target: `{"Error": …, "Cause": …}`, with `null` for what is absent.
    #[must_use]
    pub fn output(&self) -> Value {
        let field = |text: &Option<Arc<str>>| text.clone().map_or(Value::Null, Value::String);
        Value::from(crate::Map::from_iter([("Error", field(&self.error)), ("Cause", field(&self.cause))]))
    }
}

/// An error of evaluation, before it is known in which state it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) error: &'static str,
    pub(crate) detail: String,
    /// Whether the cause names the state and the event before the detail.
    pub(crate) located: bool,
}

impl Fault {
    pub(crate) fn runtime(detail: impl Into<String>) -> Fault {
        Fault { error: names::RUNTIME, detail: detail.into(), located: true }
    }

    /// A fault whose cause is the detail alone.
    pub(crate) fn bare(error: &'static str, detail: impl Into<String>) -> Fault {
        Fault { error, detail: detail.into(), located: false }
    }

    pub(crate) fn path_not_found(path: &str, field: &str, input: &Value) -> Fault {
        Fault::runtime(format!(
            "The JSONPath '{path}' specified for the field '{field}' could not be found in the input '{input}'"
        ))
    }

    pub(crate) fn invalid_path(path: &str, reason: &str) -> Fault {
        Fault::runtime(format!("Invalid path '{path}' : {reason}"))
    }

    pub(crate) fn intrinsic(call: &str, reason: &str) -> Fault {
        let detail = format!("The function '{call}' had the following error: {reason}");
        Fault { error: names::INTRINSIC_FAILURE, detail, located: true }
    }

    pub(crate) fn query(detail: impl Into<String>) -> Fault {
        Fault { error: names::QUERY_EVALUATION_ERROR, detail: detail.into(), located: true }
    }
}
