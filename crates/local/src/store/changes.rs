//! What each conditional change does to the tables. The condition is part of the statement that writes.

use model::{Digest, Event, Execution, ExecutionId, ExecutionState, PermitKey, Run, RunId, RunState, Scope, UnitName};
use ports::{Change, StoreError};
use rusqlite::{Connection, ErrorCode, Params, params};

use super::{
    fault,
    key::{self, Json},
};

/// A change as columns. Bodies are written out by the caller's thread, not by the one that writes.
pub(super) enum Edit {
    CreateRun(RunRow),
    UpdateRun(RunRow, u64),
    CreateExecution(ExecutionRow, Option<[u8; 16]>),
    UpdateExecution(ExecutionRow, u64),
    TakeSlot(PermitKey, u32, ExecutionId),
    FreeSlot(PermitKey, u32, ExecutionId),
    Emit(EventRow),
    Remember { key: String, body: Json },
}

/// A run as columns.
pub(super) struct RunRow {
    id: RunId,
    state: RunState,
    body: Json,
}

/// An execution as columns.
pub(super) struct ExecutionRow {
    id: ExecutionId,
    state: ExecutionState,
    unit: UnitName,
    body: Json,
}

/// An event as columns.
pub(super) struct EventRow {
    id: String,
    cause: String,
    body: Json,
}

impl From<&Run> for RunRow {
    fn from(run: &Run) -> RunRow {
        RunRow { id: run.id, state: run.state, body: key::json(run) }
    }
}

impl From<&Execution> for ExecutionRow {
    fn from(execution: &Execution) -> ExecutionRow {
        let (id, state, unit) = (execution.id, execution.state, execution.unit.clone());
        ExecutionRow { id, state, unit, body: key::json(execution) }
    }
}

impl From<&Event> for Edit {
    fn from(event: &Event) -> Edit {
        Edit::Emit(EventRow { id: event.id.to_string(), cause: event.causation_id.clone(), body: key::json(event) })
    }
}

impl From<Change> for Edit {
    fn from(change: Change) -> Edit {
        match change {
            Change::CreateRun(run) => Edit::CreateRun((&*run).into()),
            Change::UpdateRun(run, version) => Edit::UpdateRun((&*run).into(), version),
            Change::CreateExecution(execution, series) => Edit::CreateExecution((&*execution).into(), series.map(of_series)),
            Change::UpdateExecution(execution, version) => Edit::UpdateExecution((&*execution).into(), version),
            Change::TakeSlot(key, slot, execution) => Edit::TakeSlot(key, slot, execution),
            Change::FreeSlot(key, slot, execution) => Edit::FreeSlot(key, slot, execution),
            Change::Emit(event) => (&*event).into(),
            Change::Remember(record) => Edit::Remember { body: key::json(&record), key: record.key },
        }
    }
}

/// A series as a column: half of the digest tells series apart as well as the whole.
pub(super) fn of_series(series: Digest) -> [u8; 16] {
    series.bits().to_be_bytes()
}

/// Makes one change, inside the writer's transaction.
pub(super) fn make(connection: &Connection, scope: &Scope, edit: &Edit) -> Result<(), StoreError> {
    let hands = Hands { connection, scope: scope.as_str() };
    match edit {
        Edit::CreateRun(run) => hands.create_run(run),
        Edit::UpdateRun(run, version) => hands.update_run(run, *version),
        Edit::CreateExecution(execution, series) => hands.create_execution(execution, series.as_ref()),
        Edit::UpdateExecution(execution, version) => hands.update_execution(execution, *version),
        Edit::TakeSlot(permit, slot, execution) => hands.take_slot(permit, *slot, *execution),
        Edit::FreeSlot(permit, slot, execution) => hands.free_slot(permit, *slot, *execution),
        Edit::Emit(event) => hands.emit(event),
        Edit::Remember { key, body } => hands.remember(key, body),
    }
}

/// The statements, in one scope.
struct Hands<'a> {
    connection: &'a Connection,
    scope: &'a str,
}

