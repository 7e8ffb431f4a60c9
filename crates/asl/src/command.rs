//! What an execution asks of its host.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::resource::{ReaderConfig, Resource, WriterConfig};
use crate::{Failure, Status, Value};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// Ids count up within an execution, so that a replay of the journal gives the same ones.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = std::num::ParseIntError;

            fn from_str(text: &str) -> Result<$name, Self::Err> {
                text.parse().map($name)
            }
        }
    };
}

id!(
    /// Names one attempt of a Task state.
    TaskId
);
id!(
    /// Names one timer.
    TimerId
);
id!(
    /// Names one request for items of a Map.
    ReadId
);
id!(
    /// Names one part of the results of a Map.
    WriteId
);
id!(
    /// Names one run of a distributed Map.
    MapRunId
);

/// Something that the host has to do. Each is safe to do again: the answer to a second one is ignored.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Call a resource; answer with [`Event::TaskSubmitted`](crate::Event::TaskSubmitted),
    /// [`TaskSucceeded`](crate::Event::TaskSucceeded) or [`TaskFailed`](crate::Event::TaskFailed).
    StartTask {
        /// Names this attempt.
        task: TaskId,
        /// The name of the state.
        state: Arc<str>,
        /// What to call, and when the call counts as done.
        resource: Resource,
        /// What to call it with.
        arguments: Value,
        /// `Credentials`, filled in.
        credentials: Option<Value>,
        /// The callback token of a task that does not end with its call: `.waitForTaskToken` and `.sync`. It also
        /// stands in `arguments` wherever the definition says so. See [`Execution::task_of_token`](crate::Execution::task_of_token).
        token: Option<Arc<str>>,
        /// How often the state was tried before: 0 for the first time.
        attempt: u32,
        /// The limit on the attempt in seconds, if it has one. The execution keeps it by a timer of its own.
        timeout: Option<f64>,
        /// The longest silence in seconds, if there is such a limit. Also kept by a timer.
        heartbeat: Option<f64>,
        /// The answer that the host gave by `TaskSubmitted`, when the command is issued again after a replay: the
        /// job runs already and only its end is awaited.
        submitted: Option<Value>,
    },
    /// The result of the task is not wanted any more (a limit passed, a sibling failed, the execution was stopped).
    StopTask {
        /// Which one.
        task: TaskId,
    },
    /// Answer with [`Event::TimerFired`](crate::Event::TimerFired) at a moment (at once, if it has passed).
    StartTimer {
        /// Names the timer.
        timer: TimerId,
        /// When.
        at: Timestamp,
    },
    /// The timer is not wanted any more; should it fire, the event is ignored.
    CancelTimer {
        /// Which one.
        timer: TimerId,
    },
    /// Read items of a Map; answer with [`Event::ItemsRead`](crate::Event::ItemsRead) or
    /// [`ItemsFailed`](crate::Event::ItemsFailed).
    ReadItems {
        /// Names this request.
        read: ReadId,
        /// The run of the Map that needs them: the same for all requests of one source.
        run: MapRunId,
        /// The name of the Map state.
        state: Arc<str>,
        /// Where from.
        resource: Resource,
        /// With what.
        arguments: Value,
        /// How.
        config: ReaderConfig,
        /// How many items were delivered before: go on after them.
        from: u64,
        /// Most items to deliver in the answer; fewer are fine while the answer says that there are more.
        at_most: u64,
    },
    /// Write results of a Map; answer with [`Event::ResultsWritten`](crate::Event::ResultsWritten) or
    /// [`ResultsFailed`](crate::Event::ResultsFailed).
    WriteResults {
        /// Names this part.
        write: WriteId,
        /// The run of the Map: the same for all its parts.
        run: MapRunId,
        /// The name of the Map state.
        state: Arc<str>,
        /// Where to. None if the definition only says how results are to look.
        resource: Option<Resource>,
        /// With what.
        arguments: Value,
        /// How.
        config: WriterConfig,
        /// The number of the part, from 0.
        part: u32,
        /// The results in the order in which the items ended.
        results: Arc<Vec<ItemResult>>,
        /// Whether this part is the last; the answer to it is the output of the Map.
        last: bool,
    },
    /// The execution has ended. Nothing follows.
    Finished(Status),
}

/// How one item of a Map ended.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemResult {
    /// The number of the item (or batch), from 0.
    pub index: u64,
    /// The input of its processor.
    pub input: Value,
    /// The output, or why there is none.
    pub outcome: Result<Value, Failure>,
    /// When its processor started.
    pub started: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
}
