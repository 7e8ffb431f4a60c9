//! From SQLite's errors to the closed list of the ports.

use std::path::{Path, PathBuf};

use ports::{BoxError, StoreError};
use rusqlite::ErrorCode;

/// The system had no room for the shared memory of the log; SQLite reports that as a failure of input and output.
const NO_ROOM_FOR_SHARED_MEMORY: i32 = rusqlite::ffi::SQLITE_IOERR_SHMSIZE;

/// What a failed statement means.
pub(super) fn of(error: rusqlite::Error) -> StoreError {
    let extended = error.sqlite_error().map(|error| error.extended_code);
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full(Box::new(error)),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt(Box::new(error)),
        _ if extended == Some(NO_ROOM_FOR_SHARED_MEMORY) => StoreError::Full(Box::new(error)),
        _ if matches!(error, rusqlite::Error::QueryReturnedNoRows) => StoreError::NotFound,
        // A column of another type than we write.
        _ if extended.is_none() => StoreError::Corrupt(Box::new(error)),
        Some(_) | None => StoreError::Unavailable(Box::new(error)),
    }
}

/// What is stored is not what this version writes.
pub(super) fn unreadable(source: impl Into<BoxError>) -> StoreError {
    StoreError::Corrupt(source.into())
}

/// The store has been closed, or its thread is gone.
pub(super) fn stopped() -> StoreError {
    StoreError::Unavailable("the store has stopped".into())
}

/// A cause with the file that it concerns.
#[derive(Debug, thiserror::Error)]
#[error("{}", path.display())]
struct AtPath {
    path: PathBuf,
    #[source]
    source: BoxError,
}

/// Names the file in the chain of causes.
pub(super) fn at(path: &Path, error: StoreError) -> StoreError {
    let named = |source| Box::new(AtPath { path: path.to_owned(), source });
    match error {
        StoreError::NotFound | StoreError::Conflict(_) => error,
        StoreError::Unavailable(source) => StoreError::Unavailable(named(source)),
        StoreError::Full(source) => StoreError::Full(named(source)),
        StoreError::Corrupt(source) => StoreError::Corrupt(named(source)),
    }
}
