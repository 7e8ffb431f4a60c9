//! Use cases: load, decide, save, carry out. The only place where decisions of `engine` meet the ports.
//!
//! [`App`] is what every root wires and every caller (CLI, API, Lambda function) speaks to. A reader's way: a use case here
//! ([`App::start`], [`App::cancel_run`], …) → the decision in `engine` → the port in `ports`. The steps that the state machine
//! `statemachines/run.asl.json` calls are in [`mod@steps`].

mod board;
mod cancel;
mod change;
mod fault;
mod fleet;
mod observe;
mod plan;
mod query;
mod recover;
mod start;
mod steps;
mod watch;
mod why;

use std::sync::{Arc, OnceLock};

use model::{Event, LaunchKind, Tier};
use ports::{Clock, Engine, Ids, Launcher, Objects, Registry, Runs};
use serde_json::Value;
use tokio::sync::broadcast;

use board::Board;
pub use cancel::Cancelled;
pub use fault::Fault;
pub use fleet::{Difference, FleetChange};
pub use plan::{ItemPlan, Plan};
pub use query::{ArtifactList, Named, RunView, TierView, UnitView};
pub use recover::Recovered;
pub use start::{How, RunRequest, Started};
pub use why::{Holder, Why};

/// What the use cases need from the world.
#[derive(Clone)]
pub struct Ports {
    /// Definitions.
    pub registry: Arc<dyn Registry>,
    /// Runs, executions, permits, outbox.
    pub runs: Arc<dyn Runs>,
    /// Files.
    pub objects: Arc<dyn Objects>,
    /// What carries attempts out.
    pub launcher: Arc<dyn Launcher>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// New ids.
    pub ids: Arc<dyn Ids>,
    /// The kinds of launch that `launcher` carries out.
    pub launches: &'static [LaunchKind],
    /// Where the state machine launches tasks of a tier: `cluster`, `taskDefinition`, `capacityProviderStrategy`, `networkConfiguration`.
    pub target: fn(&Tier) -> Value,
}

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub struct App {
    inner: Arc<Inner>,
}

struct Inner {
    ports: Ports,
    engine: OnceLock<Arc<dyn Engine>>,
    board: Board,
    events: broadcast::Sender<Event>,
}

/// How many events a slow subscriber may fall behind before it misses some (and is told so).
const EVENT_BACKLOG: usize = 16_384;

impl App {
    /// The use cases over these ports.
    pub fn new(ports: Ports) -> App {
        let (events, _) = broadcast::channel(EVENT_BACKLOG);
        App { inner: Arc::new(Inner { ports, engine: OnceLock::new(), board: Board::default(), events }) }
    }

    /// Names the engine that executes the state machines; engine and use cases know each other, so one comes first.
    pub fn attach(&self, engine: Arc<dyn Engine>) {
        // A second engine would execute every run twice: the first one stays.
        let _ = self.inner.engine.set(engine);
    }

    /// Every event of this process, once its transaction is durable.
    pub fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.inner.events.subscribe()
    }

    fn ports(&self) -> &Ports {
        &self.inner.ports
    }

    fn board(&self) -> &Board {
        &self.inner.board
    }

    fn engine(&self) -> Result<&Arc<dyn Engine>, Fault> {
        self.inner.engine.get().ok_or_else(|| Fault::internal("no engine is attached to this process"))
    }

    /// True where this process carries runs out (and does not only look at them).
    fn owns(&self) -> bool {
        self.inner.engine.get().is_some()
    }

    fn tell(&self, event: Event) {
        // Nobody listening is no fault.
        let _ = self.inner.events.send(event);
    }
}
