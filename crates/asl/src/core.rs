//! The state of an execution, without the definition that it walks over.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::execution::{Start, Status};
use crate::frame::{Frame, FrameId, Frames};
use crate::random::{Random, mix};
use crate::single::Observed;
use crate::{ReadId, TaskId, TimerId, Value, WriteId};

#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) start: Arc<Start>,
    pub(crate) frames: Frames,
    pub(crate) status: Status,
    pub(crate) tasks: HashMap<TaskId, FrameId>,
    pub(crate) timers: HashMap<TimerId, Timer>,
    pub(crate) reads: HashMap<ReadId, FrameId>,
    pub(crate) writes: HashMap<WriteId, FrameId>,
    /// Work that the event at hand has led to; empty between events.
    pub(crate) work: Vec<Work>,
    /// What stands in for the context object, in the test of a single state.
    pub(crate) context: Option<Value>,
    /// What the test of a single state looks at; None in an execution.
    pub(crate) observed: Option<Observed>,
    next_id: u64,
    draws: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    pub(crate) at: Timestamp,
    pub(crate) purpose: Purpose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The limit on the whole execution.
    Deadline,
    /// A Wait state.
    Wake(FrameId),
    /// A pause before a state is tried again.
    Retry(FrameId),
    TaskTimeout(FrameId),
    TaskHeartbeat(FrameId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Enter the state of a frame.
    Enter(FrameId),
    /// Start the state of a frame again.
    Again(FrameId),
    /// Start as many children of a Map as may run.
    Feed(FrameId),
}

impl Core {
    pub(crate) fn new(start: Start) -> Core {
        Core {
            start: Arc::new(start),
            frames: Frames::default(),
            status: Status::Running,
            tasks: HashMap::new(),
            timers: HashMap::new(),
            reads: HashMap::new(),
            writes: HashMap::new(),
            work: Vec::new(),
            context: None,
            observed: None,
            next_id: 0,
            draws: 0,
        }
    }

    pub(crate) fn next_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// A fresh sequence of numbers, the same in every replay.
    pub(crate) fn draw(&mut self) -> Random {
        self.draws += 1;
        Random::new(mix(self.start.seed ^ mix(self.draws)))
    }

    /// The callback token of a task: it cannot be guessed without the seed.
    pub(crate) fn token(&self, task: TaskId) -> Arc<str> {
        let check = mix(self.start.seed ^ mix(task.0 ^ 0x746f_6b65_6e00_0000));
        Arc::from(format!("{}.{task}.{check:016x}", self.start.id))
    }

    /// The task of a token that this execution gave out.
    pub(crate) fn task_of_token(&self, token: &str) -> Option<TaskId> {
        let (_, task) = token.rsplit_once('.')?.0.rsplit_once('.')?;
        let task = task.parse().ok()?;
        (*self.token(task) == *token).then_some(task)
    }

    /// The name of the child execution that a frame is; None for the root.
    pub(crate) fn child_name(&self, home: &Frame) -> Option<String> {
        let child = home.run.as_ref()?.child?;
        Some(Random::new(mix(self.start.seed ^ mix(child ^ 0x6368_696c_6400_0000))).uuid())
    }
}
