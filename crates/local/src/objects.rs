//! Objects in a folder, published atomically: written under a temporary name, made durable, then renamed to their own.

mod place;
mod staging;

use std::{
    fs::{self, File},
    io::{self, Cursor, Read as _, Seek as _, SeekFrom, Write as _},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::fs::MetadataExt as _,
    },
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::outcomes;
use async_trait::async_trait;
use model::ObjectKey;
use ports::{ObjectError, Objects, Source};
use rustix::{
    fs::{AtFlags, CWD, RenameFlags, linkat, renameat_with, unlinkat},
    io::Errno,
};

use crate::store::Durability;
use place::Root;
use staging::{STAGING, Staged};

/// Objects as files below one folder; a handle that is cheap to clone. Several processes may share the folder.
///
/// Blocking methods do the work; the port calls them on a thread where blocking is allowed.
#[derive(Debug, Clone)]
pub struct FolderObjects {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    root: Root,
    durability: Durability,
}

/// The content of an object.
enum Content {
    /// A file of its own.
    Own(File),
    /// A line in a file of its run, which is how an outcome without artifacts is kept.
    Packed(Vec<u8>),
}

impl FolderObjects {
    /// Opens the folder, makes it where it is missing, and removes what dead processes left half-written.
    ///
    /// # Errors
    /// The system's word, where the folder cannot be made or written to.
    pub fn open(root: &Path) -> io::Result<FolderObjects> {
        FolderObjects::open_with(root, Durability::Full)
    }

    /// As [`FolderObjects::open`]; with [`Durability::Normal`] a loss of power may take the last objects back.
    ///
    /// # Errors
    /// The system's word, where the folder cannot be made or written to.
    pub fn open_with(root: &Path, durability: Durability) -> io::Result<FolderObjects> {
        fs::create_dir_all(root.join(STAGING))?;
        staging::clean(&root.join(STAGING))?;
        Ok(FolderObjects { inner: Arc::new(Inner { root: Root::open(root)?, durability }) })
    }

    /// The file of an object, whether it exists or not.
    pub fn path(&self, key: &ObjectKey) -> PathBuf {
        self.inner.root.path.join(key.as_str())
    }

    /// Publishes an object; blocks. See [`Objects::put`].
    ///
    /// # Errors
    /// As [`Objects::put`].
    pub fn publish(&self, key: &ObjectKey, source: &Source) -> Result<(), ObjectError> {
        self.publish_all(std::slice::from_ref(&(key.clone(), source.clone())))
    }

    /// Publishes objects one after the other; blocks. Cheaper than as many calls: each folder is made durable once.
    /// Durable and complete when this returns; after an error the objects before the one it names may have been published.
    ///
    /// # Errors
    /// As [`Objects::put`].
    pub fn publish_all(&self, objects: &[(ObjectKey, Source)]) -> Result<(), ObjectError> {
        let mut touched: Option<(&str, OwnedFd, &ObjectKey)> = None;
        for (key, source) in objects {
            let named = |error| named(key, error);
            place::check(key).map_err(named)?;
            let (folder, name) = place::split(key);
            if touched.as_ref().is_none_or(|(known, _, _)| *known != folder) {
                let opened = self.inner.root.make_folder(folder, self.inner.durability).map_err(named)?;
                self.settle(touched.replace((folder, opened, key)))?;
            }
            let (_, opened, _) = touched.as_ref().expect("it was set above");
            self.publish_in(opened.as_fd(), name, source).map_err(named)?;
        }
        self.settle(touched)
    }

    /// Makes a folder's new names durable.
    fn settle(&self, folder: Option<(&str, OwnedFd, &ObjectKey)>) -> Result<(), ObjectError> {
        match (folder, self.inner.durability) {
            (Some((_, folder, key)), Durability::Full) => rustix::fs::fsync(folder).map_err(|error| named(key, error.into())),
            (Some(_), Durability::Normal) | (None, _) => Ok(()),
        }
    }

    fn publish_in(&self, folder: BorrowedFd<'_>, name: &str, source: &Source) -> io::Result<()> {
        match source {
            Source::Bytes(bytes) => self.publish_staged(folder, name, |file| file.write_all(bytes)),
            Source::File(path) => {
                let mut original = open_regular(path)?;
                if original.metadata()?.nlink() > 1 {
                    // Whoever has the other name could change what is published.
                    return self.publish_staged(folder, name, |file| io::copy(&mut original, file).map(drop));
                }
                self.sync(&original)?;
                match rename(CWD, path, folder, name) {
                    // On another file system: copied, and the original stays.
                    Err(Errno::XDEV) => self.publish_staged(folder, name, |file| io::copy(&mut original, file).map(drop)),
                    moved => Ok(moved?),
                }
            }
        }
    }

    /// Lets `write` fill a temporary file and renames it. Whatever fails, the temporary is gone afterwards.
    fn publish_staged(
        &self,
        folder: BorrowedFd<'_>,
        name: &str,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut staged = Staged::new(self.inner.root.folder.as_fd())?;
        write(&mut staged.file)?;
        self.sync(&staged.file)?;
        rename(self.inner.root.folder.as_fd(), &staged.name, folder, name)?;
        staged.published();
        Ok(())
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        match self.inner.durability {
            Durability::Full => file.sync_all(),
            Durability::Normal => Ok(()),
        }
    }

