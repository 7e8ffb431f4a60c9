//! A small disk for tests of what happens when it is full. Needs the right to mount.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

/// A file system in memory, unmounted when dropped.
pub(crate) struct SmallDisk {
    folder: tempfile::TempDir,
}

/// Mounts a file system of `size` (such as `6m`); `None`, said loudly, where this process may not mount.
#[expect(clippy::print_stdout, reason = "a test that did not run must not look like one that passed")]
pub(crate) fn small_disk(size: &str) -> Option<SmallDisk> {
    let folder = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(folder.path()).output();
    if mounted.is_ok_and(|output| output.status.success()) {
        return Some(SmallDisk { folder });
    }
    println!("SKIPPED: this process may not mount a small file system, so a full disk was NOT tested");
    None
}

impl SmallDisk {
    /// Its folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Takes all the room there is; the file that takes it.
    pub(crate) fn fill(&self) -> PathBuf {
        let path = self.path().join("filler");
        let mut filler = std::fs::File::create(&path).unwrap();
        for block in [64 << 10, 4 << 10, 1] {
            while filler.write_all(&vec![1; block]).is_ok() {}
        }
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.path()).status();
    }
}
