//! Finds the shim of a home, and starts one where none answers.

use std::{
    ffi::OsString,
    fs::OpenOptions,
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use tokio::{net::UnixStream, time::Instant};

use super::{
    socket,
    wire::{self, LineBuffer, PROTOCOL, Reply, Request},
};

/// How to start a shim: the program's own executable and its hidden command.
#[derive(Debug, Clone)]
pub struct ShimCommand {
    /// Absolute path of the executable.
    pub program: PathBuf,
    /// Its arguments; they make it call [`super::serve`] for the same home.
    pub arguments: Vec<OsString>,
}

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

/// How long a shim may take to answer, from its start.
const PATIENCE: Duration = Duration::from_secs(10);
/// A shim that was found must say its first word within this time.
const FIRST_WORD: Duration = Duration::from_secs(5);

/// An open connection, after both sides said hello.
pub(crate) struct Connection {
    pub(crate) stream: UnixStream,
    pub(crate) lines: LineBuffer,
    /// Lines that came together with the hello.
    pub(crate) early: Vec<Vec<u8>>,
    /// The shim's process number.
    pub(crate) shim: u32,
}

/// Connects, starting a shim as often as none answers. `started` keeps the shims that this process started, to reap them.
pub(crate) async fn connect(home: &Path, command: &ShimCommand, started: &mut Vec<Child>) -> Result<Connection, ConnectError> {
    let give_up = Instant::now() + PATIENCE;
    let mut pause = Duration::from_micros(500);
    let mut other_protocol = None;
    loop {
        started.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
        match try_once(home).await {
            Ok(connection) => return Ok(connection),
            Err(Refused::Other(theirs)) => other_protocol = Some(theirs),
            Err(Refused::Nobody) if started.is_empty() => started.push(start(home, command)?),
            Err(Refused::Nobody | Refused::Gone) => {}
        }
        if Instant::now() >= give_up {
            return Err(match other_protocol {
                Some(theirs) => ConnectError::OtherProtocol { theirs, ours: PROTOCOL },
                None => ConnectError::Silent { log: log(home) },
            });
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

enum Refused {
    /// Nobody listens.
    Nobody,
    /// Somebody listened and went.
    Gone,
    /// It speaks another protocol.
    Other(u32),
}

async fn try_once(home: &Path) -> Result<Connection, Refused> {
    let stream = socket::connect(home).and_then(UnixStream::from_std).map_err(|_| Refused::Nobody)?;
    let mut hello = Vec::new();
    wire::write(&mut hello, &Request::Hello { protocol: PROTOCOL });
    let answered = tokio::time::timeout(FIRST_WORD, greet(&stream, &hello)).await;
    let (lines, mut early) = answered.map_err(|_| Refused::Gone)?.map_err(|_| Refused::Gone)?;
    match serde_json::from_slice(&early.remove(0)) {
        Ok(Reply::Hello { protocol: PROTOCOL, pid }) => Ok(Connection { stream, lines, early, shim: pid }),
        Ok(Reply::Hello { protocol, .. }) => Err(Refused::Other(protocol)),
        Ok(Reply::Report { .. } | Reply::Answer { .. } | Reply::NoAnswer { .. } | Reply::Refused { .. }) | Err(_) => {
            Err(Refused::Gone)
        }
    }
}

/// Says hello and waits for the first line; gives at least one.
async fn greet(stream: &UnixStream, hello: &[u8]) -> io::Result<(LineBuffer, Vec<Vec<u8>>)> {
    stream.writable().await?;
    // A fresh socket takes these few bytes whole.
    stream.try_write(hello)?;
    let (mut lines, mut early) = (LineBuffer::default(), Vec::new());
    let mut piece = vec![0; 64 << 10];
    while early.is_empty() {
        stream.readable().await?;
        match stream.try_read(&mut piece) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => {
                let pushed = lines.push(&piece[..length], |line| early.push(line.to_vec()));
                pushed.map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok((lines, early))
}

/// Starts a shim that has nothing of this process but its environment. It leaves this process's session by itself.
fn start(home: &Path, command: &ShimCommand) -> Result<Child, ConnectError> {
    let spawn = || {
        let log = OpenOptions::new().append(true).create(true).mode(0o600).open(log(home))?;
        Command::new(&command.program)
            .args(&command.arguments)
            .current_dir(home)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
    };
    spawn().map_err(|source| ConnectError::Start { program: command.program.clone(), source })
}

fn log(home: &Path) -> PathBuf {
    home.join("shim.log")
}