impl Hands<'_> {
    /// Runs a statement; the number of rows it wrote.
    fn write(&self, statement: &str, values: impl Params) -> rusqlite::Result<usize> {
        self.connection.prepare_cached(statement)?.execute(values)
    }

    /// Runs a statement that must write a row, or `what` has changed meanwhile.
    fn demand(&self, statement: &str, values: impl Params, what: impl FnOnce() -> String) -> Result<(), StoreError> {
        match self.write(statement, values) {
            Ok(0) => Err(StoreError::Conflict(what())),
            Ok(_) => Ok(()),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => Err(StoreError::Conflict(what())),
            Err(error) => Err(fault::of(error)),
        }
    }

    fn create_run(&self, run: &RunRow) -> Result<(), StoreError> {
        self.demand(
            "INSERT INTO runs (scope, id, state, version, body) VALUES (?1, ?2, ?3, 1, ?4)",
            params![self.scope, key::of_run(run.id), run.state.as_str(), run.body],
            || format!("run {}", run.id),
        )
    }

    fn update_run(&self, run: &RunRow, version: u64) -> Result<(), StoreError> {
        self.demand(
            "UPDATE runs SET state = ?3, version = version + 1, body = ?4 WHERE scope = ?1 AND id = ?2 AND version = ?5",
            params![self.scope, key::of_run(run.id), run.state.as_str(), run.body, version.cast_signed()],
            || format!("run {}", run.id),
        )
    }

    fn create_execution(&self, execution: &ExecutionRow, series: Option<&[u8; 16]>) -> Result<(), StoreError> {
        let ExecutionRow { id, state, unit, body } = execution;
        let run = key::of_run(id.run);
        self.demand(
            "INSERT INTO executions (scope, run, item, state, version, unit, series, body) VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?7)",
            params![self.scope, run, id.item, state.as_str(), unit.as_str(), series, body],
            || format!("execution {id}"),
        )?;
        // Several items of a run may be the same unit's.
        let unit_run = "INSERT OR IGNORE INTO unit_runs (scope, unit, run) VALUES (?1, ?2, ?3)";
        self.write(unit_run, params![self.scope, unit.as_str(), run]).map(drop).map_err(fault::of)
    }

    fn update_execution(&self, execution: &ExecutionRow, version: u64) -> Result<(), StoreError> {
        let ExecutionRow { id, state, unit: _, body } = execution;
        self.demand(
            "UPDATE executions SET state = ?4, version = version + 1, body = ?5
             WHERE scope = ?1 AND run = ?2 AND item = ?3 AND version = ?6",
            params![self.scope, key::of_run(id.run), id.item, state.as_str(), body, version.cast_signed()],
            || format!("execution {id}"),
        )
    }

    fn take_slot(&self, permit: &PermitKey, slot: u32, execution: ExecutionId) -> Result<(), StoreError> {
        let (name, run) = (permit.to_string(), key::of_run(execution.run));
        let take = "INSERT OR IGNORE INTO slots (scope, key, slot, run, item) VALUES (?1, ?2, ?3, ?4, ?5)";
        let taken = self.write(take, params![self.scope, name, slot, run, execution.item]).map_err(fault::of)?;
        if taken == 1 {
            return Ok(());
        }
        let holder = "SELECT run = ?4 AND item = ?5 FROM slots WHERE scope = ?1 AND key = ?2 AND slot = ?3";
        let mut holder = self.connection.prepare_cached(holder).map_err(fault::of)?;
        let is_mine = holder.query_row(params![self.scope, name, slot, run, execution.item], |row| row.get(0));
        match is_mine.map_err(fault::of)? {
            true => Ok(()),
            false => Err(StoreError::Conflict(format!("slot {slot} of {permit}"))),
        }
    }

    fn free_slot(&self, permit: &PermitKey, slot: u32, execution: ExecutionId) -> Result<(), StoreError> {
        let free = "DELETE FROM slots WHERE scope = ?1 AND key = ?2 AND slot = ?3 AND run = ?4 AND item = ?5";
        let values = params![self.scope, permit.to_string(), slot, key::of_run(execution.run), execution.item];
        self.write(free, values).map(drop).map_err(fault::of)
    }

    fn emit(&self, event: &EventRow) -> Result<(), StoreError> {
        // The highest position stays for good, whatever else is pruned: positions are never given twice.
        let emit = "INSERT OR IGNORE INTO events (scope, position, cause, id, body)
             VALUES (?1, 1 + coalesce((SELECT max(position) FROM events WHERE scope = ?1), 0), ?2, ?3, ?4)";
        self.write(emit, params![self.scope, event.cause, event.id, event.body]).map(drop).map_err(fault::of)
    }

    fn remember(&self, name: &str, body: &Json) -> Result<(), StoreError> {
        self.demand("INSERT INTO idempotency (scope, key, body) VALUES (?1, ?2, ?3)", params![self.scope, name, body], || {
            format!("idempotency key {name}")
        })
    }
}
