//! [`Runs`] on the tables.

use std::cmp::Reverse;

use async_trait::async_trait;
use model::{Digest, Event, Execution, ExecutionId, PermitKey, Run, RunId, Scope, UnitName};
use ports::{Change, ExecutionFilter, IdempotencyRecord, Page, RunFilter, Runs, SlotHolder, StoreError, Stored};
use rusqlite::{Connection, Params, Row, params};

use super::{
    Store,
    changes::{self, Edit},
    fault, key,
};

#[async_trait]
impl Runs for Store {
    async fn write(&self, scope: &Scope, changes: Vec<Change>) -> Result<(), StoreError> {
        let edits: Vec<Edit> = changes.into_iter().map(Edit::from).collect();
        let scope = scope.clone();
        let make = move |connection: &Connection| edits.iter().try_for_each(|edit| changes::make(connection, &scope, edit));
        self.inner.writer.run(make).await
    }

    async fn run(&self, scope: &Scope, run: RunId) -> Result<Stored<Run>, StoreError> {
        let scope = scope.clone();
        self.read(move |connection| {
            first(connection, RUN, params![scope.as_str(), key::of_run(run)], stored)?.ok_or(StoreError::NotFound)
        })
        .await
    }

    async fn runs(&self, scope: &Scope, filter: &RunFilter) -> Result<Page<Run>, StoreError> {
        let (scope, filter) = (scope.clone(), filter.clone());
        self.read(move |connection| page(connection, &scope, &filter)).await
    }

    async fn execution(&self, scope: &Scope, execution: ExecutionId) -> Result<Stored<Execution>, StoreError> {
        let scope = scope.clone();
        self.read(move |connection| {
            let values = params![scope.as_str(), key::of_run(execution.run), execution.item];
            first(connection, EXECUTION, values, stored)?.ok_or(StoreError::NotFound)
        })
        .await
    }

    async fn executions(
        &self,
        scope: &Scope,
        run: RunId,
        filter: &ExecutionFilter,
    ) -> Result<Vec<Stored<Execution>>, StoreError> {
        let (scope, filter) = (scope.clone(), filter.clone());
        self.read(move |connection| executions(connection, &scope, run, &filter)).await
    }

    async fn last_accepted(
        &self,
        scope: &Scope,
        wanted: &[(UnitName, Digest)],
        except: RunId,
    ) -> Result<Vec<Option<Execution>>, StoreError> {
        let (scope, wanted) = (scope.clone(), wanted.to_vec());
        self.read(move |connection| {
            let find = |(unit, series): &(UnitName, Digest)| {
                let values = params![scope.as_str(), unit.as_str(), changes::of_series(*series), key::of_run(except)];
                first(connection, LAST_ACCEPTED, values, |row| key::json_at(row, 0))
            };
            wanted.iter().map(find).collect()
        })
        .await
    }

    async fn holders(&self, scope: &Scope, key: &PermitKey) -> Result<Vec<SlotHolder>, StoreError> {
        let (scope, name) = (scope.clone(), key.to_string());
        self.read(move |connection| {
            all(connection, HOLDERS, params![scope.as_str(), name], |row| {
                let holder = || -> rusqlite::Result<SlotHolder> {
                    let execution = ExecutionId { run: key::run_at(row, 1)?, item: row.get(2)? };
                    Ok(SlotHolder { slot: row.get(0)?, execution })
                };
                holder().map_err(fault::of)
            })
        })
        .await
    }

    async fn find(&self, scope: &Scope, prefix: &str, limit: usize) -> Result<Vec<RunId>, StoreError> {
        let Some((low, high)) = between(prefix) else { return Ok(Vec::new()) };
        let scope = scope.clone();
        self.read(move |connection| {
            let values = params![scope.as_str(), key::of_run(low), key::of_run(high), at_most(limit)];
            all(connection, FIND, values, |row| key::run_at(row, 0).map_err(fault::of))
        })
        .await
    }

