//! One step of an execution: an event, and all the work that follows from it at once.

use std::sync::Arc;

use jiff::Timestamp;

use crate::command::{Command, TaskId, TimerId};
use crate::context::{Around, living};
use crate::core::{Core, Purpose, Timer, Work};
use crate::definition::{Kind, Language, Machine, State, StateId};
use crate::event::{Applied, Event, Stale};
use crate::execution::Status;
use crate::fault::{Fault, names};
use crate::frame::{Doing, Frame, FrameId, Item, Run};
use crate::template::{Scope, Template};
use crate::{Failure, Map, Value};

/// The state of an execution together with what a step may use.
pub(crate) struct Step<'x> {
    pub(crate) core: &'x mut Core,
    pub(crate) machine: &'x Machine,
    pub(crate) now: Timestamp,
    pub(crate) out: &'x mut Vec<Command>,
}

/// What a template is evaluated on.
#[derive(Clone, Copy)]
pub(crate) struct Given<'d> {
    pub(crate) input: &'d Value,
    pub(crate) result: Option<&'d Value>,
    pub(crate) error_output: Option<&'d Value>,
    pub(crate) task: Option<TaskId>,
    pub(crate) item: Option<&'d Item>,
}

impl<'d> Given<'d> {
    pub(crate) fn input(input: &'d Value) -> Given<'d> {
        Given { input, result: None, error_output: None, task: None, item: None }
    }
}

/// What a thread of control needs from where it was started.
pub(crate) struct Thread {
    pub(crate) parent: Option<FrameId>,
    pub(crate) index: u64,
    pub(crate) state: StateId,
    pub(crate) input: Value,
    pub(crate) variables: Arc<Map>,
    pub(crate) item: Option<Arc<Item>>,
    /// The execution that it is part of; None if it is one itself.
    pub(crate) home: Option<FrameId>,
    pub(crate) child: Option<u64>,
}

impl<'x> Step<'x> {
    pub(crate) fn new(core: &'x mut Core, machine: &'x Machine, now: Timestamp, out: &'x mut Vec<Command>) -> Step<'x> {
        Step { core, machine, now, out }
    }

    pub(crate) fn start(mut self) {
        let start = Arc::clone(&self.core.start);
        if let Some(seconds) = self.machine.timeout {
            #[expect(clippy::cast_precision_loss, reason = "eight digits")]
            let at = crate::time::after(start.now, seconds as f64);
            self.arm(at, Purpose::Deadline);
        }
        self.spawn(Thread {
            parent: None,
            index: 0,
            state: self.machine.start,
            input: start.input.clone(),
            variables: Arc::default(),
            item: None,
            home: None,
            child: None,
        });
        self.work();
    }

    pub(crate) fn apply(mut self, event: Event) -> Applied {
        let awaited = match event {
            Event::TaskSubmitted { task, output } => self.task_submitted(task, output),
            Event::TaskSucceeded { task, output } => self.task_succeeded(task, output),
            Event::TaskFailed { task, error, cause } => self.task_failed(task, Failure { error, cause }),
            Event::TaskRefused { task, cause } => self.task_refused(task, &cause),
            Event::TaskHeartbeat { task } => self.task_heartbeat(task),
            Event::TimerFired { timer } => self.timer_fired(timer),
            Event::ItemsRead { read, items, more } => self.items_read(read, items, more),
            Event::ItemsFailed { read, error, cause } => {
                let error = error.unwrap_or_else(|| Arc::from(names::ITEM_READER_FAILED));
                self.items_failed(read, Failure { error: Some(error), cause })
            }
            Event::ResultsWritten { write, output } => self.results_written(write, output),
            Event::ResultsFailed { write, error, cause } => {
                let error = error.unwrap_or_else(|| Arc::from(names::RESULT_WRITER_FAILED));
                self.results_failed(write, Failure { error: Some(error), cause })
            }
            Event::Stop { error, cause } => {
                self.finish(Status::Aborted(Failure { error, cause }));
                true
            }
        };
        if !awaited {
            return Applied::Ignored(Stale::NotAwaited);
        }
        self.work();
        Applied::Applied
    }

    fn work(&mut self) {
        while let Some(work) = self.core.work.pop() {
            match work {
                Work::Enter(frame) if self.core.frames.get(frame).is_some() => self.enter(frame),
                Work::Again(frame) if self.core.frames.get(frame).is_some() => self.begin(frame),
                Work::Feed(frame) => self.feed(frame),
                Work::Enter(_) | Work::Again(_) => {}
            }
        }
    }

    fn timer_fired(&mut self, timer: TimerId) -> bool {
        let Some(fired) = self.core.timers.remove(&timer) else { return false };
        match fired.purpose {
            Purpose::Deadline => self.finish(Status::TimedOut),
            Purpose::Wake(frame) => {
                self.frame_mut(frame).doing = Doing::Working;
                self.wake(frame);
            }
            Purpose::Retry(frame) => {
                self.frame_mut(frame).doing = Doing::Working;
                self.core.work.push(Work::Again(frame));
            }
            Purpose::TaskTimeout(frame) => self.task_timed_out(frame, timer, names::TIMEOUT),
            Purpose::TaskHeartbeat(frame) => self.task_timed_out(frame, timer, names::HEARTBEAT_TIMEOUT),
        }
        true
    }

    /// Enters the state of a frame for the first time.
    fn enter(&mut self, id: FrameId) {
        let event = self.record(id, 1);
        let now = self.now;
        let frame = self.frame_mut(id);
        frame.entered = now;
        frame.entered_event = event;
        frame.retries.clear();
        if event > self.core.start.limits.events {
            let cause =
                format!("The execution reached the maximum number of history events ({}).", self.core.start.limits.events);
            return self.end(id, Err(Failure::new(names::RUNTIME, cause)));
        }
        self.begin(id);
    }

    /// Does what the state of a frame is there for, the first time or again.
    pub(crate) fn begin(&mut self, id: FrameId) {
        let state = self.state_of(id);
        let done = match &state.kind {
            Kind::Pass { result, parameters } => self.pass(id, state, result.as_ref(), parameters.as_ref()),
            Kind::Succeed => self.succeed(id, state),
            Kind::Fail { error, cause } => self.fail_state(id, error.as_ref(), cause.as_ref()),
            Kind::Choice { rules, default } => self.choose(id, state, rules, *default),
            Kind::Wait(until) => self.wait(id, state, until),
            Kind::Task(task) => self.begin_task(id, state, task),
            Kind::Parallel { branches, arguments } => self.begin_parallel(id, state, branches, arguments.as_ref()),
            Kind::Map(map) => self.begin_map(id, state, map),
        };
        if let Err(fault) = done {
            self.fault(id, fault);
        }
    }

    /// A new frame that will enter its first state.
    pub(crate) fn spawn(&mut self, thread: Thread) -> FrameId {
        let now = self.now;
        let run = thread
            .home
            .is_none()
            .then(|| Box::new(Run { input: thread.input.clone(), started: now, events: 1, child: thread.child }));
        let frame = self.core.frames.add(|id| Frame {
            parent: thread.parent,
            index: thread.index,
            home: thread.home.unwrap_or(id),
            state: thread.state,
            input: thread.input,
            variables: thread.variables,
            item: thread.item,
            run,
            entered: now,
            entered_event: 0,
            retries: Vec::new(),
            doing: Doing::Working,
        });
        self.core.work.push(Work::Enter(frame));
        frame
    }

    /// Goes on with the next state.
    pub(crate) fn go(&mut self, id: FrameId, next: StateId, input: Value) {
        if let Some(observed) = &mut self.core.observed {
            observed.next = Some((next, input));
            return;
        }
        let frame = self.frame_mut(id);
        frame.state = next;
        frame.input = input;
        frame.doing = Doing::Working;
        self.core.work.push(Work::Enter(id));
    }

    /// Ends a frame, and tells whoever started it.
    pub(crate) fn end(&mut self, id: FrameId, outcome: Result<Value, Failure>) {
        let Some(frame) = self.core.frames.remove(id) else { return };
        match frame.parent {
            Some(parent) => self.child_ended(parent, id, *frame, outcome),
            None => self.finish(match outcome {
                Ok(output) => Status::Succeeded { output },
                Err(failure) => Status::Failed(failure),
            }),
        }
    }

    fn child_ended(&mut self, parent: FrameId, id: FrameId, child: Frame, outcome: Result<Value, Failure>) {
        match self.core.frames.get(parent).map(|parent| &parent.doing) {
            Some(Doing::Parallel(_)) => self.branch_ended(parent, &child, outcome),
            Some(Doing::Map(_)) => self.item_ended(parent, id, child, outcome),
            Some(Doing::Working | Doing::Task(_) | Doing::Waiting { .. } | Doing::Retrying { .. }) | None => {}
        }
    }

    /// Ends the execution, with everything that it still waits for.
    fn finish(&mut self, status: Status) {
        self.core.work.clear();
        let left: Vec<FrameId> = self.core.frames.iter().filter(|frame| frame.parent.is_none()).map(|frame| frame.home).collect();
        for frame in left {
            self.cancel(frame);
        }
        let deadline = self.core.timers.iter().find(|(_, timer)| timer.purpose == Purpose::Deadline).map(|(id, _)| *id);
        if let Some(deadline) = deadline {
            self.disarm(deadline);
        }
        self.core.status = status.clone();
        self.out.push(Command::Finished(status));
    }

    /// Takes back everything that a frame and those below it wait for, and removes them.
    pub(crate) fn cancel(&mut self, id: FrameId) {
        let mut left = vec![id];
        while let Some(id) = left.pop() {
            let Some(frame) = self.core.frames.remove(id) else { continue };
            match frame.doing {
                Doing::Working => {}
                Doing::Waiting { timer } | Doing::Retrying { timer } => self.disarm(timer),
                Doing::Task(task) => self.stop_task(&task),
                Doing::Parallel(run) => left.extend(run.children.into_iter().flatten()),
                Doing::Map(run) => {
                    self.forget(&run);
                    left.extend(run.children.into_iter().rev());
                }
            }
        }
    }

    pub(crate) fn arm(&mut self, at: Timestamp, purpose: Purpose) -> TimerId {
        let timer = TimerId(self.core.next_id());
        self.core.timers.insert(timer, Timer { at, purpose });
        self.out.push(Command::StartTimer { timer, at });
        timer
    }

    pub(crate) fn disarm(&mut self, timer: TimerId) {
        if self.core.timers.remove(&timer).is_some() {
            self.out.push(Command::CancelTimer { timer });
        }
    }

    /// Counts events of the history that a frame belongs to; gives the number of the first.
    pub(crate) fn record(&mut self, id: FrameId, events: u64) -> u64 {
        let home = self.frame(id).home;
        let Some(run) = self.core.frames.get_mut(home).and_then(|home| home.run.as_mut()) else { return 0 };
        run.events += events;
        run.events - events + 1
    }

    pub(crate) fn frame(&self, id: FrameId) -> &Frame {
        living(self.core, id)
    }

    pub(crate) fn frame_mut(&mut self, id: FrameId) -> &mut Frame {
        self.core.frames.get_mut(id).expect("a frame lives while work is done on it")
    }

    pub(crate) fn state_of(&self, id: FrameId) -> &'x State {
        self.machine.state(self.frame(id).state)
    }

    /// Lends the data that templates and paths of a frame see.
    pub(crate) fn with_scope<R>(
        &mut self,
        id: FrameId,
        given: Given<'_>,
        work: impl FnOnce(&mut Scope<'_>) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let mut random = self.core.draw();
        let frame = living(self.core, id);
        let around = Around { core: self.core, machine: self.machine, frame, task: given.task, item: given.item };
        work(&mut Scope {
            input: given.input,
            around: &around,
            random: &mut random,
            now: self.now,
            result: given.result,
            error_output: given.error_output,
        })
    }

    pub(crate) fn fill(&mut self, id: FrameId, template: &Template, given: Given<'_>) -> Result<Value, Fault> {
        if let Template::Fixed(value) = template {
            return Ok(value.clone());
        }
        self.with_scope(id, given, |scope| template.evaluate(scope))
    }

    /// The effective input: `InputPath` of a JSONPath state, the raw input of a JSONata state.
    pub(crate) fn effective_input(&mut self, id: FrameId, state: &State) -> Result<Value, Fault> {
        let input = self.frame(id).input.clone();
        match state.language {
            Language::JsonPath => self.select(id, &state.input_path, input),
            Language::Jsonata => Ok(input),
        }
    }
}
