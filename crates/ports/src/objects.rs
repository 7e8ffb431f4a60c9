//! Files by key: item lists, artifacts, signals, outcomes, logs.

use std::path::PathBuf;

use async_trait::async_trait;
use model::ObjectKey;

use crate::BoxError;

/// Files by key. An object appears whole or not at all and never changes afterwards.
#[async_trait]
pub trait Objects: Send + Sync {
    /// Publishes an object: durable and complete when this returns.
    /// One that is there already is left as it is and answered with [`ObjectError::Exists`].
    async fn put(&self, key: &ObjectKey, source: Source) -> Result<(), ObjectError>;

    /// The whole content.
    async fn get(&self, key: &ObjectKey) -> Result<Vec<u8>, ObjectError>;

    /// At most `length` bytes from `offset` on; fewer at the end.
    async fn range(&self, key: &ObjectKey, offset: u64, length: usize) -> Result<Vec<u8>, ObjectError>;

    /// The keys below `folder`, sorted, after `after`, at most `limit`.
    async fn list(&self, folder: &ObjectKey, after: Option<&ObjectKey>, limit: usize) -> Result<Vec<ObjectKey>, ObjectError>;
}

/// Where the content of a new object is.
#[derive(Debug, Clone)]
pub enum Source {
    /// Here.
    Bytes(Vec<u8>),
    /// In a file that the adapter may take (move) when it is on the same file system.
    File(PathBuf),
}

/// Why an object was not written or read.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// No such object.
    #[error("no object {0}")]
    NotFound(ObjectKey),
    /// There is one already; it is left as it is.
    #[error("object {0} exists already")]
    Exists(ObjectKey),
    /// There is no room left. Nothing of the object can be seen.
    #[error("could not write object {key}: no space left on the device")]
    Full {
        /// The object.
        key: ObjectKey,
        /// The system's word.
        #[source]
        source: BoxError,
    },
    /// The store does not answer now. Nothing of the object can be seen.
    #[error("could not reach object {key}")]
    Unavailable {
        /// The object.
        key: ObjectKey,
        /// The system's word.
        #[source]
        source: BoxError,
    },
}
