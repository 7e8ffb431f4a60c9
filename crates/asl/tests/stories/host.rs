//! A host for tests: a virtual clock, tasks answered by a closure, a journal, and lists of items in memory.

#![expect(clippy::unwrap_used, reason = "a host for tests may fail in any way")]

use std::collections::BTreeSet;
use std::sync::Arc;

use asl::{Applied, Command, Event, Execution, ItemResult, Machine, Resource, Start, Status, TaskId, TimerId, Value};
use jiff::{SignedDuration, Timestamp};

/// What a task of a test does.
pub(crate) enum Answer {
    Succeed(Value),
    Fail(&'static str, &'static str),
    /// Nothing by itself: the test gives the event, or a timer ends it.
    Park,
}

/// A task that the execution asked for.
#[derive(Clone, Debug)]
pub(crate) struct Called {
    pub(crate) task: TaskId,
    pub(crate) state: Arc<str>,
    pub(crate) resource: Resource,
    pub(crate) arguments: Value,
    pub(crate) token: Option<Arc<str>>,
    pub(crate) attempt: u32,
    pub(crate) at: Timestamp,
}

type Tasks = Box<dyn FnMut(&Called) -> Answer>;

pub(crate) struct Host {
    pub(crate) execution: Execution,
    pub(crate) machine: Arc<Machine>,
    pub(crate) start: Start,
    pub(crate) now: Timestamp,
    pub(crate) journal: Vec<(Timestamp, Event)>,
    pub(crate) commands: Vec<Command>,
    pub(crate) calls: Vec<Called>,
    pub(crate) stopped: Vec<TaskId>,
    /// What an item reader gives.
    pub(crate) items: Vec<Value>,
    /// What a result writer got, in parts.
    pub(crate) written: Vec<ItemResult>,
    pub(crate) reads: usize,
    timers: BTreeSet<(Timestamp, TimerId)>,
    tasks: Tasks,
    seen: usize,
}

impl Host {
    /// Starts a definition, and stops before the first command is carried out.
    pub(crate) fn new(definition: &str, input: &str, tasks: impl FnMut(&Called) -> Answer + 'static) -> Host {
        let machine = Machine::parse(definition)
            .unwrap_or_else(|problems| panic!("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")));
        let start = Start::new("run:1", Value::parse(input).unwrap(), time("2024-01-31T12:00:00Z"), 42);
        Host::with(Arc::new(machine), start, tasks)
    }

    pub(crate) fn with(machine: Arc<Machine>, start: Start, tasks: impl FnMut(&Called) -> Answer + 'static) -> Host {
        let mut commands = Vec::new();
        let execution = Execution::start(Arc::clone(&machine), start.clone(), &mut commands);
        Host {
            execution,
            machine,
            now: start.now,
            start,
            journal: Vec::new(),
            commands,
            calls: Vec::new(),
            stopped: Vec::new(),
            items: Vec::new(),
            written: Vec::new(),
            reads: 0,
            timers: BTreeSet::new(),
            tasks: Box::new(tasks),
            seen: 0,
        }
    }

    /// Runs a definition to its end, or until nothing more happens by itself.
    pub(crate) fn run(definition: &str, input: &str, tasks: impl FnMut(&Called) -> Answer + 'static) -> Host {
        let mut host = Host::new(definition, input, tasks);
        host.settle();
        host
    }

    /// Carries out commands and lets time pass until nothing is left to do.
    pub(crate) fn settle(&mut self) {
        loop {
            self.carry_out();
            let Some((at, timer)) = self.timers.pop_first() else { return };
            self.now = self.now.max(at);
            self.tell(Event::TimerFired { timer });
        }
    }

    /// Carries out commands without letting time pass.
    pub(crate) fn carry_out(&mut self) {
        while self.seen < self.commands.len() {
            let command = self.commands[self.seen].clone();
            self.seen += 1;
            self.obey(command);
        }
    }

    pub(crate) fn tell(&mut self, event: Event) -> Applied {
        self.journal.push((self.now, event.clone()));
        self.execution.apply(event, self.now, &mut self.commands)
    }

    pub(crate) fn pass_time(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::StartTask { task, state, resource, arguments, token, attempt, .. } => {
                let called = Called { task, state, resource, arguments, token, attempt, at: self.now };
                let answer = (self.tasks)(&called);
                self.calls.push(called);
                match answer {
                    Answer::Succeed(output) => drop(self.tell(Event::TaskSucceeded { task, output })),
                    Answer::Fail(error, cause) => {
                        let (error, cause) = (Some(Arc::from(error)), Some(Arc::from(cause)));
                        self.tell(Event::TaskFailed { task, error, cause });
                    }
                    Answer::Park => {}
                }
            }
            Command::StopTask { task } => self.stopped.push(task),
            Command::StartTimer { timer, at } => drop(self.timers.insert((at, timer))),
            Command::CancelTimer { timer } => self.timers.retain(|(_, armed)| *armed != timer),
            Command::ReadItems { read, from, at_most, .. } => {
                self.reads += 1;
                let from = usize::try_from(from).unwrap();
                let to = self.items.len().min(from + usize::try_from(at_most).unwrap());
                let items = self.items[from..to].to_vec();
                self.tell(Event::ItemsRead { read, items, more: to < self.items.len() });
            }
            Command::WriteResults { write, results, .. } => {
                self.written.extend(results.iter().cloned());
                let output = Value::parse(r#"{"MapRunArn": "map-run", "ResultWriterDetails": {}}"#).unwrap();
                self.tell(Event::ResultsWritten { write, output });
            }
            Command::Finished(_) => {}
        }
    }

    pub(crate) fn output(&self) -> Value {
        match self.execution.status() {
            Status::Succeeded { output } => output.clone(),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn failure(&self) -> (String, String) {
        match self.execution.status() {
            Status::Failed(failure) => {
                (failure.error.as_deref().unwrap_or_default().to_owned(), failure.cause.as_deref().unwrap_or_default().to_owned())
            }
            other => panic!("{other:?}"),
        }
    }

    /// Seconds from the start to now.
    pub(crate) fn elapsed(&self) -> f64 {
        self.now.duration_since(self.start.now).as_secs_f64()
    }
}

pub(crate) fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(crate) fn json(text: &str) -> Value {
    Value::parse(text).unwrap()
}

/// No task is expected.
pub(crate) fn no_tasks(called: &Called) -> Answer {
    panic!("{called:?}")
}
