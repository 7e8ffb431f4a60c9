//! Quality signals of artifacts: profile, checks, comparison, verdict.
//!
//! What it is: everything the platform says about the *content* of a published file. [`profile`] reads an artifact once and
//! counts; a [`Document`] carries the counts and says where they come from; [`Document::judge`] compares it with the last
//! accepted run, evaluates [`Rules`] and leaves the verdict. The document is what is stored beside the artifact.
//!
//! What it is not: no file system, no clock, no network. The caller opens the artifact, says what time it is, and decides
//! what a verdict means for the execution.
//!
//! Start at [`profile`], then [`Document`], then [`Check`].

mod check;
mod compare;
mod document;
mod evaluate;
mod finding;
mod options;
mod profile;
mod rules;
mod summary;
mod words;

pub use check::{Assertion, Bound, Check, CheckProblem, Comparison, Level, Metric, MetricKind, Quantity};
pub use document::{
    Artifact, Baseline, BaselineState, CellType, Change, Changes, CheckResult, CheckSource, Column, ColumnType, Compression,
    Dialect, Distinct, DistinctMethod, Document, DuplicateRows, FormatSource, Freshness, FreshnessSource, Histogram, KeyCounts,
    Length, NullLike, Origin, Profile, Quantiles, RepeatMethod, RetypeClass, Retyped, Scalar, Scan, Schema, Scope, Shift,
    Structure, StructureChange, Table, TopValue,
};
pub use evaluate::evaluate;
pub use finding::{Code, Finding, Severity};
pub use model::Verdict;
pub use options::{Format, Limits, Options};
pub use profile::profile;
pub use rules::{BadCheck, Rules, worst};
