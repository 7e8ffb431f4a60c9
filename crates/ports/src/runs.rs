//! Runs, executions, permits and the outbox, written in one transaction.

use async_trait::async_trait;
use model::{Digest, Event, Execution, ExecutionId, ExecutionState, PermitKey, Run, RunId, RunState, Scope, Timestamp, UnitName};
use serde::{Deserialize, Serialize};

use crate::StoreError;

/// Runs and executions with their permits and events.
#[async_trait]
pub trait Runs: Send + Sync {
    /// Writes all changes or none; durable when this returns.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] names the first change whose condition did not hold.
    async fn write(&self, scope: &Scope, changes: Vec<Change>) -> Result<(), StoreError>;

    /// One run.
    async fn run(&self, scope: &Scope, run: RunId) -> Result<Stored<Run>, StoreError>;

    /// Runs, newest first.
    async fn runs(&self, scope: &Scope, filter: &RunFilter) -> Result<Page<Run>, StoreError>;

    /// One execution.
    async fn execution(&self, scope: &Scope, execution: ExecutionId) -> Result<Stored<Execution>, StoreError>;

    /// Executions of a run by item number.
    async fn executions(&self, scope: &Scope, run: RunId, filter: &ExecutionFilter)
    -> Result<Vec<Stored<Execution>>, StoreError>;

    /// For each (unit, series) the newest succeeded execution, not counting the run `except`; in the order asked. A series are the scope
    /// parameters that make outputs comparable.
    async fn last_accepted(
        &self,
        scope: &Scope,
        wanted: &[(UnitName, Digest)],
        except: RunId,
    ) -> Result<Vec<Option<Execution>>, StoreError>;

    /// Who holds slots of the key, by slot number.
    async fn holders(&self, scope: &Scope, key: &PermitKey) -> Result<Vec<SlotHolder>, StoreError>;

    /// Runs whose id starts so, newest first, at most `limit`.
    async fn find(&self, scope: &Scope, prefix: &str, limit: usize) -> Result<Vec<RunId>, StoreError>;

    /// What was remembered under an idempotency key.
    async fn remembered(&self, scope: &Scope, key: &str) -> Result<Option<IdempotencyRecord>, StoreError>;

    /// Events in the order they were written, after position `after`, at most `limit`, with their positions.
    async fn events(&self, scope: &Scope, after: u64, limit: usize) -> Result<Vec<(u64, Event)>, StoreError>;

    /// Changes whenever somebody else (another process) wrote; for watching.
    async fn foreign_changes(&self) -> Result<u64, StoreError>;
}

/// A record with the version that a later write must name. Versions count from 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stored<T> {
    /// The record.
    pub value: T,
    /// Its version.
    pub version: u64,
}

/// One conditional change.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A new run; conflicts where the id exists.
    CreateRun(Box<Run>),
    /// Replaces the run of that version, which becomes the next one.
    UpdateRun(Box<Run>, u64),
    /// A new execution; conflicts where the id exists. `series` groups executions whose outputs are comparable;
    /// `None` keeps it out of every baseline.
    CreateExecution(Box<Execution>, Option<Digest>),
    /// Replaces the execution of that version, which becomes the next one.
    UpdateExecution(Box<Execution>, u64),
    /// Takes one slot of a key; conflicts where it is taken by another execution, and is done already where by this one.
    TakeSlot(PermitKey, u32, ExecutionId),
    /// Frees a slot; only its holder can, and a slot that somebody else holds meanwhile is left alone.
    FreeSlot(PermitKey, u32, ExecutionId),
    /// Writes an event; one with the same id is the same event.
    Emit(Box<Event>),
    /// Remembers which run an idempotency key made; conflicts where the key is known.
    Remember(IdempotencyRecord),
}

/// Which run an idempotency key made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdempotencyRecord {
    /// The key, unique in the scope.
    pub key: String,
    /// Digest of the request: the same key with another request is refused.
    pub request: Digest,
    /// The run.
    pub run: RunId,
    /// When.
    pub at: Timestamp,
}

/// Which runs to list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunFilter {
    /// Only these states; empty: all.
    pub states: Vec<RunState>,
    /// Only runs that hold this unit.
    pub unit: Option<UnitName>,
    /// Only runs older than this one.
    pub before: Option<RunId>,
    /// At most so many.
    pub limit: usize,
}

/// Which executions to list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExecutionFilter {
    /// Only these states; empty: all.
    pub states: Vec<ExecutionState>,
    /// Only items with a greater number.
    pub after: Option<u32>,
    /// At most so many; 0: all.
    pub limit: usize,
}

/// A page of a list, and where the next one starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The records.
    pub items: Vec<Stored<T>>,
    /// True where there are more.
    pub more: bool,
}

/// Who holds a slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotHolder {
    /// The slot's number, from 0.
    pub slot: u32,
    /// The holder.
    pub execution: ExecutionId,
}

/// What a prefix of an id names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Exactly one run.
    Run(RunId),
    /// Exactly one execution.
    Execution(ExecutionId),
}
