//! Errors of the stores: a closed list that a caller acts on.

/// A cause that only a log reads.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why the store did not do it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No such record in this scope.
    #[error("no such record")]
    NotFound,
    /// The record is not the one that the write replaces, or what it creates is there already. Nothing was written.
    #[error("could not write {0}: it has changed meanwhile")]
    Conflict(String),
    /// The store does not answer now; the same call may work later. Nothing was written.
    #[error("could not reach the store")]
    Unavailable(#[source] BoxError),
    /// There is no room left to write. Nothing was written.
    #[error("could not write to the store: no space left on the device")]
    Full(#[source] BoxError),
    /// What is stored cannot be read.
    #[error("could not read what is stored")]
    Corrupt(#[source] BoxError),
}
