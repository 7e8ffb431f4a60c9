//! The helper process that owns the children, and the client that talks to it.
//!
//! [`serve`] is the helper: it runs until nothing is in hand and nobody is connected. [`Client`] is the control process's side.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use async_trait::async_trait;
use model::{Assignment, ExecutionId, Scope, StopCause};
use ports::{LaunchError, Launcher, Observation, Report};
use tokio::sync::mpsc;

pub use crate::worker::Ports;

/// How to start a shim: the program's own executable and its hidden command.
#[derive(Debug, Clone)]
pub struct ShimCommand {
    /// Absolute path of the executable.
    pub program: PathBuf,
    /// Its arguments; they make it call [`serve`] for the same home.
    pub arguments: Vec<OsString>,
}

/// The control process's connection to the shim; starts one when none answers. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client {}

/// Why there is no connection to a shim.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// It could not be started.
    #[error("could not start the shim `{}`", program.display())]
    Start {
        /// The executable.
        program: PathBuf,
        /// The system's word.
        #[source]
        source: io::Error,
    },
    /// It was started and does not answer.
    #[error("the shim does not answer; {} may say why", log.display())]
    Silent {
        /// Its log.
        log: PathBuf,
    },
    /// It is of another version and has work in hand.
    #[error("the shim in charge speaks protocol {theirs}, this program {ours}: wait for its work to end, or cancel it")]
    OtherProtocol {
        /// Its protocol.
        theirs: u32,
        /// This program's.
        ours: u32,
    },
}

/// Why a shim stopped or never began.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The home cannot be used.
    #[error("could not {doing} {}", path.display())]
    Home {
        /// What was tried: a verb.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// The system's word.
        #[source]
        source: io::Error,
    },
    /// The system refuses what a shim cannot do without.
    #[error("could not {doing}")]
    System {
        /// What was tried.
        doing: &'static str,
        /// The system's word.
        #[source]
        source: io::Error,
    },
}

impl Client {
    /// Connects to the shim of `home`, starting one where none answers.
    ///
    /// `environment` is the caller's: units get `PATH`, `HOME`, `LANG`, `LC_ALL`, `TZ` and the variables they declare from it.
    /// The receiver tells what happens to attempts, at least once and in any order, from every client's starts.
    ///
    /// # Errors
    /// [`ConnectError`], after a few seconds.
    #[expect(clippy::unused_async, reason = "the connection comes next")]
    pub async fn connect(
        home: &Path,
        command: ShimCommand,
        environment: BTreeMap<String, String>,
    ) -> Result<(Client, mpsc::UnboundedReceiver<Report>), ConnectError> {
        let _ = (command, environment);
        Err(ConnectError::Silent { log: home.join("shim.log") })
    }
}

#[async_trait]
impl Launcher for Client {
    async fn start(&self, _: &Assignment) -> Result<(), LaunchError> {
        Err(LaunchError::Throttled)
    }

    async fn stop(&self, _: &Scope, _: ExecutionId, _: u32, _: StopCause) -> Result<(), LaunchError> {
        Err(LaunchError::Throttled)
    }

    async fn observe(&self, _: &Scope, _: ExecutionId, _: u32) -> Result<Observation, LaunchError> {
        Err(LaunchError::Throttled)
    }
}

/// Serves as the shim of `home` until nothing is in hand and nobody is connected. Another shim in charge already: returns at once.
///
/// Takes over the process: leaves its session, becomes the parent of orphans, handles SIGTERM (stops every unit as interrupted).
///
/// # Errors
/// [`ServeError`] where the home or the system refuses.
pub fn serve(home: &Path, ports: Ports) -> Result<(), ServeError> {
    let _ = (home, ports);
    Ok(())
}