    async fn remembered(&self, scope: &Scope, key: &str) -> Result<Option<IdempotencyRecord>, StoreError> {
        let (scope, name) = (scope.clone(), key.to_owned());
        self.read(move |connection| first(connection, REMEMBERED, params![scope.as_str(), name], |row| key::json_at(row, 0)))
            .await
    }

    async fn events(&self, scope: &Scope, after: u64, limit: usize) -> Result<Vec<(u64, Event)>, StoreError> {
        let scope = scope.clone();
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        self.read(move |connection| {
            all(connection, EVENTS, params![scope.as_str(), after, at_most(limit)], |row| {
                Ok((key::number_at(row, 0).map_err(fault::of)?, key::json_at(row, 1)?))
            })
        })
        .await
    }

    async fn foreign_changes(&self) -> Result<u64, StoreError> {
        self.inner.writer.foreign_changes().await
    }
}

pub(super) const RUN: &str = "SELECT version, body FROM runs WHERE scope = ?1 AND id = ?2";
pub(super) const EXECUTION: &str = "SELECT version, body FROM executions WHERE scope = ?1 AND run = ?2 AND item = ?3";
pub(super) const HOLDERS: &str = "SELECT slot, run, item FROM slots WHERE scope = ?1 AND key = ?2 ORDER BY slot";
pub(super) const FIND: &str = "SELECT id FROM runs WHERE scope = ?1 AND id BETWEEN ?2 AND ?3 ORDER BY id DESC LIMIT ?4";
pub(super) const REMEMBERED: &str = "SELECT body FROM idempotency WHERE scope = ?1 AND key = ?2";
pub(super) const EVENTS: &str = "SELECT position, body FROM events WHERE scope = ?1 AND position > ?2 ORDER BY position LIMIT ?3";
/// Newest by the run's id, then by item: the order of creation.
pub(super) const LAST_ACCEPTED: &str = "SELECT body FROM executions
     WHERE scope = ?1 AND unit = ?2 AND series = ?3 AND run <> ?4 AND state = 'succeeded' AND series IS NOT NULL
     ORDER BY run DESC, item DESC LIMIT 1";

pub(super) const PAGE: &str = "SELECT version, body, id FROM runs WHERE scope = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3";
pub(super) const PAGE_OF_STATE: &str =
    "SELECT version, body, id FROM runs WHERE scope = ?1 AND state = ?4 AND id < ?2 ORDER BY id DESC LIMIT ?3";
/// CROSS JOIN keeps the order of the tables: the unit's runs first, newest first, each then looked up.
pub(super) const PAGE_OF_UNIT: &str =
    "SELECT version, body, id FROM unit_runs CROSS JOIN runs ON runs.scope = ?1 AND runs.id = unit_runs.run
     WHERE unit_runs.scope = ?1 AND unit_runs.unit = ?4 AND unit_runs.run < ?2 AND (?5 = '' OR instr(?5, runs.state))
     ORDER BY unit_runs.run DESC LIMIT ?3";

/// Above every run: the ids in use have a version in their bits.
const NEWEST: [u8; 16] = [0xff; 16];

fn page(connection: &Connection, scope: &Scope, filter: &RunFilter) -> Result<Page<Run>, StoreError> {
    let scope = scope.as_str();
    let before = filter.before.map_or(NEWEST, key::of_run);
    let one_more = at_most(filter.limit.saturating_add(1));
    let found = |row: &Row<'_>| Ok((key::run_at(row, 2).map_err(fault::of)?, stored(row)?));
    let mut runs: Vec<(RunId, Stored<Run>)> = if let Some(unit) = &filter.unit {
        // No state's word is part of another's.
        let states: Vec<&str> = filter.states.iter().map(|state| state.as_str()).collect();
        all(connection, PAGE_OF_UNIT, params![scope, before, one_more, unit.as_str(), states.join(" ")], found)?
    } else if filter.states.is_empty() {
        all(connection, PAGE, params![scope, before, one_more], found)?
    } else {
        let mut runs = Vec::new();
        for state in distinct(&filter.states) {
            runs.extend(all(connection, PAGE_OF_STATE, params![scope, before, one_more, state.as_str()], found)?);
        }
        runs.sort_unstable_by_key(|(id, _)| Reverse(*id));
        runs
    };
    let more = runs.len() > filter.limit;
    runs.truncate(filter.limit);
    Ok(Page { items: runs.into_iter().map(|(_, run)| run).collect(), more })
}

