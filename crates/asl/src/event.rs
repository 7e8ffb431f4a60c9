//! What the host tells an execution.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{ReadId, TaskId, TimerId, Value, WriteId};

/// Something that happened. An event and its time are an entry of the journal: applying the same entries to a new
/// execution of the same start gives the same state, the same commands and the same ids.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum Event {
    /// A `.sync` job was started, or the call that carries a token was made; the end is still to come.
    TaskSubmitted {
        /// Which task.
        task: TaskId,
        /// What the call answered.
        output: Value,
    },
    /// A task ended well.
    TaskSucceeded {
        /// Which task.
        task: TaskId,
        /// Its result.
        output: Value,
    },
    /// A task failed.
    TaskFailed {
        /// Which task.
        task: TaskId,
        /// The name of the error, such as `Lambda.TooManyRequestsException`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Arc<str>>,
        /// What happened.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Arc<str>>,
    },
    /// A task cannot be called at all, because there is nothing of that name or the host knows no such resource: the
    /// state fails with `States.Runtime`, which nothing catches.
    TaskRefused {
        /// Which task.
        task: TaskId,
        /// Why; the state's name is added to it.
        cause: Arc<str>,
    },
    /// A task is alive.
    TaskHeartbeat {
        /// Which task.
        task: TaskId,
    },
    /// The moment of a timer has come.
    TimerFired {
        /// Which timer.
        timer: TimerId,
    },
    /// Items of a Map were read.
    ItemsRead {
        /// Which request.
        read: ReadId,
        /// The items, in order.
        items: Vec<Value>,
        /// Whether there are more; the execution asks for them when it needs them.
        more: bool,
    },
    /// The items of a Map cannot be read.
    ItemsFailed {
        /// Which request.
        read: ReadId,
        /// The name of the error; None stands for `States.ItemReaderFailed`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Arc<str>>,
        /// What happened.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Arc<str>>,
    },
    /// A part of the results of a Map was written.
    ResultsWritten {
        /// Which part.
        write: WriteId,
        /// The result of the Map state (`MapRunArn`, `ResultWriterDetails`), with the last part; ignored before.
        output: Value,
    },
    /// The results of a Map cannot be written.
    ResultsFailed {
        /// Which part.
        write: WriteId,
        /// The name of the error; None stands for `States.ResultWriterFailed`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Arc<str>>,
        /// What happened.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Arc<str>>,
    },
    /// Somebody stops the execution.
    Stop {
        /// The name of the error to report.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Arc<str>>,
        /// The reason to report.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Arc<str>>,
    },
}

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// It changed the execution.
    Applied,
    /// It changed nothing and need not be kept.
    Ignored(Stale),
}

/// Why an event is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stale {
    /// The execution has ended.
    ExecutionEnded,
    /// The task, timer, read or write is not awaited: it ended before, or it never was one of this execution.
    NotAwaited,
}
