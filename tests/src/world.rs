//! The embedded home in a temporary folder.

use std::{path::Path, sync::Arc, time::Duration};

use app::{App, Ports, RunRequest};
use local::{
    engine::Engine,
    home::{RandomIds, SystemClock},
    objects::FolderObjects,
    store::{Mode, Store},
};
use manifest::SourceFile;
use model::{EventKind, LaunchKind, Run, RunId, RunOptions, Scope, Selection, Tier, Timestamp};
use ports::Runs as _;
use serde_json::{Value, json};
use testkit::FailsAt;
use tokio::sync::broadcast::error::RecvError;

use crate::ScriptedLauncher;

/// The longest that a story waits for anything.
const PATIENCE: Duration = Duration::from_secs(20);

/// A control process in a folder. Dropping it is a crash: nothing is said goodbye to.
pub struct World {
    /// The use cases.
    pub app: App,
    /// The launcher.
    pub launcher: ScriptedLauncher,
    /// The scope of every story.
    pub scope: Scope,
    /// What is stored, past any fault.
    store: Store,
    runtime: tokio::runtime::Runtime,
}

fn target(tier: &Tier) -> Value {
    json!({ "cluster": "local", "taskDefinition": tier.name, "capacityProviderStrategy": [], "networkConfiguration": {} })
}

impl World {
    /// A control process over `folder`, which may hold what an earlier one left.
    ///
    /// # Panics
    /// Where the folder cannot be used.
    pub fn open(folder: &Path) -> World {
        World::with(folder, &FailsAt::never())
    }

    /// The same, over ports of which one call fails.
    ///
    /// # Panics
    /// Where the folder cannot be used.
    pub fn with(folder: &Path, fault: &FailsAt) -> World {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
        let guard = runtime.enter();
        let clock = Arc::new(SystemClock);
        let store = Store::open(&folder.join("store.sqlite"), Mode::Own).expect("the store opens");
        let objects = Arc::new(FolderObjects::open(&folder.join("objects")).expect("the objects open"));
        let (launcher, reports) = ScriptedLauncher::new(clock.clone());
        let app = App::new(Ports {
            registry: fault.registry(Arc::new(store.clone())),
            runs: fault.runs(Arc::new(store.clone())),
            objects: fault.objects(objects.clone()),
            launcher: fault.launcher(Arc::new(launcher.clone())),
            clock: clock.clone(),
            ids: Arc::new(RandomIds::default()),
            launches: &[LaunchKind::Process],
            target,
        });
        let engine = Engine::new(store.clone(), objects, Arc::new(launcher.clone()), clock, Arc::new(app.clone()), reports);
        app.attach(engine.expect("our own machine parses"));
        drop(guard);
        World { app, launcher, scope: Scope::local(), store, runtime }
    }

    /// Runs a future of the story.
    pub fn block<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Makes these manifests the fleet.
    ///
    /// # Panics
    /// Where the manifests are wrong.
    pub fn apply(&self, text: &str) {
        let file = SourceFile { path: "fleet.yaml".to_owned(), folder: "/fleet".to_owned(), text: text.to_owned() };
        let fleet = manifest::read(&[file]).unwrap_or_else(|problems| panic!("the story's manifest is wrong: {problems:#?}"));
        self.block(self.app.apply(&self.scope, &fleet)).expect("the fleet is applied");
    }

    /// A request for every unit.
    pub fn all(&self) -> RunRequest {
        let options = RunOptions {
            concurrency: None,
            priority: 0,
            parameters: std::collections::BTreeMap::new(),
            arguments: Vec::new(),
            limit: None,
            tier: None,
            slot: Timestamp::UNIX_EPOCH,
        };
        RunRequest { selection: Selection::All, options, idempotency_key: None, take_up: true }
    }

    /// Starts a run of every unit.
    ///
    /// # Panics
    /// Where it is refused.
    pub fn start_all(&self) -> RunId {
        self.block(self.app.start(&self.scope, self.all())).expect("the run starts").run.id
    }

    /// Ticks until the run has ended.
    ///
    /// # Panics
    /// Where it does not end in time.
    pub fn wait(&self, run: RunId) -> Run {
        let mut events = self.app.subscribe();
        let found = self.block(async {
            let found = self.store.run(&self.scope, run).await.expect("the run is there").value;
            if found.state.is_terminal() {
                return found;
            }
            let mut ticks = tokio::time::interval(Duration::from_millis(20));
            let ended = async {
                loop {
                    tokio::select! {
                        event = events.recv() => match event {
                            Ok(event) if event.kind == EventKind::RunEnded && event.causation_id == run.to_string() => return,
                            Ok(_) | Err(RecvError::Lagged(_)) => {}
                            Err(RecvError::Closed) => panic!("the app is gone"),
                        },
                        _ = ticks.tick() => self.app.tick().await,
                    }
                }
            };
            tokio::time::timeout(PATIENCE, ended)
                .await
                .unwrap_or_else(|_| panic!("waited {PATIENCE:?} in vain for the end of {run}"));
            self.store.run(&self.scope, run).await.expect("the run is there").value
        });
        assert!(found.state.is_terminal(), "{run} said that it has ended");
        found
    }

    /// Ticks until `look` finds something.
    ///
    /// # Panics
    /// Where it does not in time.
    pub fn until<T>(&self, what: &str, look: impl AsyncFn() -> Option<T>) -> T {
        let found = self.block(async {
            tokio::time::timeout(PATIENCE, async {
                loop {
                    self.app.tick().await;
                    if let Some(found) = look().await {
                        return found;
                    }
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            })
            .await
        });
        found.unwrap_or_else(|_| panic!("waited {PATIENCE:?} in vain until {what}"))
    }
}