pub(super) const EXECUTIONS: &str = "SELECT version, body, item FROM executions
     WHERE scope = ?1 AND run = ?2 AND item > ?3 ORDER BY item LIMIT ?4";
pub(super) const EXECUTIONS_OF_STATE: &str = "SELECT version, body, item FROM executions
     WHERE scope = ?1 AND run = ?2 AND state = ?5 AND item > ?3 ORDER BY item LIMIT ?4";

fn executions(
    connection: &Connection,
    scope: &Scope,
    run: RunId,
    filter: &ExecutionFilter,
) -> Result<Vec<Stored<Execution>>, StoreError> {
    let (scope, run) = (scope.as_str(), key::of_run(run));
    let after = filter.after.map_or(-1, i64::from);
    let limit = if filter.limit == 0 { usize::MAX } else { filter.limit };
    if filter.states.is_empty() {
        return all(connection, EXECUTIONS, params![scope, run, after, at_most(limit)], stored);
    }
    let mut found: Vec<(u32, Stored<Execution>)> = Vec::new();
    for state in distinct(&filter.states) {
        let values = params![scope, run, after, at_most(limit), state.as_str()];
        found.extend(all(connection, EXECUTIONS_OF_STATE, values, |row| Ok((key::at(row, 2)?, stored(row)?)))?);
    }
    found.sort_by_key(|(item, _)| *item);
    found.truncate(limit);
    Ok(found.into_iter().map(|(_, execution)| execution).collect())
}

/// The lowest and the highest id that starts with `prefix`; none where no id can.
fn between(prefix: &str) -> Option<(RunId, RunId)> {
    const DIGITS: usize = 26;
    let complete = |digits: &str, last: &str| {
        let missing = DIGITS.checked_sub(digits.len())?;
        format!("{}{digits}{}", RunId::PREFIX, last.repeat(missing)).parse().ok()
    };
    match prefix.strip_prefix(RunId::PREFIX) {
        Some("") => Some((RunId::from_bits(0), RunId::from_bits(u128::MAX))),
        Some(digits) => Some((complete(digits, "0")?, complete(digits, "z")?)),
        None if RunId::PREFIX.starts_with(prefix) => between(RunId::PREFIX),
        None => None,
    }
}

/// The version and the record in the first two columns.
fn stored<T: serde::de::DeserializeOwned>(row: &Row<'_>) -> Result<Stored<T>, StoreError> {
    Ok(Stored { version: key::number_at(row, 0).map_err(fault::of)?, value: key::json_at(row, 1)? })
}

/// A limit as SQLite takes it.
fn at_most(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn distinct<T: Copy + Ord>(states: &[T]) -> Vec<T> {
    let mut states = states.to_vec();
    states.sort_unstable();
    states.dedup();
    states
}

/// Every row of a query.
pub(super) fn all<T>(
    connection: &Connection,
    select: &str,
    values: impl Params,
    mut read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut select = connection.prepare_cached(select).map_err(fault::of)?;
    let mut rows = select.query(values).map_err(fault::of)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(fault::of)? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// The first row of a query, if there is one.
pub(super) fn first<T>(
    connection: &Connection,
    select: &str,
    values: impl Params,
    read: impl FnOnce(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    let mut select = connection.prepare_cached(select).map_err(fault::of)?;
    let mut rows = select.query(values).map_err(fault::of)?;
    rows.next().map_err(fault::of)?.map(read).transpose()
}
