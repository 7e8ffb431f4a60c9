//! The journal of the state machine interpreter: what it takes to go on where a dead process stopped.
//!
//! Not a port: only the embedded home has an interpreter of its own.

use model::{Scope, Timestamp};
use ports::StoreError;
use rusqlite::{Connection, ErrorCode, Row, params};

use super::{
    Receipt, Store, fault, key,
    runs::{all, first},
};

/// One entry of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its number: each entry's is one more than the one's before it. Below 2³².
    pub seq: u64,
    /// When it was made.
    pub at: Timestamp,
    /// What happened, as JSON text.
    pub json: String,
}

/// An execution of a state machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineExecution {
    /// Its name, unique in the scope.
    pub name: String,
    /// The state machine's name.
    pub machine: String,
    /// Its input, as JSON text.
    pub input: String,
    /// When it was started.
    pub started_at: Timestamp,
    /// How it ended, as JSON text; absent while it runs.
    pub status: Option<String>,
}

/// Entries of one machine lie within so many places.
const PLACES: i64 = 1 << 32;

impl Store {
    /// Starts an execution of a state machine. False where one of that name exists: it is left as it is.
    pub fn start_machine(&self, scope: &Scope, execution: MachineExecution) -> Receipt<bool> {
        let scope = scope.clone();
        self.inner.writer.submit(move |connection| {
            let MachineExecution { name, machine, input, started_at, status } = &execution;
            let start = "INSERT OR IGNORE INTO machines (scope, name, machine, input, started_at, status)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            let mut start = connection.prepare_cached(start).map_err(fault::of)?;
            let values = params![scope.as_str(), name, machine, input, key::of_time(*started_at), status];
            start.execute(values).map(|written| written == 1).map_err(fault::of)
        })
    }

    /// Appends entries to the journal of an execution, after everything appended before. The receipt may be dropped: the
    /// entries are written all the same, with the next commit or a few milliseconds later.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] where the execution does not exist; [`StoreError::Conflict`] where the entries do not follow
    /// the last one: after a refused append every later one is refused too, so that a journal never has a gap.
    pub fn append(&self, scope: &Scope, name: &str, entries: Vec<Entry>) -> Receipt<()> {
        let (scope, name) = (scope.clone(), name.to_owned());
        self.inner.writer.submit(move |connection| append(connection, &scope, &name, &entries))
    }

    /// Notes how an execution ended; `status` is JSON text. An ended one keeps its status.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] where the execution does not exist.
    pub fn finish(&self, scope: &Scope, name: &str, status: String) -> Receipt<()> {
        let (scope, name) = (scope.clone(), name.to_owned());
        self.inner.writer.submit(move |connection| {
            let finish = "UPDATE machines SET status = coalesce(status, ?3) WHERE scope = ?1 AND name = ?2";
            let mut finish = connection.prepare_cached(finish).map_err(fault::of)?;
            match finish.execute(params![scope.as_str(), name, status]).map_err(fault::of)? {
                0 => Err(StoreError::NotFound),
                _ => Ok(()),
            }
        })
    }

    /// Takes the journal of an ended execution away; its start and its status stay.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] where no execution of that name has ended.
    pub fn forget(&self, scope: &Scope, name: &str) -> Receipt<()> {
        let (scope, name) = (scope.clone(), name.to_owned());
        self.inner.writer.submit(move |connection| {
            let ended = "SELECT number FROM machines WHERE scope = ?1 AND name = ?2 AND status IS NOT NULL";
            let number = first(connection, ended, params![scope.as_str(), name], |row| key::at::<i64>(row, 0))?;
            let from = number.ok_or(StoreError::NotFound)? * PLACES;
            let forget = "DELETE FROM journal WHERE place >= ?1 AND place < ?2";
            let mut forget = connection.prepare_cached(forget).map_err(fault::of)?;
            forget.execute(params![from, from + PLACES]).map(drop).map_err(fault::of)
        })
    }

