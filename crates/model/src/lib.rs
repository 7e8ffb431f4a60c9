//! The words of Muster as types: ids, names, definitions, records, the worker contract, events.
//!
//! Plain data and its rules. No clock, no I/O, no randomness: a time comes in as an argument and an id from the
//! `Ids` port. Start at [`Unit`] (what can run), [`Run`] and [`Execution`] (what was asked and what carries it out),
//! [`Assignment`] and [`Outcome`] (what a worker gets and what it proves).

mod assignment;
mod definition;
mod digest;
mod event;
mod execution;
mod fault;
mod id;
mod name;
mod outcome;
mod permit;
mod place;
mod quantity;
mod reason;
mod run;
mod scope;
mod template;

pub use assignment::{Assignment, Baseline, CURRENT_CONTRACT};
pub use definition::{
    ArtifactFormat, ArtifactRule, Concurrency, Definition, DefinitionKind, EmptyPolicy, ExitMeaning, Freshness, LaunchKind,
    Limit, Need, NeedVerdict, OnFail, Parameter, ParameterKind, ResourceLimits, RetryPolicy, Revised, Tier, Timeouts, Unit,
};
pub use digest::Digest;
pub use event::{Event, EventKind};
pub use execution::{Attempt, AttemptPhase, CancelRequest, Execution, ExecutionState, Permits, ProcessIdentity};
pub use fault::{Kind, Problem};
pub use id::{BadId, EventId, ExecutionId, RunId};
pub use jiff::Timestamp;
pub use name::{BadName, LimitName, TierName, UnitName};
pub use outcome::{ArtifactRecord, Ended, LogSummary, MemoryEvidence, Outcome, StopCause, Stray, Usage, Verdict};
pub use permit::PermitKey;
pub use place::{BadObjectKey, ObjectKey};
pub use quantity::{BadQuantity, ByteSize, Span, SpanRange};
pub use reason::{Reason, ReasonName};
pub use run::{Item, Run, RunOptions, RunState, Selection, Totals};
pub use scope::{BadScope, Scope};
pub use template::{BadTemplate, Template, TemplateValues};
