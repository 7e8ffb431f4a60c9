//! The shim: accepts clients, has attempts carried out, tells every client what happens to them.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    rc::Rc,
    time::Duration,
};

use model::{ExecutionId, Scope, StopCause};
use ports::Observation;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, setsid};
use tokio::{
    net::{UnixListener, UnixStream},
    runtime::{Builder, LocalOptions},
    signal::unix::{Signal, SignalKind, signal},
    time::Instant,
};
use tracing::{info, warn};

use super::{
    connection::{self, Outbox},
    socket,
    wire::{self, Attempt, PROTOCOL, Refusal, Reply, Request},
};
use crate::worker::{Carried, Charge, Order, Ports, Recorded, Remains, StopOrder, Worker};

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

/// With nothing in hand and nobody connected, a shim stays for so long.
const IDLE: Duration = Duration::from_secs(1);
/// How often processes are looked at while any can be there.
const SWEEP: Duration = Duration::from_secs(1);
/// A sweep may take at most one part in so many of the time.
const SWEEP_SHARE: u32 = 50;

/// Serves as the shim of `home` until nothing is in hand and nobody is connected. Another shim in charge already: returns at once.
///
/// Takes over the process: leaves its session, becomes the parent of orphans, handles SIGTERM (stops every unit as interrupted, then ends).
///
/// # Errors
/// [`ServeError`] where the home or the system refuses.
pub fn serve(home: &Path, ports: Ports) -> Result<(), ServeError> {
    let home_error = |doing: &'static str| {
        let path = home.to_owned();
        move |source: io::Error| ServeError::Home { doing, path, source }
    };
    let Some(charge) = Charge::take(home).map_err(home_error("take charge of"))? else {
        info!("another shim is in charge");
        return Ok(());
    };
    // Refused only to the leader of a process group: then somebody started the shim by hand and may have its session.
    let _ = setsid();
    raise_open_files();
    let system = |doing: &'static str| move |source: io::Error| ServeError::System { doing, source };
    let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(64).build_local(LocalOptions::default());
    let runtime = runtime.map_err(system("start the runtime"))?;
    runtime.block_on(async {
        let worker = Worker::new(charge, ports.clone()).map_err(home_error("work in"))?;
        let left = worker.recover().await.map_err(system("end what a former shim left"))?;
        let listener = socket::bind(home).and_then(UnixListener::from_std).map_err(home_error("listen in"))?;
        info!(left, "the shim is in charge");
        let shim = Rc::new(Shim::new(worker, ports));
        let signals = Signals::new().map_err(system("handle signals"))?;
        run(&shim, &listener, signals).await;
        socket::unbind(home);
        info!("the shim has nothing in hand and ends");
        Ok(())
    })
}

/// Many units at once need many pipes. Programs get the former bound back.
fn raise_open_files() {
    let bound = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: bound.maximum.map(|most| most.min(65_536)).or(Some(65_536)), maximum: bound.maximum };
    if raised.current == bound.current {
        return;
    }
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => crate::worker::remember_open_files(bound),
        Err(error) => warn!(%error, "could not raise the number of open files"),
    }
}

/// What the shim listens to beside its clients.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    fn new() -> io::Result<Signals> {
        let on = |kind| signal(kind);
        Ok(Signals {
            terminate: on(SignalKind::terminate())?,
            interrupt: on(SignalKind::interrupt())?,
            hangup: on(SignalKind::hangup())?,
        })
    }

    /// Waits for the order to end. A hang-up is none.
    async fn order_to_end(&mut self) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.hangup.recv() => {}
            }
        }
    }
}

/// The state of a shim.
pub(crate) struct Shim {
    worker: Worker,
    ports: Ports,
    in_hand: RefCell<HashMap<(ExecutionId, u32), InHand>>,
    clients: RefCell<Vec<Rc<Outbox>>>,
    ending: Cell<bool>,
    /// Since when nothing is in hand and nobody is connected.
    idle_since: Cell<Option<Instant>>,
}

struct InHand {
    scope: Scope,
    observation: Observation,
    stop: Rc<StopOrder>,
}