    /// Reads a whole object; blocks.
    ///
    /// # Errors
    /// As [`Objects::get`].
    pub fn read(&self, key: &ObjectKey) -> Result<Vec<u8>, ObjectError> {
        let read = || match self.find(key)? {
            Content::Own(mut file) => {
                let mut content = Vec::new();
                file.read_to_end(&mut content)?;
                Ok(content)
            }
            Content::Packed(content) => Ok(content),
        };
        read().map_err(|error| named(key, error))
    }

    /// Reads a part of an object; blocks. See [`Objects::range`].
    ///
    /// # Errors
    /// As [`Objects::range`].
    pub fn read_range(&self, key: &ObjectKey, offset: u64, length: usize) -> Result<Vec<u8>, ObjectError> {
        let read = || {
            let mut part = Vec::new();
            match self.find(key)? {
                Content::Own(mut file) => {
                    // Behind the end a file system may refuse to go.
                    if offset < file.metadata()?.len() {
                        file.seek(SeekFrom::Start(offset))?;
                        file.take(length as u64).read_to_end(&mut part)?;
                    }
                }
                Content::Packed(content) => {
                    let mut content = Cursor::new(content);
                    content.set_position(offset);
                    content.take(length as u64).read_to_end(&mut part)?;
                }
            }
            Ok(part)
        };
        read().map_err(|error| named(key, error))
    }

    /// Where the content of an object is.
    fn find(&self, key: &ObjectKey) -> io::Result<Content> {
        let root = &self.inner.root;
        let missing = match root.open_object(key) {
            Ok(file) => return Ok(Content::Own(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => error,
            Err(error) => return Err(error),
        };
        let Some((file, attempt)) = outcomes::packed_as(key) else { return Err(missing) };
        let mut lines = Vec::new();
        root.open_object(&file)?.read_to_end(&mut lines)?;
        outcomes::unpack(&lines, attempt).map(Content::Packed).ok_or(missing)
    }

    /// Lists objects; blocks. See [`Objects::list`].
    ///
    /// # Errors
    /// As [`Objects::list`].
    pub fn keys(&self, folder: &ObjectKey, after: Option<&ObjectKey>, limit: usize) -> Result<Vec<ObjectKey>, ObjectError> {
        self.inner.root.list(folder, after, limit).map_err(|error| named(folder, error))
    }

    async fn blocking<T: Send + 'static>(
        &self,
        key: &ObjectKey,
        work: impl FnOnce(&FolderObjects) -> Result<T, ObjectError> + Send + 'static,
    ) -> Result<T, ObjectError> {
        let objects = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&objects)).await;
        done.unwrap_or_else(|error| Err(ObjectError::Unavailable { key: key.clone(), source: Box::new(error) }))
    }
}

#[async_trait]
impl Objects for FolderObjects {
    async fn put(&self, key: &ObjectKey, source: Source) -> Result<(), ObjectError> {
        let name = key.clone();
        self.blocking(key, move |objects| objects.publish(&name, &source)).await
    }

    async fn get(&self, key: &ObjectKey) -> Result<Vec<u8>, ObjectError> {
        let name = key.clone();
        self.blocking(key, move |objects| objects.read(&name)).await
    }

    async fn range(&self, key: &ObjectKey, offset: u64, length: usize) -> Result<Vec<u8>, ObjectError> {
        let name = key.clone();
        self.blocking(key, move |objects| objects.read_range(&name, offset, length)).await
    }

    async fn list(&self, folder: &ObjectKey, after: Option<&ObjectKey>, limit: usize) -> Result<Vec<ObjectKey>, ObjectError> {
        let (below, after) = (folder.clone(), after.cloned());
        self.blocking(folder, move |objects| objects.keys(&below, after.as_ref(), limit)).await
    }
}

/// Opens a file that an object is made of: never through a link, which a unit could point anywhere.
fn open_regular(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    // Without NONBLOCK, opening a named pipe would wait for its other end.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{} is not a regular file", path.display()))),
    }
}

/// Gives a file its name, unless something has that name.
fn rename(
    old_folder: BorrowedFd<'_>,
    old: impl rustix::path::Arg + Copy,
    folder: BorrowedFd<'_>,
    name: &str,
) -> rustix::io::Result<()> {
    match renameat_with(old_folder, old, folder, name, RenameFlags::NOREPLACE) {
        // A file system without that flag: a second name for the file, then the first one goes.
        Err(Errno::INVAL | Errno::NOSYS) => {
            linkat(old_folder, old, folder, name, AtFlags::empty())?;
            unlinkat(old_folder, old, AtFlags::empty())
        }
        renamed => renamed,
    }
}

/// The port's error for what the system said.
fn named(key: &ObjectKey, error: io::Error) -> ObjectError {
    let key = key.clone();
    match error.kind() {
        io::ErrorKind::NotFound => ObjectError::NotFound(key),
        io::ErrorKind::AlreadyExists => ObjectError::Exists(key),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ObjectError::Full { key, source: Box::new(error) },
        _ => ObjectError::Unavailable { key, source: Box::new(error) },
    }
}
