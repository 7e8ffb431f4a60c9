//! Executes state machines with a journal.
//!
//! [`Engine`] is the host of the interpreter in `asl`: it gives it time and task results, and carries its commands out. Each execution is one
//! task that owns the interpreter's state ([`mod@execution`]). What is applied is appended to the journal without waiting for it: every command
//! is safe to carry out again, so that a journal which ends early only means that its last steps are asked once more.

mod calls;
mod execution;
mod timers;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use asl::{Event, Machine, TaskId};
use async_trait::async_trait;
use model::{Digest, ExecutionId, Scope, StopCause};
use ports::{Clock, EngineError, Launcher, MachineStatus, Objects, Observation, Report, StepError, Steps, StoreError};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tracing::{debug, warn};

use crate::store::{Store, journal::MachineExecution};

/// The machine that carries a run out; the same file as in the cloud.
const RUN_MACHINE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../statemachines/run.asl.json"));

/// What the deployment puts in place of the file's holes; here the names of the steps.
const SUBSTITUTIONS: [(&str, &str); 4] =
    [("${OpenFunction}", "open"), ("${AdmitFunction}", "admit"), ("${SettleFunction}", "settle"), ("${CloseFunction}", "close")];

/// The engine of the embedded home. Runs its executions on the tokio runtime that calls it.
pub struct Engine {
    shared: Arc<Shared>,
}

/// What every execution of a state machine uses.
struct Shared {
    store: Store,
    objects: Arc<dyn Objects>,
    launcher: Arc<dyn Launcher>,
    clock: Arc<dyn Clock>,
    steps: Arc<dyn Steps>,
    machines: HashMap<&'static str, Arc<Machine>>,
    running: Mutex<HashMap<(Scope, String), mpsc::UnboundedSender<Event>>>,
    /// Which execution and task waits for a token.
    tokens: Mutex<HashMap<Arc<str>, Waiter>>,
    /// Which execution and task waits for the end of an attempt.
    launched: Mutex<HashMap<(ExecutionId, u32), Launched>>,
}

/// A task that waits for something from outside.
#[derive(Clone)]
struct Waiter {
    task: TaskId,
    events: mpsc::UnboundedSender<Event>,
}

/// An attempt that a task waits for.
struct Launched {
    scope: Scope,
    waiter: Waiter,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Engine {
    /// An engine that calls `steps`, launches by `launcher` and hears of its attempts by `reports`.
    ///
    /// # Errors
    /// A machine of ours that does not parse.
    pub fn new(
        store: Store,
        objects: Arc<dyn Objects>,
        launcher: Arc<dyn Launcher>,
        clock: Arc<dyn Clock>,
        steps: Arc<dyn Steps>,
        reports: mpsc::UnboundedReceiver<Report>,
    ) -> Result<Arc<Engine>, EngineError> {
        let machines = HashMap::from([("run", Arc::new(parse(RUN_MACHINE)?))]);
        let shared = Shared {
            store,
            objects,
            launcher,
            clock,
            steps,
            machines,
            running: Mutex::default(),
            tokens: Mutex::default(),
            launched: Mutex::default(),
        };
        let shared = Arc::new(shared);
        tokio::spawn(hear(Arc::clone(&shared), reports));
        Ok(Arc::new(Engine { shared }))
    }
}

fn parse(text: &str) -> Result<Machine, EngineError> {
    let text = SUBSTITUTIONS.iter().fold(text.to_owned(), |text, (hole, step)| text.replace(hole, step));
    Machine::parse(&text).map_err(|problems| {
        let sentences: Vec<String> = problems.iter().map(ToString::to_string).collect();
        EngineError::Invalid(sentences.join("; "))
    })
}

/// Passes reports on: to the steps, and the end of an attempt to the task that waits for it.
async fn hear(shared: Arc<Shared>, mut reports: mpsc::UnboundedReceiver<Report>) {
    while let Some(report) = reports.recv().await {
        if let Err(error) = shared.steps.observe(&report).await {
            warn!(execution = %report.execution, %error, "report not taken");
        }
        match &report.observation {
            Observation::Ended(_) | Observation::Lost => shared.attempt_ended(report.execution, report.attempt),
            Observation::Starting | Observation::Running { .. } | Observation::Publishing | Observation::Unknown => {}
        }
    }
    debug!("no more reports: the launcher is gone");
}

impl Shared {
    fn attempt_ended(&self, execution: ExecutionId, attempt: u32) {
        if let Some(Launched { waiter, .. }) = lock(&self.launched).remove(&(execution, attempt)) {
            let output = json!({ "TaskArn": format!("{execution}-{attempt}"), "StopCode": "EssentialContainerExited" });
            waiter.tell(Event::TaskSucceeded { task: waiter.task, output: output.into() });
        }
    }

