//! An interpreter of the Amazon States Language that does nothing by itself.
//!
//! # What it is
//!
//! A [`Machine`] is a definition that was read and checked. An [`Execution`] walks over it as a pure function: an
//! [`Event`] and its time go in, [`Command`]s come out (start this task, wake me then, read these items). It knows no
//! clock, does no I/O and draws no random numbers: times come with the events, and a seed at the start. So a host of
//! any kind can run it: in memory on a virtual clock, or on a store that keeps the events as a journal.
//!
//! # What it is not
//!
//! It calls no service, holds no timer and stores nothing: that is the host's. It has no threads: a host that wants
//! parallel tasks runs the commands side by side and applies the events one after another.
//!
//! # Where to start
//!
//! 1. [`Machine::parse`] gives the machine, or every [`Problem`] of the text at once with line and column.
//! 2. [`Execution::start`] gives the execution and the first commands.
//! 3. Carry out each [`Command`]; each says which [`Event`] answers it. [`Execution::apply`] the events.
//! 4. [`Execution::status`] says how it stands; [`Command::Finished`] is the last command.
//!
//! ```
//! use std::sync::Arc;
//! use asl::{Command, Event, Execution, Machine, Start, Status, Value};
//!
//! let machine = Machine::parse(r#"{
//!     "StartAt": "Greet",
//!     "States": {
//!         "Greet": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke",
//!             "Parameters": {"name.$": "$.name"}, "ResultPath": "$.greeting", "Next": "Rest"},
//!         "Rest": {"Type": "Wait", "Seconds": 5, "End": true}
//!     }
//! }"#).expect("the definition is right");
//!
//! let mut now = "2024-01-31T12:00:00Z".parse().expect("a time");
//! let mut commands = Vec::new();
//! let start = Start::new("hello", Value::parse(r#"{"name": "Ada"}"#).expect("JSON"), now, 42);
//! let mut execution = Execution::start(Arc::new(machine), start, &mut commands);
//!
//! while let Some(command) = commands.pop() {
//!     let event = match command {
//!         Command::StartTask { task, arguments, .. } => {
//!             assert_eq!(arguments.to_string(), r#"{"name":"Ada"}"#);
//!             Event::TaskSucceeded { task, output: Value::from("Hello, Ada") }
//!         }
//!         Command::StartTimer { timer, at } => {
//!             now = at; // a virtual clock: the moment comes at once
//!             Event::TimerFired { timer }
//!         }
//!         _ => continue,
//!     };
//!     execution.apply(event, now, &mut commands);
//! }
//! let output = Value::parse(r#"{"name": "Ada", "greeting": "Hello, Ada"}"#).expect("JSON");
//! assert_eq!(*execution.status(), Status::Succeeded { output });
//! ```
//!
//! # Journal and replay
//!
//! Events are serde types; a journal is a list of `(time, event)`. Starting with the same [`Start`] and applying the
//! same entries gives the same state, the same commands and the same ids. After a replay the host throws the
//! commands away and sees to [`Execution::outstanding`]: what is still awaited. A command may be carried out twice:
//! the answer to the second is [`Applied::Ignored`], changes nothing, and need not be kept in the journal.
//!
//! # Beside executions
//!
//! [`ItemFile`] reads the items of a Map out of the bytes of a file, as the language says. [`Machine::test_state`] runs
//! a single state with a made-up result, which tells in a millisecond whether its paths and templates are right.
//!
//! # Memory
//!
//! [`Value`]s share their content. A Map holds its children in flight and, without a `ResultWriter`, their outputs;
//! with an `ItemReader` it asks for items as it needs them, with a `ResultWriter` it hands results over in parts.
//!
//! # How it keeps to the service
//!
//! Errors, their words and what catches them follow what the service was recorded to answer. JSONPath is the dialect
//! of the Jayway library. JSONata is evaluated by the crate `jsonata-core` behind one module, with limits on depth,
//! size and time; `$now`, `$millis`, `$random`, `$uuid` and `$shuffle` follow from the event and the seed. The numbers
//! of events that errors name are counted, but no history is kept.
//!
//! # How the code is laid out
//!
//! `parse` makes the tables of `definition` out of text. `step` applies an event: it does the work that follows,
//! state by state, with the states in `flow`, `task`, `parallel` and `iteration` (Map), and `failing` for Retry and
//! Catch. `frame` holds where an execution stands. The small languages inside are in `path`, `intrinsic`, `jsonata`,
//! `template` and `choice`.

mod choice;
mod command;
mod context;
mod core;
mod definition;
mod event;
mod execution;
mod failing;
mod fault;
mod flow;
mod frame;
mod intrinsic;
mod items;
mod iteration;
mod jsonata;
mod map;
mod outstanding;
mod parallel;
mod parse;
mod path;
mod problem;
mod random;
mod resource;
mod scanner;
mod single;
mod size;
mod step;
mod task;
mod template;
mod time;
mod value;

pub use command::{Command, ItemResult, MapRunId, ReadId, TaskId, TimerId, WriteId};
pub use definition::Machine;
pub use event::{Applied, Event, Stale};
pub use execution::{Execution, Limits, Start, Status, Workflow};
pub use fault::{Failure, names};
pub use items::ItemFile;
pub use map::Map;
pub use problem::{Code, Problem};
pub use resource::{Pattern, ReaderConfig, Resource, Target, WriterConfig};
pub use single::{Mock, StateOutcome, StateTest};
pub use value::Value;
