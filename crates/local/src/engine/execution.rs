//! One execution of a state machine: owns the interpreter's state, applies what happens, carries out what it asks for.

use std::sync::Arc;

use asl::{Applied, Command, Event, Machine, Start, Status};
use model::Scope;
use ports::{EngineError, MachineStatus, StepError};
use serde_json::Value;
use tokio::sync::mpsc;
use tracing::{error, warn};

use super::{Claim, Shared, calls, lock, seed, timers::Timers};
use crate::store::journal::{Entry, MachineExecution};

/// How many events are applied before the journal is written and commands go out.
const BATCH: usize = 512;

/// What an execution begins with, or goes on with.
pub(super) struct Begin {
    pub scope: Scope,
    pub definition: Arc<Machine>,
    pub execution: MachineExecution,
    pub journal: Vec<Entry>,
    pub receiver: Claim,
}

pub(super) struct Host {
    shared: Arc<Shared>,
    scope: Scope,
    name: String,
    state: asl::Execution,
    sender: mpsc::UnboundedSender<Event>,
    receiver: mpsc::UnboundedReceiver<Event>,
    timers: Timers,
    next_entry: u64,
}

impl Host {
    /// Starts the interpreter, or brings it to where the journal ends; what is then awaited is asked for (again).
    pub(super) fn begin(shared: Arc<Shared>, begin: Begin) -> Result<Host, EngineError> {
        let Begin { scope, definition, execution, journal, receiver: Claim { sender, receiver } } = begin;
        let MachineExecution { name, machine, input, started_at, .. } = execution;
        let input = asl::Value::parse(&input).map_err(|error| EngineError::Invalid(error.to_string()))?;
        let mut start = Start::new(&name, input, started_at, seed(&scope, &name));
        start.machine_name = machine.into();
        let mut commands = Vec::new();
        let mut state = asl::Execution::start(definition, start, &mut commands);
        let next_entry = journal.last().map_or(0, |entry| entry.seq + 1);
        for entry in journal {
            let event = serde_json::from_str(&entry.json).map_err(|error| {
                EngineError::Invalid(format!("entry {} of the journal of {name} cannot be read: {error}", entry.seq))
            })?;
            commands.clear();
            state.apply(event, entry.at, &mut commands);
        }
        let mut host = Host { shared, scope, name, state, sender, receiver, timers: Timers::default(), next_entry };
        let awaited: Vec<Command> = host.state.outstanding().collect();
        host.carry_out(awaited);
        Ok(host)
    }

    /// Serves until the execution has ended.
    pub(super) async fn serve(mut self) {
        let mut events = Vec::with_capacity(BATCH);
        while *self.state.status() == Status::Running {
            tokio::select! {
                count = self.receiver.recv_many(&mut events, BATCH) => {
                    if count == 0 {
                        return;
                    }
                }
                () = self.timers.next() => {
                    events.extend(self.timers.due().into_iter().map(|timer| Event::TimerFired { timer }));
                }
            }
            let commands = self.apply(events.drain(..));
            self.carry_out(commands);
        }
        self.finish().await;
    }

    /// Applies events and appends to the journal those that changed something.
    fn apply(&mut self, events: impl Iterator<Item = Event>) -> Vec<Command> {
        let now = self.shared.now();
        let (mut commands, mut entries) = (Vec::new(), Vec::new());
        for event in events {
            let json = serde_json::to_string(&event).expect("an event is JSON: it was read from JSON or made of it");
            match self.state.apply(event, now, &mut commands) {
                Applied::Applied => {
                    entries.push(Entry { seq: self.next_entry, at: now, json });
                    self.next_entry += 1;
                }
                Applied::Ignored(_) => {}
            }
        }
        if !entries.is_empty() {
            drop(self.shared.store.append(&self.scope, &self.name, entries));
        }
        commands
    }

    fn carry_out(&mut self, commands: Vec<Command>) {
        let now = self.shared.now();
        for command in commands {
            match command {
                Command::StartTimer { timer, at } => self.timers.start(timer, at, now),
                Command::CancelTimer { timer } => self.timers.cancel(timer),
                Command::StopTask { task } => self.shared.abandon(task, &self.sender),
                Command::StartTask { task, resource, arguments, token, .. } => {
                    let call = calls::Call { task, resource, arguments, token, events: self.sender.clone() };
                    call.spawn(Arc::clone(&self.shared));
                }
                Command::ReadItems { read, arguments, from, at_most, .. } => {
                    tokio::spawn(calls::read_items(
                        Arc::clone(&self.shared),
                        self.sender.clone(),
                        read,
                        arguments,
                        from,
                        at_most,
                    ));
                }
                // Results are in the executions' records; nobody reads a second copy.
                Command::WriteResults { write, .. } => {
                    self.tell(Event::ResultsWritten { write, output: asl::Value::empty_object() })
                }
                Command::Finished(_) => {}
            }
        }
    }

    fn tell(&self, event: Event) {
        // The receiver is ours and open as long as `self` is.
        let _ = self.sender.send(event);
    }

    async fn finish(self) {
        let status = serde_json::to_string(self.state.status()).expect("a status is JSON");
        match self.shared.store.finish(&self.scope, &self.name, status).await {
            Ok(()) => drop(self.shared.store.forget(&self.scope, &self.name)),
            Err(problem) => {
                error!(machine = %self.name, error = %problem, "end of the state machine not written; it is found again at the next start")
            }
        }
        lock(&self.shared.running).remove(&(self.scope.clone(), self.name.clone()));
        match self.state.status() {
            Status::Running | Status::Succeeded { .. } => {}
            Status::Failed(_) | Status::TimedOut | Status::Aborted(_) => {
                warn!(machine = %self.name, status = ?self.state.status(), "state machine did not end well");
            }
        }
    }
}

/// A stored status as the port tells it.
pub(super) fn ended(status: &str) -> Result<MachineStatus, EngineError> {
    let status: Status = serde_json::from_str(status).map_err(|error| EngineError::Invalid(error.to_string()))?;
    let failure = |failure: asl::Failure| {
        let text = |text: Option<Arc<str>>| text.map(|text| text.to_string()).unwrap_or_default();
        MachineStatus::Failed(StepError { error: text(failure.error), cause: text(failure.cause) })
    };
    Ok(match status {
        Status::Running => MachineStatus::Running,
        Status::Succeeded { output } => MachineStatus::Succeeded(Value::from(&output)),
        Status::Failed(problem) | Status::Aborted(problem) => failure(problem),
        Status::TimedOut => MachineStatus::Failed(StepError { error: "States.Timeout".to_owned(), cause: String::new() }),
    })
}
