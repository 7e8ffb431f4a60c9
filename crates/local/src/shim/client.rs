//! The control process's side of the connection to the shim.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    fmt, io,
    path::{Path, PathBuf},
    process::Child,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use model::{Assignment, ExecutionId, Scope, StopCause, Timestamp};
use ports::{LaunchError, Launcher, Observation, Report};
use tokio::sync::{Notify, mpsc, oneshot};
use tracing::{info, warn};

use super::{
    connect::{ConnectError, Connection, ShimCommand, connect},
    wire::{self, Attempt, Reply, Request},
};
use crate::worker;

/// The control process's connection to the shim; starts one when none answers, also later. Cheap to clone; the connection ends with
/// the last clone, the shim and its units stay.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    _alive: Arc<Alive>,
}

struct Shared {
    environment: BTreeMap<String, String>,
    state: Mutex<State>,
    /// Something waits to be written, or the last client is gone.
    wake: Notify,
    reports: mpsc::UnboundedSender<Report>,
    shim: AtomicU32,
}

#[derive(Default)]
struct State {
    closed: bool,
    connected: bool,
    unsent: Vec<u8>,
    next_ticket: u64,
    answers: HashMap<u64, Waiter>,
    starts: HashMap<Attempt, Vec<oneshot::Sender<Result<(), LaunchError>>>>,
    /// Attempts that were started or seen and have not ended, as far as this client knows.
    open: HashMap<Attempt, ()>,
}

enum Waiter {
    /// A caller.
    Caller(oneshot::Sender<Result<Observation, LaunchError>>),
    /// Nobody asked: after a new connection the answer is a report.
    Reports(Attempt),
}

/// So long after a connection failed, or an attempt could not be looked at, it is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// Ends the connection when the last client goes.
struct Alive(Arc<Shared>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.state().closed = true;
        self.0.wake.notify_one();
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("shim", &self.shim_process()).finish_non_exhaustive()
    }
}

impl Client {
    /// Connects to the shim of `home`, starting one where none answers.
    ///
    /// `environment` is the caller's: units get `PATH`, `HOME`, `LANG`, `LC_ALL`, `TZ` and the variables they declare from it.
    /// The receiver tells what happens to attempts, at least once and in any order, from every client's starts.
    /// Should the shim be killed, another is started; what then is seen of the attempts under way is told too.
    ///
    /// # Errors
    /// [`ConnectError`], after a few seconds.
    pub async fn connect(
        home: &Path,
        command: ShimCommand,
        environment: BTreeMap<String, String>,
    ) -> Result<(Client, mpsc::UnboundedReceiver<Report>), ConnectError> {
        let (reports, receiver) = mpsc::unbounded_channel();
        let shared =
            Arc::new(Shared { environment, state: Mutex::default(), wake: Notify::new(), reports, shim: AtomicU32::new(0) });
        let mut started = Vec::new();
        let connection = connect(home, &command, &mut started).await?;
        shared.enter(&connection);
        let driver = Driver { shared: Arc::clone(&shared), home: home.to_owned(), command, started };
        tokio::spawn(driver.run(connection));
        let alive = Arc::new(Alive(Arc::clone(&shared)));
        Ok((Client { shared, _alive: alive }, receiver))
    }

    /// The process number of the shim.
    pub fn shim_process(&self) -> u32 {
        self.shared.shim.load(Ordering::Relaxed)
    }

    async fn ask(&self, request: impl FnOnce(u64) -> Request<'static>) -> Result<Observation, LaunchError> {
        let (answer, answered) = oneshot::channel();
        {
            let mut state = self.shared.state();
            if !state.connected {
                return Err(gone());
            }
            let ticket = state.ticket(Waiter::Caller(answer));
            wire::write(&mut state.unsent, &request(ticket));
        }
        self.shared.wake.notify_one();
        answered.await.unwrap_or_else(|_| Err(gone()))
    }
}

#[async_trait]
impl Launcher for Client {
    async fn start(&self, assignment: &Assignment) -> Result<(), LaunchError> {
        let (answer, answered) = oneshot::channel();
        let of = Attempt::of(assignment);
        let passed = worker::passed(assignment, &self.shared.environment);
        {
            let mut state = self.shared.state();
            if !state.connected {
                return Err(gone());
            }
            wire::write(&mut state.unsent, &Request::Start { assignment: Cow::Borrowed(assignment), passed });
            state.starts.entry(of).or_default().push(answer);
        }
        self.shared.wake.notify_one();
        answered.await.unwrap_or_else(|_| Err(gone()))
    }

    async fn stop(&self, scope: &Scope, execution: ExecutionId, attempt: u32, cause: StopCause) -> Result<(), LaunchError> {
        let of = Attempt { scope: scope.clone(), execution, attempt };
        self.ask(|ticket| Request::Stop { ticket, of, cause }).await.map(drop)
    }

    async fn observe(&self, scope: &Scope, execution: ExecutionId, attempt: u32) -> Result<Observation, LaunchError> {
        let of = Attempt { scope: scope.clone(), execution, attempt };
        self.ask(|ticket| Request::Observe { ticket, of }).await
    }
}

fn gone() -> LaunchError {
    LaunchError::Unavailable(Box::new(io::Error::new(io::ErrorKind::NotConnected, "the connection to the shim ended")))
}