    /// The journal of an execution, in order; empty where there is none. It holds everything whose receipt was answered.
    ///
    /// # Errors
    /// As every read.
    pub async fn journal(&self, scope: &Scope, name: &str) -> Result<Vec<Entry>, StoreError> {
        let (scope, name) = (scope.clone(), name.to_owned());
        self.read(move |connection| {
            let Some(from) = start_of(connection, &scope, &name)? else { return Ok(Vec::new()) };
            let select = "SELECT place, at, entry FROM journal WHERE place >= ?1 AND place < ?2 ORDER BY place";
            all(connection, select, params![from, from + PLACES], |row| {
                let seq = key::at::<i64>(row, 0)? - from;
                Ok(Entry { seq: seq.cast_unsigned(), at: key::time_of(key::at(row, 1)?), json: key::at(row, 2)? })
            })
        })
        .await
    }

    /// One execution, running or ended.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] where it does not exist.
    pub async fn machine(&self, scope: &Scope, name: &str) -> Result<MachineExecution, StoreError> {
        let (scope, name) = (scope.clone(), name.to_owned());
        self.read(move |connection| {
            let select = "SELECT name, machine, input, started_at, status FROM machines WHERE scope = ?1 AND name = ?2";
            first(connection, select, params![scope.as_str(), name], machine)?.ok_or(StoreError::NotFound)
        })
        .await
    }

    /// The executions that have not ended, by name.
    ///
    /// # Errors
    /// As every read.
    pub async fn machines(&self, scope: &Scope) -> Result<Vec<MachineExecution>, StoreError> {
        let scope = scope.clone();
        self.read(move |connection| all(connection, RUNNING, params![scope.as_str()], machine)).await
    }
}

pub(super) const RUNNING: &str = "SELECT name, machine, input, started_at, status FROM machines
     WHERE scope = ?1 AND status IS NULL ORDER BY name";

fn machine(row: &Row<'_>) -> Result<MachineExecution, StoreError> {
    Ok(MachineExecution {
        name: key::at(row, 0)?,
        machine: key::at(row, 1)?,
        input: key::at(row, 2)?,
        started_at: key::time_of(key::at(row, 3)?),
        status: key::at(row, 4)?,
    })
}

/// The first place of an execution's journal.
fn start_of(connection: &Connection, scope: &Scope, name: &str) -> Result<Option<i64>, StoreError> {
    let select = "SELECT number FROM machines WHERE scope = ?1 AND name = ?2";
    let number = first(connection, select, params![scope.as_str(), name], |row| key::at::<i64>(row, 0))?;
    Ok(number.map(|number| number * PLACES))
}

fn append(connection: &Connection, scope: &Scope, name: &str, entries: &[Entry]) -> Result<(), StoreError> {
    let from = start_of(connection, scope, name)?.ok_or(StoreError::NotFound)?;
    let conflict = |entry: &Entry| StoreError::Conflict(format!("entry {} of the journal of {name}", entry.seq));
    let last = "SELECT max(place) FROM journal WHERE place >= ?1 AND place < ?2";
    let mut last = first(connection, last, params![from, from + PLACES], |row| key::at::<Option<i64>>(row, 0))?.flatten();
    let mut append =
        connection.prepare_cached("INSERT INTO journal (place, at, entry) VALUES (?1, ?2, ?3)").map_err(fault::of)?;
    for entry in entries {
        let seq = i64::try_from(entry.seq).ok().filter(|seq| *seq < PLACES).ok_or_else(|| conflict(entry))?;
        let place = from + seq;
        if last.is_some_and(|last| place != last + 1) {
            return Err(conflict(entry));
        }
        match append.execute(params![place, key::of_time(entry.at), entry.json]) {
            Ok(_) => last = Some(place),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => return Err(conflict(entry)),
            Err(error) => return Err(fault::of(error)),
        }
    }
    Ok(())
}
