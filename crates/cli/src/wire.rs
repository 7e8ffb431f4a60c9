//! The composition root: which adapter answers which port.

use std::{future::Future, path::Path, sync::Arc, time::Duration};

use app::{App, Ports};
use async_trait::async_trait;
use local::{
    engine::Engine,
    home::{Home, HomeError, RandomIds, SystemClock},
    objects::FolderObjects,
    secrets::FileSecrets,
    shim::{self, ShimCommand},
    store::{Mode, OpenError, Store},
    worker,
};
use manifest::Fleet;
use model::{Assignment, ExecutionId, Kind, LaunchKind, Scope, StopCause, Tier};
use ports::{LaunchError, Launcher, Objects, Observation, Registry, Runs, Steps};
use serde_json::{Value, json};
use tokio::task::AbortHandle;

use crate::{
    context::Context,
    exit::Exit,
    failure::{Failure, chain},
    nowhere::Nowhere,
    preview::Preview,
};

/// The use cases over one home.
pub(crate) struct Console {
    pub app: App,
    pub runs: Arc<dyn Runs>,
    ticker: Option<AbortHandle>,
    /// Held for as long as this process carries runs out or changes the registry.
    _home: Option<Home>,
}

impl Drop for Console {
    fn drop(&mut self) {
        if let Some(ticker) = &self.ticker {
            ticker.abort();
        }
    }
}

/// How often the use cases look after what no event brings.
const TICK: Duration = Duration::from_millis(100);

/// Takes the home and everything that it takes to carry runs out.
pub(crate) async fn own(context: &Context) -> Result<Console, Failure> {
    let (home, store, objects) = take(context)?;
    let program = std::env::current_exe()
        .map_err(|error| Failure::new(Kind::Unavailable, "E-H05", format!("could not find the program's own file: {error}")))?;
    let arguments = ["shim".into(), "--home".into(), home.root().into(), "--scope".into(), context.scope.as_str().into()];
    let command = ShimCommand { program, arguments: arguments.into() };
    let environment =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect();
    let connected = shim::Client::connect(home.root(), command, environment).await;
    let (client, reports) = connected.map_err(|error| {
        let message = format!("could not reach the shim, which owns the units: {}", chain(&error));
        Failure::new(Kind::Unavailable, "E-H04", message)
    })?;
    let launcher: Arc<dyn Launcher> = Arc::new(client);
    let objects: Arc<dyn Objects> = Arc::new(objects);
    let app = App::new(ports(Arc::new(store.clone()), Arc::new(store.clone()), objects.clone(), launcher.clone()));
    let steps: Arc<dyn Steps> = Arc::new(app.clone());
    let engine = Engine::new(store.clone(), objects, launcher, Arc::new(SystemClock), steps, reports)
        .map_err(|error| Failure::new(Kind::Internal, "E-G01", format!("could not start the engine: {}", chain(&error))))?;
    app.attach(engine);
    let ticking = app.clone();
    let ticker = tokio::spawn(async move {
        let mut every = tokio::time::interval(TICK);
        every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            every.tick().await;
            ticking.tick().await;
        }
    });
    Ok(Console { app, runs: Arc::new(store), ticker: Some(ticker.abort_handle()), _home: Some(home) })
}

/// Takes the home to change the registry; carries nothing out.
pub(crate) fn hold(context: &Context) -> Result<Console, Failure> {
    let (home, store, objects) = take(context)?;
    let mut console = beside(store, Arc::new(objects));
    console._home = Some(home);
    Ok(console)
}

fn take(context: &Context) -> Result<(Home, Store, FolderObjects), Failure> {
    let home = Home::open(&context.home).map_err(|error| home_failure(context, &error))?;
    let store = Store::open(&home.store(), Mode::Own).map_err(|error| store_failure(&error))?;
    let objects = open_objects(&home.objects())?;
    Ok((home, store, objects))
}

/// Looks at the home beside whoever owns it. Where there is none yet, everything is empty.
pub(crate) fn visit(context: &Context) -> Result<Console, Failure> {
    match standing(context)? {
        Some((home, store)) => Ok(beside(store, Arc::new(open_objects(&home.objects())?))),
        None => Ok(nobody()),
    }
}

/// The home and its store as another process sees them; `None` where nothing was ever kept there. Everything else that hinders is an
/// error: a store that cannot be read is not an empty one.
fn standing(context: &Context) -> Result<Option<(Home, Store)>, Failure> {
    let home = match Home::visit(&context.home) {
        Ok(home) => home,
        Err(HomeError::Missing { .. }) => return Ok(None),
        Err(error @ (HomeError::HeldBy { .. } | HomeError::Folder { .. })) => return Err(home_failure(context, &error)),
    };
    match Store::open(&home.store(), Mode::Visit) {
        Ok(store) => Ok(Some((home, store))),
        // Version 0 is a file that its first owner has not filled yet.
        Err(OpenError::Missing { .. } | OpenError::Older { found: 0, .. }) => Ok(None),
        Err(error) => Err(store_failure(&error)),
    }
}