impl State {
    fn ticket(&mut self, waiter: Waiter) -> u64 {
        self.next_ticket += 1;
        self.answers.insert(self.next_ticket, waiter);
        self.next_ticket
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that holds the lock can panic half-way through a change that matters.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There is a connection: what was under way is looked at anew.
    fn enter(&self, connection: &Connection) {
        self.shim.store(connection.shim, Ordering::Relaxed);
        let mut state = self.state();
        state.connected = true;
        state.unsent.clear();
        let open: Vec<Attempt> = state.open.keys().cloned().collect();
        for of in open {
            let ticket = state.ticket(Waiter::Reports(of.clone()));
            wire::write(&mut state.unsent, &Request::Observe { ticket, of });
        }
        drop(state);
        self.wake.notify_one();
    }

    /// The connection ended: whoever waits learns it.
    fn leave(&self) {
        let mut state = self.state();
        state.connected = false;
        state.unsent.clear();
        state.answers.clear();
        state.starts.clear();
    }

    /// An attempt under way could not be looked at: nobody else asks, and it must not be waited for in vain.
    fn ask_again_later(self: &Arc<Shared>, of: Attempt) {
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(AGAIN).await;
            {
                let mut state = shared.state();
                if state.closed || !state.connected {
                    // The next connection asks by itself.
                    return;
                }
                let ticket = state.ticket(Waiter::Reports(of.clone()));
                wire::write(&mut state.unsent, &Request::Observe { ticket, of });
            }
            shared.wake.notify_one();
        });
    }

    fn hear(self: &Arc<Shared>, line: &[u8]) {
        match serde_json::from_slice(line) {
            Ok(Reply::Hello { .. }) => {}
            Ok(Reply::Report { of, at, observation }) => {
                let waiting = self.state().starts.remove(&of);
                for start in waiting.into_iter().flatten() {
                    // A caller that no longer waits has learnt enough.
                    let _ = start.send(Ok(()));
                }
                self.report(of, at, observation);
            }
            Ok(Reply::Answer { ticket, at, observation }) => {
                let waiter = self.state().answers.remove(&ticket);
                match waiter {
                    Some(Waiter::Caller(caller)) => drop(caller.send(Ok(observation))),
                    Some(Waiter::Reports(of)) => self.report(of, at, observation),
                    None => {}
                }
            }
            Ok(Reply::NoAnswer { ticket, refusal }) => {
                let waiter = self.state().answers.remove(&ticket);
                match waiter {
                    Some(Waiter::Caller(caller)) => drop(caller.send(Err(refusal.into()))),
                    Some(Waiter::Reports(of)) => self.ask_again_later(of),
                    None => {}
                }
            }
            Ok(Reply::Refused { of, refusal }) => {
                let waiting = self.state().starts.remove(&of);
                waiting.into_iter().flatten().for_each(|start| drop(start.send(Err(refusal.clone().into()))));
            }
            Err(error) => warn!(%error, "the shim said what cannot be understood"),
        }
    }

    fn report(&self, of: Attempt, at: Timestamp, observation: Observation) {
        match observation {
            Observation::Ended(_) | Observation::Lost | Observation::Unknown => drop(self.state().open.remove(&of)),
            Observation::Starting | Observation::Running { .. } | Observation::Publishing => {
                self.state().open.insert(of.clone(), ());
            }
        }
        let Attempt { scope, execution, attempt } = of;
        // A control process that no longer listens is ending.
        let _ = self.reports.send(Report { scope, execution, attempt, at, observation });
    }
}

/// Keeps the connection.
struct Driver {
    shared: Arc<Shared>,
    home: PathBuf,
    command: ShimCommand,
    /// Shims that this process started and has to reap.
    started: Vec<Child>,
}

impl Driver {
    async fn run(mut self, mut connection: Connection) {
        loop {
            let ended = talk(&self.shared, &mut connection).await;
            self.shared.leave();
            if self.shared.state().closed {
                return;
            }
            warn!(cause = ?ended.err(), "lost the shim; connecting again");
            connection = loop {
                match connect(&self.home, &self.command, &mut self.started).await {
                    Ok(connection) => break connection,
                    Err(error) => warn!(error = %worker::chain(&error), "could not connect to the shim"),
                }
                if self.shared.state().closed {
                    return;
                }
                tokio::time::sleep(AGAIN).await;
            };
            self.shared.enter(&connection);
            info!(shim = connection.shim, "connected to the shim again");
        }
    }
}

/// Reads and writes until the connection or the last client ends.
async fn talk(shared: &Arc<Shared>, connection: &mut Connection) -> io::Result<()> {
    connection.early.drain(..).for_each(|line| shared.hear(&line));
    let (stream, lines) = (&connection.stream, &mut connection.lines);
    let read = async {
        let mut piece = vec![0; 64 << 10];
        loop {
            stream.readable().await?;
            match stream.try_read(&mut piece) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
                Ok(length) => lines
                    .push(&piece[..length], |line| shared.hear(line))
                    .map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    };
    let write = async {
        let mut taken = Vec::new();
        loop {
            shared.wake.notified().await;
            {
                let mut state = shared.state();
                if state.closed {
                    return Ok(());
                }
                std::mem::swap(&mut taken, &mut state.unsent);
            }
            let mut written = 0;
            while written < taken.len() {
                stream.writable().await?;
                match stream.try_write(&taken[written..]) {
                    Ok(length) => written += length,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                }
            }
            taken.clear();
        }
    };
    tokio::select! {
        ended = read => ended,
        ended = write => ended,
    }
}
