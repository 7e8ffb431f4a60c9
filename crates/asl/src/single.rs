//! Testing one state by itself: what becomes of an input and a result that is made up.

use std::sync::Arc;

use crate::core::Core;
use crate::definition::{Kind, Machine, StateId};
use crate::execution::{Start, Status};
use crate::fault::names;
use crate::frame::{Doing, FrameId, Source};
use crate::iteration::THRESHOLD;
use crate::step::{Step, Thread};
use crate::{Failure, Map, Value};

/// What a state is tested with. Its input is the input of the [`Start`].
#[derive(Clone, Debug, Default)]
pub struct StateTest {
    /// The name of the state; None for the first one of the machine.
    pub state: Option<Arc<str>>,
    /// The variables that the state finds.
    pub variables: Map,
    /// What stands in for the context object, if it is not to be made of the start.
    pub context: Option<Value>,
    /// What stands in for the task, the branches or the items.
    pub mock: Option<Mock>,
    /// How often the state was tried before.
    pub retries: u32,
    /// The items that a reader would give.
    pub items: Option<Vec<Value>>,
    /// How many items of a Map failed.
    pub failed_items: u64,
}

/// A result that is made up.
#[derive(Clone, Debug, PartialEq)]
pub enum Mock {
    /// It went well.
    Result(Value),
    /// It failed.
    Failure(Failure),
}

/// What became of a state.
#[derive(Clone, Debug, PartialEq)]
pub enum StateOutcome {
    /// It ended well.
    Succeeded {
        /// What it hands on.
        output: Value,
        /// The state that comes next, unless it is the last.
        next: Option<Arc<str>>,
    },
    /// It failed, and would be tried again.
    Retriable(Failure),
    /// It failed, and a catcher goes on.
    Caught {
        /// Why it failed.
        failure: Failure,
        /// What the catcher hands on.
        output: Value,
        /// The state that comes next.
        next: Arc<str>,
    },
    /// It failed.
    Failed(Failure),
    /// It calls something, and there is no mock for it.
    NeedsMock,
}

/// What a single state leaves behind for the test.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    pub(crate) next: Option<(StateId, Value)>,
    pub(crate) failure: Option<Failure>,
}

impl Machine {
    /// Runs one state of the machine, and nothing else: no time passes and nothing is called.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use asl::{Machine, Mock, Start, StateOutcome, StateTest, Value};
    ///
    /// let state = r#"{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "ResultPath": "$.r", "Next": "B"}"#;
    /// let machine = Machine::parse_state(state, "A").expect("the state is right");
    /// let start = Start::new("test", Value::parse(r#"{"k": 1}"#).expect("JSON"), "2024-01-31T12:00:00Z".parse().expect("a time"), 1);
    /// let test = StateTest { mock: Some(Mock::Result(Value::from("x"))), ..StateTest::default() };
    /// let StateOutcome::Succeeded { output, next } = machine.test_state(start, test) else { panic!() };
    /// assert_eq!(output.to_string(), r#"{"k":1,"r":"x"}"#);
    /// assert_eq!(next.as_deref(), Some("B"));
    /// ```
    #[must_use]
    pub fn test_state(&self, start: Start, test: StateTest) -> StateOutcome {
        let named = |name: &Arc<str>| self.states.iter().position(|state| state.name == *name);
        let state = match test.state.as_ref().map(named) {
            None => self.start,
            Some(Some(at)) => StateId(u32::try_from(at).expect("fewer than four billion states")),
            Some(None) => {
                let name = test.state.unwrap_or_default();
                return StateOutcome::Failed(Failure::new(names::RUNTIME, format!("There is no state '{name}'.")));
            }
        };
        let mut core = Core::new(start);
        core.context.clone_from(&test.context);
        core.observed = Some(Observed::default());
        let now = core.start.now;
        let mut out = Vec::new();
        let mut step = Step::new(&mut core, self, now, &mut out);
        let id = step.enter_alone(state, &test);
        let called = step.answer_alone(id, test);
        if called { self.observed(core) } else { StateOutcome::NeedsMock }
    }

    fn observed(&self, mut core: Core) -> StateOutcome {
        let observed = core.observed.take().unwrap_or_default();
        let name = |id: StateId| Arc::clone(&self.state(id).name);
        match (observed.next, observed.failure, core.status) {
            (Some((next, output)), Some(failure), _) => StateOutcome::Caught { failure, output, next: name(next) },
            (Some((next, output)), None, _) => StateOutcome::Succeeded { output, next: Some(name(next)) },
            (None, _, Status::Succeeded { output }) => StateOutcome::Succeeded { output, next: None },
            (None, _, Status::Failed(failure)) => StateOutcome::Failed(failure),
            (None, Some(failure), Status::Running | Status::TimedOut | Status::Aborted(_)) => StateOutcome::Retriable(failure),
            (None, None, Status::Running | Status::TimedOut | Status::Aborted(_)) => StateOutcome::NeedsMock,
        }
    }
}

impl Step<'_> {
    fn enter_alone(&mut self, state: StateId, test: &StateTest) -> FrameId {
        let input = self.core.start.input.clone();
        let id = self.spawn(Thread {
            parent: None,
            index: 0,
            state,
            input,
            variables: Arc::new(test.variables.clone()),
            item: None,
            home: None,
            child: None,
        });
        self.core.work.clear();
        let event = self.record(id, 1);
        let retriers = self.state_of(id).retry.len();
        let frame = self.frame_mut(id);
        frame.entered_event = event;
        frame.retries = vec![test.retries; retriers];
        self.begin(id);
        self.core.work.clear();
        id
    }

    /// Gives the state what it waits for; false if there is no mock for it.
    fn answer_alone(&mut self, id: FrameId, test: StateTest) -> bool {
        let Some(frame) = self.core.frames.get_mut(id) else { return true };
        match (&mut frame.doing, &self.machine.state(frame.state).kind) {
            (Doing::Working | Doing::Retrying { .. }, _) => return true,
            (Doing::Waiting { .. }, _) => {
                frame.doing = Doing::Working;
                self.wake(id);
                return true;
            }
            (Doing::Map(run), Kind::Map(_)) => {
                if let (Some(items), Source::Reader(_)) = (test.items, &run.source) {
                    run.source = Source::List { items: Arc::new(items), next: 0 };
                }
                if let Source::List { items, .. } = &run.source {
                    run.started = items.len() as u64;
                }
                run.failed = test.failed_items;
                // The service minds failed items only where the definition says how many are too many.
                let limited = run.limits.tolerated_count.is_some() || run.limits.tolerated_percentage.is_some();
                let failed = matches!(test.mock, Some(Mock::Failure(_)));
                if limited && !failed && run.exceeds_final_tolerance() {
                    self.fail(id, Failure::new(names::EXCEED_TOLERATED_FAILURE_THRESHOLD, THRESHOLD));
                    return true;
                }
            }
            (Doing::Map(_) | Doing::Task(_) | Doing::Parallel(_), _) => {}
        }
        match test.mock {
            Some(Mock::Result(result)) => {
                self.frame_mut(id).doing = Doing::Working;
                if let Err(fault) = self.complete(id, result) {
                    self.fault(id, fault);
                }
                true
            }
            Some(Mock::Failure(failure)) => {
                self.fail(id, failure);
                true
            }
            None => false,
        }
    }
}