async fn run(shim: &Rc<Shim>, listener: &UnixListener, mut signals: Signals) {
    let mut next_sweep = Instant::now() + SWEEP;
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => shim.welcome(stream),
                Err(error) => {
                    warn!(%error, "could not accept a client");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
            () = signals.order_to_end() => shim.end_all(),
            () = tokio::time::sleep_until(next_sweep) => {
                let began = Instant::now();
                if shim.is_done() {
                    return;
                }
                next_sweep = Instant::now() + SWEEP.max(began.elapsed() * SWEEP_SHARE);
                if let Some(idle_since) = shim.idle_since.get() {
                    next_sweep = next_sweep.min((idle_since + IDLE).max(Instant::now() + Duration::from_millis(50)));
                }
            }
        }
    }
}

impl Shim {
    fn new(worker: Worker, ports: Ports) -> Shim {
        Shim {
            worker,
            ports,
            in_hand: RefCell::default(),
            clients: RefCell::default(),
            ending: Cell::new(false),
            idle_since: Cell::new(Some(Instant::now())),
        }
    }

    fn welcome(self: &Rc<Shim>, stream: UnixStream) {
        self.idle_since.set(None);
        let shim = Rc::clone(self);
        tokio::task::spawn_local(async move { connection::serve(&shim, stream).await });
    }

    /// A client is gone.
    pub(crate) fn leave(&self, outbox: &Rc<Outbox>) {
        self.clients.borrow_mut().retain(|client| !Rc::ptr_eq(client, outbox));
        self.look_whether_idle();
    }

    fn look_whether_idle(&self) {
        if self.in_hand.borrow().is_empty() && self.clients.borrow().is_empty() {
            self.idle_since.set(self.idle_since.get().or(Some(Instant::now())));
        } else {
            self.idle_since.set(None);
        }
    }

    /// Looks for what outlived its attempt; true where the shim has nothing more to do.
    fn is_done(&self) -> bool {
        self.look_whether_idle();
        let childless = self.worker.is_childless();
        if !childless && let Err(error) = self.worker.sweep() {
            warn!(%error, "could not look for processes left behind");
        }
        let idle = self.idle_since.get().is_some_and(|since| since.elapsed() >= IDLE);
        let ended = self.ending.get() && self.in_hand.borrow().is_empty();
        childless && (idle || ended)
    }

    fn end_all(&self) {
        info!(in_hand = self.in_hand.borrow().len(), "told to end: stopping every unit");
        self.ending.set(true);
        self.in_hand.borrow().values().for_each(|attempt| attempt.stop.give(StopCause::Interrupted));
    }

    /// Acts on a client's request.
    pub(crate) fn hear(self: &Rc<Shim>, request: Request<'_>, client: &Rc<Outbox>) {
        match request {
            Request::Hello { protocol } => {
                client.say(&Reply::Hello { protocol: PROTOCOL, pid: std::process::id() });
                if protocol == PROTOCOL {
                    self.clients.borrow_mut().push(Rc::clone(client));
                }
            }
            Request::Start { assignment, passed } => {
                let order = Order { assignment: assignment.into_owned(), passed };
                self.start(order, client);
            }
            Request::Stop { ticket, of, cause } => {
                let in_hand = self.in_hand.borrow();
                if let Some(attempt) = in_hand.get(&(of.execution, of.attempt)).filter(|attempt| attempt.scope == of.scope) {
                    attempt.stop.give(cause);
                }
                drop(in_hand);
                self.answer(ticket, &of, client);
            }
            Request::Observe { ticket, of } => self.answer(ticket, &of, client),
        }
    }

    fn answer(&self, ticket: u64, of: &Attempt, client: &Outbox) {
        let at = self.ports.clock.now();
        client.say(&match self.observe(of) {
            Ok(observation) => Reply::Answer { ticket, at, observation },
            Err(refusal) => Reply::NoAnswer { ticket, refusal },
        });
    }

