//! The SQLite store: registry, runs, executions, permits, outbox and the journal of the state machines, in one file.
//!
//! One [`writer`] thread commits whatever waits as one transaction; a few [`reader`] threads with connections of their own
//! never wait for it. [`schema`] holds the tables, [`changes`] what each conditional write does to them; [`runs`] and
//! [`registry`] implement the ports; [`journal`] is the interpreter's own.

mod changes;
mod fault;
pub mod journal;
mod key;
#[cfg(test)]
mod plans;
mod queue;
mod reader;
mod registry;
mod runs;
mod schema;
mod writer;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use ports::{BoxError, StoreError};
use rusqlite::Connection;

pub use writer::Receipt;

use reader::Readers;
use writer::Writer;

/// A handle to the store; clones are the same store. When the last one is dropped, what was queued is written and the file is closed.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    path: PathBuf,
    // Dropped before the writer, whose connection then is the last one: only alone can it move the log into the file. Of two readers
    // that close at once, each would leave that to the other.
    readers: Readers,
    writer: Writer,
}

/// In what role a process opens the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The control process, which holds the home's lock: makes the file and brings it to the current version.
    Own,
    /// Anybody beside it: the file must exist and have the current version. Visitors write too, for instance to cancel.
    Visit,
}

/// What an acknowledged write survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Death of the process and loss of power.
    #[default]
    Full,
    /// Death of the process; a loss of power may take the last writes back, never a part of one.
    Normal,
}

impl Store {
    /// Opens the store in file `path`, with [`Durability::Full`].
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(path: &Path, mode: Mode) -> Result<Store, OpenError> {
        Store::open_with(path, mode, Durability::Full)
    }

    /// Opens the store in file `path`.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open_with(path: &Path, mode: Mode, durability: Durability) -> Result<Store, OpenError> {
        let connection = schema::open(path, mode, durability)?;
        let writer = Writer::start(connection, path.to_owned(), durability);
        let readers = Readers::start(path)?;
        Ok(Store { inner: Arc::new(Inner { path: path.to_owned(), writer, readers }) })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// How many transactions this process has committed: group commit makes them fewer than the writes.
    pub fn commits(&self) -> u64 {
        self.inner.writer.commits()
    }

    /// Runs `work` on a reader's connection.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.inner.readers.run(work).await.map_err(|error| fault::at(&self.inner.path, error))
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("path", &self.inner.path).finish_non_exhaustive()
    }
}

/// Why the store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no file, and a visitor makes none.
    #[error("there is no store at {}", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A newer Muster wrote it.
    #[error("store {} has version {found}, and this Muster knows versions up to {known}: use a newer Muster", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The highest that is known.
        known: u32,
    },
    /// An older Muster wrote it, and a visitor does not upgrade it.
    #[error("store {} has version {found}, and this Muster needs {known}: the next control process upgrades it", path.display())]
    Older {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version needed.
        known: u32,
    },
    /// A file of something else.
    #[error("{} is not a store of Muster", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// What is stored cannot be read.
    #[error("could not read store {}: it is damaged or not a database", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// SQLite's word.
        #[source]
        source: BoxError,
    },
    /// The file or its folder cannot be written to.
    #[error("could not write to store {}: the file or its folder is read-only", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// SQLite's word.
        #[source]
        source: BoxError,
    },
    /// There is no room left.
    #[error("could not open store {}: no space left on the device", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// SQLite's word.
        #[source]
        source: BoxError,
    },
    /// Anything else: locked for too long, no permission, a failing disk.
    #[error("could not open store {}", path.display())]
    Unavailable {
        /// The file.
        path: PathBuf,
        /// SQLite's word.
        #[source]
        source: BoxError,
    },
}
