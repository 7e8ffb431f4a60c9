//! Files that are not whole yet.
//!
//! They lie in one folder of the same file system, so that what dead processes left is found without a walk over all objects.

use std::{
    fs::{self, File},
    io,
    os::fd::BorrowedFd,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, openat, unlinkat},
    io::Errno,
};

/// The folder of files that are not whole yet, below the root.
pub(super) const STAGING: &str = ".staging";

/// A temporary file; its name goes with it unless it was published.
pub(super) struct Staged<'a> {
    root: BorrowedFd<'a>,
    pub(super) file: File,
    /// Relative to the root.
    pub(super) name: String,
    is_published: bool,
}

impl<'a> Staged<'a> {
    /// A new, empty file.
    pub(super) fn new(root: BorrowedFd<'a>) -> io::Result<Staged<'a>> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        loop {
            let name = format!("{STAGING}/{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
            match openat(root, &name, flags, Mode::RUSR | Mode::WUSR) {
                Ok(file) => return Ok(Staged { root, file: file.into(), name, is_published: false }),
                // A leftover of a dead process that had our number.
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The file has its own name now.
    pub(super) fn published(mut self) {
        self.is_published = true;
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if !self.is_published {
            // What cannot be removed now is removed at the next start.
            let _ = unlinkat(self.root, &self.name, AtFlags::empty());
        }
    }
}

/// Removes the files of processes that are no more.
pub(super) fn clean(staging: &Path) -> io::Result<()> {
    for entry in fs::read_dir(staging)? {
        let entry = entry?;
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.split_once('-')).and_then(|(process, _)| process.parse::<u32>().ok());
        let is_alive = process.is_some_and(|process| Path::new("/proc").join(process.to_string()).exists());
        if !is_alive {
            match fs::remove_file(entry.path()) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
    }
    Ok(())
}
