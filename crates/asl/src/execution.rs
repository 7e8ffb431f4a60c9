//! Running a machine: commands out, events in.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::command::{Command, TaskId};
use crate::core::Core;
use crate::definition::Machine;
use crate::event::{Applied, Event, Stale};
use crate::step::Step;
use crate::{Failure, Value};

/// What an execution begins with. The same start and the same events give the same execution.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// The execution's id (an ARN, where there is one): `$$.Execution.Id`.
    pub id: Arc<str>,
    /// Its name: `$$.Execution.Name`.
    pub name: Arc<str>,
    /// The role it acts in, if it has one: `$$.Execution.RoleArn`.
    pub role: Option<Arc<str>>,
    /// The id of the machine: `$$.StateMachine.Id`.
    pub machine_id: Arc<str>,
    /// The name of the machine: `$$.StateMachine.Name`.
    pub machine_name: Arc<str>,
    /// Whether it is a long run or a short one.
    pub kind: Workflow,
    /// The input of the first state.
    pub input: Value,
    /// When it starts.
    pub now: Timestamp,
    /// What every random choice follows from: jitter, `States.UUID`, callback tokens. A host draws it at random, and
    /// keeps it with the journal.
    pub seed: u64,
    /// What it may use up.
    pub limits: Limits,
}

impl Start {
    /// A start with an id, an input, a time and a seed; the names are taken from the id, the limits are the service's.
    #[must_use]
    pub fn new(id: &str, input: Value, now: Timestamp, seed: u64) -> Start {
        let name = id.rsplit(':').next().unwrap_or(id);
        Start {
            id: Arc::from(id),
            name: Arc::from(name),
            role: None,
            machine_id: Arc::from("machine"),
            machine_name: Arc::from("machine"),
            kind: Workflow::Standard,
            input,
            now,
            seed,
            limits: Limits::default(),
        }
    }
}

/// The type of a state machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Workflow {
    /// Runs for as long as it takes, and can be redriven.
    #[default]
    Standard,
    /// Runs for minutes, often, and cannot be redriven: `$$.Execution` has no `RedriveCount`.
    Express,
}

/// What an execution may use up. The default is what the service allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most events in the history of an execution; children of a distributed Map have histories of their own.
    pub events: u64,
    /// The most bytes in an input, a result or an output, as JSON.
    pub payload: usize,
    /// How many items of an inline Map run at once, where the definition does not say.
    pub inline_concurrency: usize,
    /// How many items of a distributed Map run at once, where the definition does not say.
    pub distributed_concurrency: usize,
    /// The most items that are read at a time.
    pub items_per_read: u64,
    /// How many results are written at a time.
    pub results_per_write: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            events: 25_000,
            payload: crate::size::LARGEST,
            inline_concurrency: 40,
            distributed_concurrency: 10_000,
            items_per_read: 1_000,
            results_per_write: 1_000,
        }
    }
}

/// How an execution is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    /// It has not ended.
    Running,
    /// It ended well.
    Succeeded {
        /// The output of its last state.
        output: Value,
    },
    /// It failed.
    Failed(Failure),
    /// It ran longer than the machine's `TimeoutSeconds`.
    TimedOut,
    /// It was stopped, with the error and cause that were given for it.
    Aborted(Failure),
}

/// An execution of a machine: knows no clock, does no I/O, and is moved by nothing but events.
#[derive(Debug)]
pub struct Execution {
    machine: Arc<Machine>,
    core: Core,
}

impl Execution {
    /// Starts an execution; what it asks for first is added to `out`.
    pub fn start(machine: Arc<Machine>, start: Start, out: &mut Vec<Command>) -> Execution {
        let now = start.now;
        let mut core = Core::new(start);
        Step::new(&mut core, &machine, now, out).start();
        Execution { machine, core }
    }

    /// Applies an event that happened at `now`; what the execution asks for next is added to `out`.
    ///
    /// An event for something that is not awaited (any more) changes nothing and asks for nothing, so that a second
    /// delivery does no harm.
    pub fn apply(&mut self, event: Event, now: Timestamp, out: &mut Vec<Command>) -> Applied {
        if self.core.status != Status::Running {
            return Applied::Ignored(Stale::ExecutionEnded);
        }
        Step::new(&mut self.core, &self.machine, now, out).apply(event)
    }

    /// How the execution is.
    #[must_use]
    pub fn status(&self) -> &Status {
        &self.core.status
    }

    /// What the execution began with.
    #[must_use]
    pub fn began_with(&self) -> &Start {
        &self.core.start
    }

    /// The task that waits for a callback token which this execution gave out, if it still waits.
    #[must_use]
    pub fn task_of_token(&self, token: &str) -> Option<TaskId> {
        self.core.task_of_token(token).filter(|task| self.core.tasks.contains_key(task))
    }

    /// Every task, timer, read and write that is awaited, as commands in the order in which they were issued: what a
    /// host has to see to after it has replayed a journal.
    pub fn outstanding(&self) -> impl Iterator<Item = Command> {
        crate::outstanding::commands(&self.core, &self.machine).into_iter()
    }
}
