//! What a definition says, after it was read: the tables that an execution walks over.

use std::sync::Arc;

use crate::choice::Test;
use crate::execution::Workflow;
use crate::intrinsic::Call;
use crate::jsonata::Expression;
use crate::path::{Path, ReferencePath};
use crate::resource::{ReaderConfig, Resource, WriterConfig};
use crate::template::Template;
use crate::{Problem, Value};

/// A state machine: read, checked, and never changed again. Shared between executions by `Arc`.
#[derive(Debug)]
pub struct Machine {
    pub(crate) start: StateId,
    pub(crate) states: Vec<State>,
    /// The limit on a whole execution, in seconds.
    pub(crate) timeout: Option<u64>,
}

impl Machine {
    /// Reads and checks the definition of a standard machine.
    ///
    /// # Errors
    /// Every problem of the text, in the order in which they stand in it.
    pub fn parse(text: &str) -> Result<Machine, Vec<Problem>> {
        Machine::parse_for(text, Workflow::Standard)
    }

    /// Reads and checks a definition that is to run as a workflow of a type: an express one cannot wait for tokens,
    /// jobs and activities.
    ///
    /// # Errors
    /// Every problem of the text, in the order in which they stand in it.
    pub fn parse_for(text: &str, workflow: Workflow) -> Result<Machine, Vec<Problem>> {
        crate::parse::machine(text, workflow)
    }

    /// Reads and checks one state by itself, as `name`; its transitions may name any states.
    ///
    /// # Errors
    /// Every problem of the text, in the order in which they stand in it.
    pub fn parse_state(text: &str, name: &str) -> Result<Machine, Vec<Problem>> {
        crate::parse::single(text, name)
    }

    pub(crate) fn state(&self, id: StateId) -> &State {
        &self.states[id.0 as usize]
    }

    /// The names of all states, those of branches and item processors too.
    pub fn state_names(&self) -> impl Iterator<Item = &str> {
        self.states.iter().map(|state| &*state.name)
    }
}

/// A place in the table of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StateId(pub(crate) u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    JsonPath,
    Jsonata,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) name: Arc<str>,
    pub(crate) language: Language,
    pub(crate) kind: Kind,
    pub(crate) input_path: Select,
    pub(crate) output_path: Select,
    pub(crate) result_selector: Option<Template>,
    pub(crate) result_path: ResultPath,
    /// `Output` of a JSONata state.
    pub(crate) output: Option<Template>,
    /// `Assign`: an object of variables.
    pub(crate) assign: Option<Template>,
    pub(crate) next: Next,
    pub(crate) retry: Vec<Retrier>,
    pub(crate) catch: Vec<Catcher>,
}

impl State {
    /// A state that ends well with its input.
    pub(crate) fn end(name: &Arc<str>) -> State {
        State {
            name: Arc::clone(name),
            language: Language::JsonPath,
            kind: Kind::Succeed,
            input_path: Select::Whole,
            output_path: Select::Whole,
            result_selector: None,
            result_path: ResultPath::Whole,
            output: None,
            assign: None,
            next: Next::End,
            retry: Vec::new(),
            catch: Vec::new(),
        }
    }
}

/// `InputPath` and `OutputPath`.
#[derive(Clone, Debug, Default)]
pub(crate) enum Select {
    #[default]
    Whole,
    /// `null`: an empty object.
    Nothing,
    Path(Path),
}

#[derive(Clone, Debug, Default)]
pub(crate) enum ResultPath {
    #[default]
    Whole,
    /// `null`: the input goes on, the result is dropped.
    Discard,
    At(ReferencePath),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    State(StateId),
    End,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Pass { result: Option<Value>, parameters: Option<Template> },
    Task(Box<Task>),
    Choice { rules: Vec<Rule>, default: Option<StateId> },
    Wait(WaitFor),
    Succeed,
    Fail { error: Option<Text>, cause: Option<Text> },
    Parallel { branches: Vec<StateId>, arguments: Option<Template> },
    Map(Box<MapState>),
}

#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) resource: Resource,
    pub(crate) arguments: Option<Template>,
    pub(crate) credentials: Option<Template>,
    pub(crate) timeout: Option<Amount>,
    pub(crate) heartbeat: Option<Amount>,
}

/// One entry of `Choices`.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) condition: Condition,
    pub(crate) next: StateId,
    pub(crate) assign: Option<Template>,
    pub(crate) output: Option<Template>,
}

#[derive(Debug)]
pub(crate) enum Condition {
    Test(Test),
    Expression(Expression),
    /// `"Condition": true`
    Fixed(bool),
}

#[derive(Debug)]
pub(crate) enum WaitFor {
    Seconds(Amount),
    Timestamp(Text),
}

/// A number in the definition, or where to find it.
#[derive(Clone, Debug)]
pub(crate) enum Amount {
    Fixed(Value),
    Path(Path),
    Expression(Expression),
}

/// A text in the definition, or where to find it.
#[derive(Clone, Debug)]
pub(crate) enum Text {
    Fixed(Arc<str>),
    Path(Path),
    Call(Call),
    Expression(Expression),
}

#[derive(Debug)]
pub(crate) struct MapState {
    pub(crate) start: StateId,
    pub(crate) mode: Mode,
    pub(crate) items: Items,
    pub(crate) selector: Option<Template>,
    pub(crate) reader: Option<Reader>,
    pub(crate) batcher: Option<Batcher>,
    pub(crate) writer: Option<Writer>,
    pub(crate) max_concurrency: Option<Amount>,
    pub(crate) tolerated_count: Option<Amount>,
    pub(crate) tolerated_percentage: Option<Amount>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Inline,
    Distributed,
}

#[derive(Debug)]
pub(crate) enum Items {
    /// The state's effective input.
    Whole,
    Path(Path),
    /// `Items` of a JSONata state.
    Template(Template),
}

#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) resource: Resource,
    pub(crate) arguments: Option<Template>,
    pub(crate) config: ReaderConfig,
    pub(crate) max_items: Option<Amount>,
}

#[derive(Debug)]
pub(crate) struct Batcher {
    pub(crate) input: Option<Template>,
    pub(crate) max_items: Option<Amount>,
    pub(crate) max_bytes: Option<Amount>,
}

#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) resource: Option<Resource>,
    pub(crate) arguments: Option<Template>,
    pub(crate) config: WriterConfig,
}

#[derive(Debug)]
pub(crate) struct Retrier {
    pub(crate) errors: Vec<Arc<str>>,
    pub(crate) interval: f64,
    pub(crate) max_attempts: u32,
    pub(crate) backoff: f64,
    pub(crate) max_delay: Option<f64>,
    pub(crate) jitter: bool,
}

#[derive(Debug)]
pub(crate) struct Catcher {
    pub(crate) errors: Vec<Arc<str>>,
    pub(crate) next: StateId,
    pub(crate) result_path: ResultPath,
    pub(crate) output: Option<Template>,
    pub(crate) assign: Option<Template>,
}
