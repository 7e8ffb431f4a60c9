//! Where an execution stands: one frame for each thread of control.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;

use crate::command::ItemResult;
use crate::definition::StateId;
use crate::{Failure, Map, MapRunId, ReadId, TaskId, TimerId, Value, WriteId};

/// Names a frame; a name is never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FrameId {
    slot: u32,
    generation: u32,
}

/// A thread of control: the execution itself, a branch, or the processor of an item.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) parent: Option<FrameId>,
    /// The number of the branch or item in its parent.
    pub(crate) index: u64,
    /// The frame of the (child) execution that this one is part of; itself, if it is one.
    pub(crate) home: FrameId,
    pub(crate) state: StateId,
    /// The raw input of the state.
    pub(crate) input: Value,
    pub(crate) variables: Arc<Map>,
    /// `$$.Map.Item` in the processor of an inline Map.
    pub(crate) item: Option<Arc<Item>>,
    /// What only an execution has: the root, and every child of a distributed Map.
    pub(crate) run: Option<Box<Run>>,
    pub(crate) entered: Timestamp,
    /// The number of the event by which the state was entered.
    pub(crate) entered_event: u64,
    /// How often each retrier of the state was used.
    pub(crate) retries: Vec<u32>,
    pub(crate) doing: Doing,
}

impl Frame {
    /// How often the state was tried again.
    pub(crate) fn retry_count(&self) -> u32 {
        self.retries.iter().sum()
    }
}

/// What a (child) execution has of its own.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) input: Value,
    pub(crate) started: Timestamp,
    /// How many events its history has.
    pub(crate) events: u64,
    /// What the name of a child follows from; None for the root.
    pub(crate) child: Option<u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) index: u64,
    pub(crate) value: Value,
}

/// What a frame waits for.
#[derive(Debug)]
pub(crate) enum Doing {
    /// Nothing: it has work to do.
    Working,
    Task(Box<TaskRun>),
    Waiting {
        timer: TimerId,
    },
    Retrying {
        timer: TimerId,
    },
    Parallel(Box<ParallelRun>),
    Map(Box<MapRun>),
}

#[derive(Debug)]
pub(crate) struct TaskRun {
    pub(crate) task: TaskId,
    pub(crate) arguments: Value,
    pub(crate) credentials: Option<Value>,
    pub(crate) token: Option<Arc<str>>,
    pub(crate) timeout: Option<(TimerId, f64)>,
    pub(crate) heartbeat: Option<(TimerId, f64)>,
    pub(crate) submitted: Option<Value>,
}

#[derive(Debug)]
pub(crate) struct ParallelRun {
    pub(crate) children: Vec<Option<FrameId>>,
    pub(crate) results: Vec<Value>,
    pub(crate) left: usize,
}

#[derive(Debug)]
pub(crate) struct MapRun {
    pub(crate) id: MapRunId,
    /// The effective input of the state: what the item selector sees.
    pub(crate) input: Value,
    pub(crate) source: Source,
    pub(crate) limits: MapLimits,
    pub(crate) children: BTreeSet<FrameId>,
    /// How many children were started: the number of the next one.
    pub(crate) started: u64,
    /// How many items went through the selector.
    pub(crate) selected: u64,
    /// The item that the selector saw last.
    pub(crate) current: Value,
    pub(crate) succeeded: u64,
    pub(crate) failed: u64,
    pub(crate) results: Results,
    /// Why the Map fails, while its results are still being written.
    pub(crate) failure: Option<Failure>,
}

#[derive(Debug)]
pub(crate) struct MapLimits {
    pub(crate) concurrency: usize,
    pub(crate) max_items: u64,
    pub(crate) tolerated_count: Option<u64>,
    pub(crate) tolerated_percentage: Option<f64>,
    pub(crate) batch: Option<Batch>,
}

#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) max_items: Option<u64>,
    pub(crate) max_bytes: Option<u64>,
    pub(crate) input: Option<Value>,
}

/// Where the next item comes from.
#[derive(Debug)]
pub(crate) enum Source {
    List { items: Arc<Vec<Value>>, next: usize },
    Reader(Reading),
}

#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) arguments: Value,
    pub(crate) ready: VecDeque<Value>,
    /// The request that is under way.
    pub(crate) asked: Option<ReadId>,
    pub(crate) delivered: u64,
    pub(crate) taken: u64,
    pub(crate) more: bool,
}

/// What becomes of the outputs of the children.
#[derive(Debug)]
pub(crate) enum Results {
    /// They are the result of the state, in the order of the items.
    Kept(Vec<Option<Value>>),
    Written(Writing),
}

#[derive(Debug)]
pub(crate) struct Writing {
    pub(crate) arguments: Value,
    pub(crate) ready: Vec<ItemResult>,
    pub(crate) parts: u32,
    pub(crate) pending: BTreeMap<WriteId, Part>,
    pub(crate) last_sent: bool,
    pub(crate) output: Option<Value>,
}

#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) number: u32,
    pub(crate) results: Arc<Vec<ItemResult>>,
    pub(crate) last: bool,
}

/// All frames of an execution.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot {
    generation: u32,
    frame: Option<Box<Frame>>,
}

impl Frames {
    /// Adds the frame that `make` gives for its name.
    pub(crate) fn add(&mut self, make: impl FnOnce(FrameId) -> Frame) -> FrameId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, frame: None });
            u32::try_from(self.slots.len() - 1).expect("fewer than four billion frames fit in memory")
        });
        let place = &mut self.slots[slot as usize];
        let id = FrameId { slot, generation: place.generation };
        place.frame = Some(Box::new(make(id)));
        id
    }

    pub(crate) fn get(&self, id: FrameId) -> Option<&Frame> {
        let slot = self.slots.get(id.slot as usize)?;
        slot.frame.as_deref().filter(|_| slot.generation == id.generation)
    }

    pub(crate) fn get_mut(&mut self, id: FrameId) -> Option<&mut Frame> {
        let slot = self.slots.get_mut(id.slot as usize)?;
        slot.frame.as_deref_mut().filter(|_| slot.generation == id.generation)
    }

    pub(crate) fn remove(&mut self, id: FrameId) -> Option<Box<Frame>> {
        let slot = self.slots.get_mut(id.slot as usize)?;
        if slot.generation != id.generation {
            return None;
        }
        let frame = slot.frame.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(id.slot);
        Some(frame)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Frame> {
        self.slots.iter().filter_map(|slot| slot.frame.as_deref())
    }
}