    /// The task is not wanted any more: what it launched is to stop.
    fn abandon(&self, task: TaskId, events: &mpsc::UnboundedSender<Event>) {
        let ours = |launched: &Launched| launched.waiter.task == task && launched.waiter.events.same_channel(events);
        let attempts: Vec<(Scope, ExecutionId, u32)> = lock(&self.launched)
            .extract_if(|_, launched| ours(launched))
            .map(|((execution, attempt), launched)| (launched.scope, execution, attempt))
            .collect();
        for (scope, execution, attempt) in attempts {
            let launcher = Arc::clone(&self.launcher);
            tokio::spawn(async move {
                if let Err(error) = launcher.stop(&scope, execution, attempt, StopCause::Interrupted).await {
                    warn!(%execution, attempt, %error, "stop not delivered");
                }
            });
        }
    }
}

impl Waiter {
    /// Tells the execution; one that has ended meanwhile needs to know nothing.
    fn tell(&self, event: Event) {
        let _ = self.events.send(event);
    }
}

#[async_trait]
impl ports::Engine for Engine {
    async fn start(&self, scope: &Scope, machine: &str, name: &str, input: Value) -> Result<(), EngineError> {
        let shared = &self.shared;
        let Some(definition) = shared.machines.get(machine) else { return Err(EngineError::NotFound) };
        let started_at = shared.now();
        let input = serde_json::to_string(&input).map_err(|error| EngineError::Invalid(error.to_string()))?;
        let wish = MachineExecution { name: name.to_owned(), machine: machine.to_owned(), input, started_at, status: None };
        let is_new = shared.store.start_machine(scope, wish.clone()).await.map_err(unavailable)?;
        let execution = if is_new { wish } else { shared.store.machine(scope, name).await.map_err(unavailable)? };
        if execution.status.is_some() {
            return Ok(());
        }
        let Some(receiver) = shared.claim(scope, name) else { return Ok(()) };
        let journal = if is_new { Vec::new() } else { shared.store.journal(scope, name).await.map_err(unavailable)? };
        let begun = execution::Begin { scope: scope.clone(), definition: Arc::clone(definition), execution, journal, receiver };
        match execution::Host::begin(Arc::clone(shared), begun) {
            Ok(host) => tokio::spawn(host.serve()),
            Err(error) => {
                lock(&shared.running).remove(&(scope.clone(), name.to_owned()));
                return Err(error);
            }
        };
        Ok(())
    }

    async fn stop(&self, scope: &Scope, name: &str, cause: &str) -> Result<(), EngineError> {
        let sender = lock(&self.shared.running).get(&(scope.clone(), name.to_owned())).cloned();
        match sender {
            Some(sender) => {
                // An execution that ends at this moment is as good as stopped.
                let _ = sender.send(Event::Stop { error: None, cause: Some(cause.into()) });
                Ok(())
            }
            None => self.describe(scope, name).await.map(|_| ()),
        }
    }

    async fn describe(&self, scope: &Scope, name: &str) -> Result<MachineStatus, EngineError> {
        let execution = self.shared.store.machine(scope, name).await.map_err(unavailable)?;
        execution.status.map_or(Ok(MachineStatus::Running), |status| execution::ended(&status))
    }

    async fn resume(&self, token: &str, result: Result<Value, StepError>) -> Result<(), EngineError> {
        let Some(waiter) = lock(&self.shared.tokens).remove(token) else { return Ok(()) };
        waiter.tell(match result {
            Ok(output) => Event::TaskSucceeded { task: waiter.task, output: output.into() },
            Err(failure) => calls::failed(waiter.task, &failure),
        });
        Ok(())
    }
}

impl Shared {
    /// Now, as precisely as the journal keeps it: a replay must see the same times.
    fn now(&self) -> model::Timestamp {
        let now = self.clock.now();
        model::Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
    }

    /// Makes this call the one that runs the execution; `None` where it runs already.
    fn claim(&self, scope: &Scope, name: &str) -> Option<Claim> {
        let mut running = lock(&self.running);
        let key = (scope.clone(), name.to_owned());
        if running.contains_key(&key) {
            return None;
        }
        let (sender, receiver) = mpsc::unbounded_channel();
        running.insert(key, sender.clone());
        Some(Claim { sender, receiver })
    }
}

/// Both ends of the channel of an execution that this engine runs.
struct Claim {
    sender: mpsc::UnboundedSender<Event>,
    receiver: mpsc::UnboundedReceiver<Event>,
}

/// What random choices of an execution follow from: its name, so that nothing else must be kept.
fn seed(scope: &Scope, name: &str) -> u64 {
    let bits = Digest::of(format!("{scope}\n{name}").as_bytes()).bits();
    u64::try_from(bits >> 64).unwrap_or(u64::MAX)
}

fn unavailable(error: StoreError) -> EngineError {
    match error {
        StoreError::NotFound => EngineError::NotFound,
        other @ (StoreError::Conflict(_) | StoreError::Unavailable(_) | StoreError::Full(_) | StoreError::Corrupt(_)) => {
            EngineError::Unavailable(other.into())
        }
    }
}