    /// Tells the client that wants to start an attempt what is seen of it.
    fn report_to(&self, of: Attempt, client: &Outbox) {
        let at = self.ports.clock.now();
        client.say(&match self.observe(&of) {
            Ok(observation) => Reply::Report { of, at, observation },
            Err(refusal) => Reply::Refused { of, refusal },
        });
    }

    fn observe(&self, of: &Attempt) -> Result<Observation, Refusal> {
        if let Some(attempt) = self.in_hand.borrow().get(&(of.execution, of.attempt)).filter(|attempt| attempt.scope == of.scope)
        {
            return Ok(attempt.observation.clone());
        }
        let remains = self.worker.remains(&of.scope, of.execution, of.attempt).map_err(|error| {
            warn!(execution = %of.execution, attempt = of.attempt, %error, "could not look up what became of an attempt");
            Refusal::Unavailable(format!("could not look up what became of the attempt: {error}"))
        })?;
        Ok(match remains {
            Remains::Nothing => Observation::Unknown,
            Remains::Outcome(outcome) => Observation::Ended(outcome),
            Remains::Alive(Some(Recorded { identity, started_at })) => Observation::Running { process: identity, started_at },
            Remains::Alive(None) => Observation::Starting,
            Remains::Lost => Observation::Lost,
        })
    }

    fn start(self: &Rc<Shim>, order: Order, client: &Rc<Outbox>) {
        let of = Attempt::of(&order.assignment);
        let key = (of.execution, of.attempt);
        if self.ending.get() {
            client.say(&Reply::Refused { of, refusal: Refusal::Capacity });
            return;
        }
        let known = self.in_hand.borrow().get(&key).map(|attempt| attempt.scope == of.scope);
        match known {
            Some(true) => {
                self.report_to(of, client);
                return;
            }
            // An execution belongs to one scope; for another one it is not there and cannot be made.
            Some(false) => {
                client.say(&Reply::Refused { of, refusal: Refusal::Unavailable("the execution is of another scope".to_owned()) });
                return;
            }
            None => {}
        }
        let stop = Rc::new(StopOrder::default());
        let in_hand = InHand { scope: of.scope.clone(), observation: Observation::Starting, stop: Rc::clone(&stop) };
        self.in_hand.borrow_mut().insert(key, in_hand);
        let (shim, client) = (Rc::clone(self), Rc::clone(client));
        tokio::task::spawn_local(async move { shim.carry_out(of, order, &stop, &client).await });
    }

    async fn carry_out(&self, of: Attempt, order: Order, stop: &StopOrder, client: &Outbox) {
        let key = (of.execution, of.attempt);
        let tell = |observation: Observation| self.tell(&of, observation);
        let carried = self.worker.carry_out(&order, stop, &tell).await;
        self.in_hand.borrow_mut().remove(&key);
        match carried {
            Carried::Ended(_) => {}
            Carried::Known => self.report_to(of, client),
            Carried::NoRoom => client.say(&Reply::Refused { of, refusal: Refusal::Capacity }),
            Carried::Unavailable(error) => {
                warn!(execution = %of.execution, attempt = of.attempt, %error, "could not use the home for an attempt");
                client.say(&Reply::Refused { of, refusal: Refusal::Unavailable(error.to_string()) });
            }
        }
        self.look_whether_idle();
    }

    /// Tells every client what was seen of an attempt in hand.
    fn tell(&self, of: &Attempt, observation: Observation) {
        let key = (of.execution, of.attempt);
        match &observation {
            Observation::Ended(_) => drop(self.in_hand.borrow_mut().remove(&key)),
            Observation::Starting
            | Observation::Running { .. }
            | Observation::Publishing
            | Observation::Unknown
            | Observation::Lost => {
                if let Some(attempt) = self.in_hand.borrow_mut().get_mut(&key) {
                    attempt.observation = observation.clone();
                }
            }
        }
        let clients = self.clients.borrow();
        if clients.is_empty() {
            return;
        }
        let mut line = Vec::with_capacity(1024);
        wire::write(&mut line, &Reply::Report { of: of.clone(), at: self.ports.clock.now(), observation });
        clients.iter().for_each(|client| client.say_line(&line));
    }
}
