//! The lock of a home: held by the kernel for a living process, never a leftover file.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Read as _, Seek as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use ports::Clock as _;
use serde::{Deserialize, Serialize};

use super::{Holder, HomeError, SystemClock, close_file};
use model::Timestamp;

/// The lock while it is held; dropping the file, or the end of the process, frees it.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

/// What the holder writes into the file, for the message that others get.
#[derive(Serialize, Deserialize)]
struct Note {
    pid: u32,
    since: Timestamp,
    command: String,
}

impl Lock {
    pub(super) fn take(path: &Path) -> Result<Lock, HomeError> {
        let failed = |source| HomeError::Folder { doing: "lock", path: path.to_owned(), source };
        let mut file = open(path).map_err(failed)?;
        for _ in 0..ASKERS {
            match file.try_lock() {
                Ok(()) => {
                    write(&mut file).map_err(failed)?;
                    return Ok(Lock { _file: file });
                }
                Err(TryLockError::WouldBlock) if is_only_asked_for(&file).map_err(failed)? => std::thread::yield_now(),
                Err(TryLockError::WouldBlock) => break,
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
        }
        Err(HomeError::HeldBy { path: folder(path), holder: read(&mut file) })
    }
}

/// How often whoever takes the lock gives way to others that only ask for its holder.
const ASKERS: u32 = 10_000;

/// True where others share the lock for the moment it takes to ask for the holder.
fn is_only_asked_for(file: &File) -> io::Result<bool> {
    match file.try_lock_shared() {
        Ok(()) => file.unlock().map(|()| true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

pub(super) fn holder(path: &Path) -> Result<Option<Holder>, HomeError> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(HomeError::Folder { doing: "read", path: path.to_owned(), source }),
    };
    // Shared: those who ask at once do not take each other for a holder.
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => Ok(Some(read(&mut file))),
        Err(TryLockError::Error(source)) => Err(HomeError::Folder { doing: "read", path: path.to_owned(), source }),
    }
}

/// The standard library marks the file close-on-exec: no unit inherits the lock.
fn open(path: &Path) -> io::Result<File> {
    let file = fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    close_file(path)?;
    Ok(file)
}

fn folder(path: &Path) -> PathBuf {
    path.parent().unwrap_or(path).to_owned()
}

fn write(file: &mut File) -> io::Result<()> {
    let command: Vec<String> = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let note = Note { pid: std::process::id(), since: SystemClock.now(), command: command.join(" ") };
    file.set_len(0)?;
    file.rewind()?;
    serde_json::to_writer(&mut *file, &note)?;
    file.write_all(b"\n")
}

/// What the holder wrote; between its lock and its note there is nothing to read yet.
fn read(file: &mut File) -> Holder {
    let mut text = String::new();
    let note = file.read_to_string(&mut text).ok().and_then(|_| serde_json::from_str::<Note>(&text).ok());
    let unknown = Note { pid: 0, since: Timestamp::UNIX_EPOCH, command: "starting".to_owned() };
    let Note { pid, since, command } = note.unwrap_or(unknown);
    Holder { pid, since, command }
}
