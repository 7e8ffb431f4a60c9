//! The tables, and how a file comes to its current version.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use rustix::{
    fs::{Access, access},
    io::Errno,
};

use super::{Durability, Mode, OpenError};
use crate::home::{close_file, create_file};

/// Marks the file as ours: `Must`.
const APPLICATION: i32 = 0x4d75_7374;
/// The version that [`MIGRATIONS`] lead to.
const VERSION: u32 = MIGRATIONS.len() as u32;
/// How long a write waits for another process.
const BUSY: Duration = Duration::from_secs(5);

/// Each step from the version of its number to the next one. A step, once released, never changes.
const MIGRATIONS: [&str; 1] = [include_str!("schema/1.sql")];

/// The writer's connection.
pub(super) fn open(path: &Path, mode: Mode, durability: Durability) -> Result<Connection, OpenError> {
    if mode == Mode::Visit && !path.exists() {
        return Err(OpenError::Missing { path: path.to_owned() });
    }
    let create = match mode {
        Mode::Own => OpenFlags::SQLITE_OPEN_CREATE,
        Mode::Visit => OpenFlags::empty(),
    };
    // SQLite would make it for everybody. Where this fails, SQLite fails too and says why.
    if mode == Mode::Own {
        drop(create_file(path));
    }
    let open = || -> rusqlite::Result<Result<Connection, OpenError>> {
        let mut connection = connect(path, create)?;
        let (application, found) = stamp(&connection)?;
        let is_empty = connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))?;
        if let Err(error) = check(path, mode, application, found, is_empty) {
            return Ok(Err(error));
        }
        if connection.is_readonly("main")? {
            return Err(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_READONLY), None));
        }
        close_to_others(path);
        if found < VERSION {
            connection.pragma_update(None, "journal_mode", "wal")?;
            migrate(&mut connection)?;
        }
        let synchronous = match durability {
            Durability::Full => "full",
            Durability::Normal => "normal",
        };
        connection.pragma_update(None, "synchronous", synchronous)?;
        Ok(Ok(connection))
    };
    open().unwrap_or_else(|error| Err(refused(path, error)))
}

/// Closes the store's files to others, also those that a former version made. The log and its index get the store's own mode when made.
fn close_to_others(path: &Path) {
    for ending in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        // A file of another user: its owner decided who reads it.
        drop(close_file(Path::new(&name)));
    }
}

/// A connection that only reads.
pub(super) fn open_reader(path: &Path) -> Result<Connection, OpenError> {
    let open = || -> rusqlite::Result<Connection> {
        let connection = connect(path, OpenFlags::empty())?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    };
    open().map_err(|error| refused(path, error))
}

fn connect(path: &Path, create: OpenFlags) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | create;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.execute_batch(
        "PRAGMA foreign_keys = on;
         PRAGMA temp_store = memory;
         PRAGMA cache_size = -8000;
         PRAGMA wal_autocheckpoint = 4000;
         PRAGMA journal_size_limit = 67108864;",
    )?;
    Ok(connection)
}

/// Whose file it is, and of which version.
fn stamp(connection: &Connection) -> rusqlite::Result<(i32, u32)> {
    let application = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok((application, version))
}

fn check(path: &Path, mode: Mode, application: i32, found: u32, is_empty: bool) -> Result<(), OpenError> {
    let path = path.to_owned();
    let is_ours = application == APPLICATION || (is_empty && application == 0 && found == 0);
    match mode {
        _ if !is_ours => Err(OpenError::Foreign { path }),
        _ if found > VERSION => Err(OpenError::Newer { path, found, known: VERSION }),
        Mode::Visit if found < VERSION => Err(OpenError::Older { path, found, known: VERSION }),
        Mode::Own | Mode::Visit => Ok(()),
    }
}

/// Takes every missing step in one transaction.
fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    // Asked again inside: somebody else may have been quicker.
    let (_, found) = stamp(&transaction)?;
    for step in MIGRATIONS.iter().skip(found as usize) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.commit()
}

fn refused(path: &Path, error: rusqlite::Error) -> OpenError {
    let code = error.sqlite_error_code();
    let is_read_only = forbids_writing(path.parent().unwrap_or(path));
    let (path, source) = (path.to_owned(), Box::new(error));
    match code {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => OpenError::Corrupt { path, source },
        Some(ErrorCode::DiskFull) => OpenError::Full { path, source },
        Some(ErrorCode::ReadOnly) => OpenError::ReadOnly { path, source },
        // The files beside the store cannot be made.
        Some(ErrorCode::CannotOpen) if is_read_only => OpenError::ReadOnly { path, source },
        Some(_) | None => OpenError::Unavailable { path, source },
    }
}

fn forbids_writing(folder: &Path) -> bool {
    matches!(access(folder, Access::WRITE_OK), Err(Errno::ROFS | Errno::ACCESS | Errno::PERM))
}