/// As [`visit`], and the fleet's definitions are the current ones: what applying it would make.
pub(crate) fn preview(context: &Context, fleet: Fleet) -> Result<Console, Failure> {
    let nowhere = Arc::new(Nowhere);
    let (below, runs): (Arc<dyn Registry>, Arc<dyn Runs>) = match standing(context)? {
        Some((_, store)) => (Arc::new(store.clone()), Arc::new(store)),
        None => (nowhere.clone(), nowhere.clone()),
    };
    let registry = Arc::new(Preview::new(fleet, below, context.now()));
    let app = App::new(ports(registry, runs.clone(), nowhere, Arc::new(Onlooker)));
    Ok(Console { app, runs, ticker: None, _home: None })
}

fn beside(store: Store, objects: Arc<dyn Objects>) -> Console {
    let app = App::new(ports(Arc::new(store.clone()), Arc::new(store.clone()), objects, Arc::new(Onlooker)));
    Console { app, runs: Arc::new(store), ticker: None, _home: None }
}

fn nobody() -> Console {
    let nowhere = Arc::new(Nowhere);
    let app = App::new(ports(nowhere.clone(), nowhere.clone(), nowhere.clone(), Arc::new(Onlooker)));
    Console { app, runs: nowhere, ticker: None, _home: None }
}

fn ports(registry: Arc<dyn Registry>, runs: Arc<dyn Runs>, objects: Arc<dyn Objects>, launcher: Arc<dyn Launcher>) -> Ports {
    Ports {
        registry,
        runs,
        objects,
        launcher,
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds::default()),
        launches: &[LaunchKind::Process],
        target,
    }
}

/// Where the state machine launches tasks; the embedded engine reads none of it.
fn target(tier: &Tier) -> Value {
    json!({ "cluster": "local", "taskDefinition": tier.name, "capacityProviderStrategy": [], "networkConfiguration": {} })
}

fn open_objects(path: &Path) -> Result<FolderObjects, Failure> {
    FolderObjects::open(path).map_err(|error| {
        Failure::new(Kind::Unavailable, "E-O02", format!("could not open the objects in {}: {error}", path.display()))
    })
}

fn home_failure(context: &Context, error: &HomeError) -> Failure {
    match error {
        HomeError::HeldBy { .. } => {
            let fault = app::Fault::new(Kind::Conflict, "E-H01", chain(error));
            fault.with_hint(format!("Wait for it, or follow what it runs: {}", context.command("runs watch"))).into()
        }
        HomeError::Missing { .. } => Failure::new(Kind::NotFound, "E-H02", chain(error)),
        HomeError::Folder { .. } => Failure::new(Kind::Unavailable, "E-H03", chain(error)),
    }
}

fn store_failure(error: &OpenError) -> Failure {
    let (kind, code) = match error {
        OpenError::Missing { .. } => (Kind::NotFound, "E-S01"),
        OpenError::Newer { .. } | OpenError::Older { .. } | OpenError::Foreign { .. } => (Kind::Conflict, "E-S06"),
        OpenError::Corrupt { .. } => (Kind::Internal, "E-S05"),
        OpenError::ReadOnly { .. } | OpenError::Full { .. } | OpenError::Unavailable { .. } => (Kind::Unavailable, "E-S03"),
    };
    Failure::new(kind, code, chain(error))
}

/// Who holds the home, in a half sentence; nobody where it is free or not there.
pub(crate) fn holder(context: &Context) -> Result<Option<String>, Failure> {
    let holder = Home::holder(&context.home).map_err(|error| home_failure(context, &error))?;
    Ok(holder.map(|holder| format!("process {} (`{}`)", holder.pid, holder.command)))
}

/// Serves as the shim, which owns the running units.
pub(crate) fn serve_as_shim(context: &Context) -> Result<Exit, Failure> {
    let failed = |message: String| Failure::new(Kind::Unavailable, "E-H04", message);
    let home = Home::visit(&context.home).map_err(|error| home_failure(context, &error))?;
    #[expect(clippy::disallowed_methods, reason = "this is a root: secrets may come from its environment")]
    let variable = Box::new(|name: &str| std::env::var(name).ok());
    let secrets = FileSecrets::new(&home.secrets(), context.scope.clone(), variable);
    let objects = open_objects(&home.objects())?;
    let ports = worker::Ports { objects: Arc::new(objects), secrets: Arc::new(secrets), clock: Arc::new(SystemClock) };
    shim::serve(home.root(), ports).map_err(|error| failed(chain(&error)))?;
    Ok(Exit::Ok)
}

/// Runs a command to its end.
pub(crate) fn block_on(command: impl Future<Output = Result<Exit, Failure>>) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime
        .map_err(|error| Failure::new(Kind::Unavailable, "E-I02", format!("could not start the program's threads: {error}")))?;
    let exit = runtime.block_on(command);
    // What is still under way here is safe to lose: whoever takes the home next takes it up.
    runtime.shutdown_timeout(Duration::from_secs(1));
    exit
}

/// The launcher of a process that carries nothing out.
struct Onlooker;

#[async_trait]
impl Launcher for Onlooker {
    async fn start(&self, _: &Assignment) -> Result<(), LaunchError> {
        Err(LaunchError::Refused("this process carries nothing out".to_owned()))
    }

    async fn stop(&self, _: &Scope, _: ExecutionId, _: u32, _: StopCause) -> Result<(), LaunchError> {
        Err(LaunchError::Refused("this process carries nothing out".to_owned()))
    }

    async fn observe(&self, _: &Scope, _: ExecutionId, _: u32) -> Result<Observation, LaunchError> {
        Ok(Observation::Unknown)
    }
}
