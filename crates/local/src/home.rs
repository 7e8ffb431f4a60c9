//! The folder of the embedded home: its lock, its paths; the walk over a fleet folder; clock and ids.

mod clock;
mod fleet;
mod ids;
mod lock;
mod private;

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use model::Timestamp;

pub use clock::SystemClock;
pub use fleet::{FleetFile, read_fleet};
pub use ids::RandomIds;

use lock::Lock;
pub(crate) use private::{close_file, create_file};

/// The folder that holds everything the embedded home keeps: `store.sqlite`, `objects/`, `work/`, `shim.sock`, `secrets.json`.
///
/// One control process at a time owns it, for as long as the value lives; any number of others visit it.
#[derive(Debug)]
pub struct Home {
    root: PathBuf,
    /// Held until this value is dropped, or the process ends in whatever way. `None` for a visitor.
    _lock: Option<Lock>,
}

impl Home {
    /// Makes the folder where it is missing (ignored by git), closes it to other users (mode 0700) and takes it for this process.
    ///
    /// # Errors
    /// [`HomeError::HeldBy`] where another control process has it; [`HomeError::Folder`] where it cannot be made or written to, and where
    /// others can enter it and it holds more than a home does.
    pub fn open(path: &Path) -> Result<Home, HomeError> {
        let failed = |doing: &'static str, path: &Path| {
            let path = path.to_owned();
            move |source: io::Error| HomeError::Folder { doing, path, source }
        };
        make_folder(path).map_err(failed("make", path))?;
        let root = fs::canonicalize(path).map_err(failed("find", path))?;
        private::close_folder(&root).map_err(failed("make private", &root))?;
        match create_file(&root.join(".gitignore")).and_then(|mut file| file.write_all(b"*\n")) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed("write to", &root)(error)),
            Ok(()) | Err(_) => {}
        }
        let lock = Lock::take(&root.join("lock"))?;
        let home = Home { root, _lock: Some(lock) };
        for folder in [home.objects(), home.work()] {
            make_folder(&folder).map_err(failed("make", &folder))?;
        }
        Ok(home)
    }

    /// The folder as another process sees it, which reads and asks for cancellation beside the control process.
    ///
    /// # Errors
    /// [`HomeError::Missing`] where no control process has made it yet.
    pub fn visit(path: &Path) -> Result<Home, HomeError> {
        match fs::canonicalize(path) {
            Ok(root) if root.join("lock").exists() => Ok(Home { root, _lock: None }),
            Ok(_) => Err(HomeError::Missing { path: path.to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(HomeError::Missing { path: path.to_owned() }),
            Err(source) => Err(HomeError::Folder { doing: "find", path: path.to_owned(), source }),
        }
    }

    /// Who owns the folder at `path` now, if anybody does.
    ///
    /// # Errors
    /// [`HomeError::Folder`] where the lock cannot be read.
    pub fn holder(path: &Path) -> Result<Option<Holder>, HomeError> {
        lock::holder(&path.join("lock"))
    }

    /// The folder itself, absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The SQLite file.
    pub fn store(&self) -> PathBuf {
        self.root.join("store.sqlite")
    }

    /// The folder of the objects.
    pub fn objects(&self) -> PathBuf {
        self.root.join("objects")
    }

    /// The folder below which each attempt gets its workspace.
    pub fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// The socket on which the shim answers.
    pub fn shim_socket(&self) -> PathBuf {
        self.root.join("shim.sock")
    }

    /// The file of the secrets.
    pub fn secrets(&self) -> PathBuf {
        self.root.join("secrets.json")
    }
}

fn make_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// The control process that owns a home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its process number.
    pub pid: u32,
    /// When it took the folder.
    pub since: Timestamp,
    /// Its command line.
    pub command: String,
}

/// Why the folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// Another control process has it.
    #[error("could not take folder {}: process {} (`{}`) has held it since {}", path.display(), holder.pid, holder.command, holder.since)]
    HeldBy {
        /// The home.
        path: PathBuf,
        /// Who has it.
        holder: Holder,
    },
    /// No control process has made it yet.
    #[error("there is no home at {}", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The system refuses.
    #[error("could not {doing} {}", path.display())]
    Folder {
        /// What was tried: a verb.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// The system's word.
        #[source]
        source: io::Error,
    },
}
