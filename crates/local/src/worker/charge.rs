//! Who is in charge of a home's attempts: one process at a time.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};

/// The charge of a home's attempts, held for as long as the value lives, or until the process ends in whatever way.
#[derive(Debug)]
pub struct Charge {
    home: PathBuf,
    _lock: File,
}

impl Charge {
    /// Takes the charge; `None` where another process has it.
    ///
    /// # Errors
    /// The system's word, where the home cannot be used.
    pub fn take(home: &Path) -> io::Result<Option<Charge>> {
        let home = fs::canonicalize(home)?;
        let lock = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(home.join("shim.lock"))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Charge { home, _lock: lock })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The home, absolute.
    pub fn home(&self) -> &Path {
        &self.home
    }
}
