//! What the program needs from the world: small traits, closed errors, and one conformance suite for every adapter.
//!
//! Every call takes the [`Scope`](model::Scope) first; a foreign id answers exactly like a missing one. Conditional write is the only
//! write: a caller names what it replaces, and a repeated write has a defined answer.

mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
mod engine;
mod error;
mod launcher;
mod objects;
mod registry;
mod runs;
mod secrets;

pub use clock::{Clock, Ids};
pub use engine::{Engine, EngineError, MachineStatus, Step, StepError, Steps};
pub use error::{BoxError, StoreError};
pub use launcher::{LaunchError, Launcher, Observation, Report};
pub use objects::{ObjectError, Objects, Source};
pub use registry::{Applied, Entry, Registry, Snapshot, Switch};
pub use runs::{Change, ExecutionFilter, Found, IdempotencyRecord, Page, RunFilter, Runs, SlotHolder, Stored};
pub use secrets::{Secret, SecretError, Secrets};
