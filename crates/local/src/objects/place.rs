//! From keys to files: no key and no link leads out of the root.

use std::{
    fs::{self, File},
    io,
    os::fd::{AsFd as _, OwnedFd},
    path::{Path, PathBuf},
};

use model::ObjectKey;
use rustix::{
    fs::{Mode, OFlags, ResolveFlags, fsync, mkdirat, openat2},
    io::Errno,
};

use super::staging::STAGING;
use crate::store::Durability;

/// The longest name that common file systems take, in bytes.
const LONGEST_PART: usize = 255;

/// The folder that holds the objects.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) path: PathBuf,
    pub(super) folder: OwnedFd,
}

/// Whether files can have the key's name.
pub(super) fn check(key: &ObjectKey) -> io::Result<()> {
    let refuse = |sentence: String| Err(io::Error::new(io::ErrorKind::InvalidInput, sentence));
    let mut parts = key.as_str().split('/');
    if let Some(long) = parts.clone().find(|part| part.len() > LONGEST_PART) {
        return refuse(format!("a part of the key has {} bytes, and a file's name has at most {LONGEST_PART}", long.len()));
    }
    if parts.next() == Some(STAGING) {
        return refuse(format!("{STAGING} is kept for files that are not whole yet"));
    }
    Ok(())
}

/// The folder of a key (empty for the root) and its last part.
pub(super) fn split(key: &ObjectKey) -> (&str, &str) {
    key.as_str().rsplit_once('/').unwrap_or(("", key.as_str()))
}

/// Links may lead from place to place below the root, never out of it.
fn beneath() -> ResolveFlags {
    ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS
}

impl Root {
    pub(super) fn open(path: &Path) -> io::Result<Root> {
        let path = fs::canonicalize(path)?;
        let folder = File::open(&path)?.into();
        Ok(Root { path, folder })
    }

    fn open_folder(&self, folder: &str) -> rustix::io::Result<OwnedFd> {
        let folder = if folder.is_empty() { "." } else { folder };
        openat2(&self.folder, folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty(), beneath())
    }

    /// Opens a folder, and makes what is missing of its path: one call where it exists, which is the rule.
    pub(super) fn make_folder(&self, folder: &str, durability: Durability) -> io::Result<OwnedFd> {
        match self.open_folder(folder) {
            Err(Errno::NOENT) => {}
            opened => return Ok(opened?),
        }
        let (parent, name) = folder.rsplit_once('/').unwrap_or(("", folder));
        let parent = self.make_folder(parent, durability)?;
        match mkdirat(parent.as_fd(), name, Mode::RWXU) {
            // Somebody else was quicker, and may not have made it durable yet.
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        match durability {
            Durability::Full => fsync(parent)?,
            Durability::Normal => {}
        }
        Ok(self.open_folder(folder)?)
    }

    /// Opens an object to read it.
    pub(super) fn open_object(&self, key: &ObjectKey) -> io::Result<File> {
        if check(key).is_err() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat2(&self.folder, key.as_str(), flags, Mode::empty(), beneath()) {
            Ok(file) => File::from(file),
            Err(Errno::NOTDIR) => return Err(io::ErrorKind::NotFound.into()),
            Err(Errno::XDEV) => return Err(io::Error::other("a link on its path leads out of the folder of the objects")),
            Err(error) => return Err(error.into()),
        };
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// The keys below `folder` in the order of their bytes, after `after`, at most `limit`.
    pub(super) fn list(&self, folder: &ObjectKey, after: Option<&ObjectKey>, limit: usize) -> io::Result<Vec<ObjectKey>> {
        let mut walk = Walk { root: &self.path, after: after.map_or("", ObjectKey::as_str), limit, found: Vec::new() };
        if check(folder).is_ok() {
            walk.folder(&format!("{folder}/"))?;
        }
        Ok(walk.found)
    }
}

/// A walk in the order of the keys.
struct Walk<'a> {
    root: &'a Path,
    after: &'a str,
    limit: usize,
    found: Vec<ObjectKey>,
}

impl Walk<'_> {
    /// Lists below `prefix`, which ends in `/`. Links are not objects and are not followed.
    fn folder(&mut self, prefix: &str) -> io::Result<()> {
        let mut names = Vec::new();
        let entries = match fs::read_dir(self.root.join(prefix)) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(()),
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry?;
            let (kind, name) = (entry.file_type()?, entry.file_name().into_string());
            match name {
                // In the order of whole keys, a folder sorts with the slash that follows its name.
                Ok(name) if kind.is_dir() => names.push(format!("{prefix}{name}/")),
                Ok(name) if kind.is_file() => names.push(format!("{prefix}{name}")),
                Ok(_) | Err(_) => {}
            }
        }
        names.sort_unstable();
        for name in names {
            if self.found.len() >= self.limit {
                break;
            }
            if name.ends_with('/') {
                // Everything in the folder starts with its name: it can be left out where that sorts before, unless it is the start.
                if name.as_str() > self.after || self.after.starts_with(&name) {
                    self.folder(&name)?;
                }
            } else if name.as_str() > self.after
                && let Ok(key) = name.parse()
            {
                self.found.push(key);
            }
        }
        Ok(())
    }
}
