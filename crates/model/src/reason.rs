//! Why an attempt did not succeed: a closed list, in plain words.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::Span;

/// Why an attempt or an execution ended without success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum Reason {
    /// The program exited with a code that is not success.
    ExitNonzero {
        /// The code.
        code: u8,
    },
    /// A signal that nobody of ours sent ended the program.
    Signal {
        /// Its number.
        number: i32,
    },
    /// The kernel killed the program for memory, with evidence.
    OutOfMemory,
    /// A time limit passed.
    TimedOut {
        /// `waiting`, `starting` or `running`.
        phase: String,
        /// The limit.
        limit: Span,
    },
    /// The program could not be started.
    StartFailed,
    /// The compute had no room.
    Capacity,
    /// The compute asked us to slow down.
    Throttled,
    /// The compute was taken away (Spot) or drained.
    Interrupted,
    /// The workload vanished and left no evidence of its end.
    Lost,
    /// A caller asked for it.
    Cancelled,
    /// The program ended well and its output could not be published, for instance because the disk is full.
    PublishFailed,
    /// The output failed a declared check.
    Quality,
    /// It could never have started, for instance because a unit it needs failed.
    Refused,
}

/// The name of a [`Reason`], as in manifests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasonName {
    /// See [`Reason::ExitNonzero`].
    ExitNonzero,
    /// See [`Reason::Signal`].
    Signal,
    /// See [`Reason::OutOfMemory`].
    OutOfMemory,
    /// See [`Reason::TimedOut`].
    TimedOut,
    /// See [`Reason::StartFailed`].
    StartFailed,
    /// See [`Reason::Capacity`].
    Capacity,
    /// See [`Reason::Throttled`].
    Throttled,
    /// See [`Reason::Interrupted`].
    Interrupted,
    /// See [`Reason::Lost`].
    Lost,
    /// See [`Reason::Cancelled`].
    Cancelled,
    /// See [`Reason::PublishFailed`].
    PublishFailed,
    /// See [`Reason::Quality`].
    Quality,
    /// See [`Reason::Refused`].
    Refused,
}

impl ReasonName {
    /// Every reason, in the order of the list in the documentation.
    pub const ALL: [ReasonName; 13] = [
        ReasonName::ExitNonzero,
        ReasonName::Signal,
        ReasonName::OutOfMemory,
        ReasonName::TimedOut,
        ReasonName::StartFailed,
        ReasonName::Capacity,
        ReasonName::Throttled,
        ReasonName::Interrupted,
        ReasonName::Lost,
        ReasonName::Cancelled,
        ReasonName::PublishFailed,
        ReasonName::Quality,
        ReasonName::Refused,
    ];

    /// The word in manifests, tables and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ReasonName::ExitNonzero => "exit_nonzero",
            ReasonName::Signal => "signal",
            ReasonName::OutOfMemory => "out_of_memory",
            ReasonName::TimedOut => "timed_out",
            ReasonName::StartFailed => "start_failed",
            ReasonName::Capacity => "capacity",
            ReasonName::Throttled => "throttled",
            ReasonName::Interrupted => "interrupted",
            ReasonName::Lost => "lost",
            ReasonName::Cancelled => "cancelled",
            ReasonName::PublishFailed => "publish_failed",
            ReasonName::Quality => "quality",
            ReasonName::Refused => "refused",
        }
    }
}

impl fmt::Display for ReasonName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for ReasonName {
    type Err = String;
    fn from_str(text: &str) -> Result<ReasonName, String> {
        let known = ReasonName::ALL.into_iter().find(|name| name.as_str() == text);
        known.ok_or_else(|| format!("`{text}` is not a reason"))
    }
}

impl Reason {
    /// Its name.
    pub fn name(&self) -> ReasonName {
        match self {
            Reason::ExitNonzero { .. } => ReasonName::ExitNonzero,
            Reason::Signal { .. } => ReasonName::Signal,
            Reason::OutOfMemory => ReasonName::OutOfMemory,
            Reason::TimedOut { .. } => ReasonName::TimedOut,
            Reason::StartFailed => ReasonName::StartFailed,
            Reason::Capacity => ReasonName::Capacity,
            Reason::Throttled => ReasonName::Throttled,
            Reason::Interrupted => ReasonName::Interrupted,
            Reason::Lost => ReasonName::Lost,
            Reason::Cancelled => ReasonName::Cancelled,
            Reason::PublishFailed => ReasonName::PublishFailed,
            Reason::Quality => ReasonName::Quality,
            Reason::Refused => ReasonName::Refused,
        }
    }

    /// True where the platform, not the unit, is the cause: such attempts are free of charge.
    pub fn is_infrastructure(&self) -> bool {
        match self {
            Reason::Capacity | Reason::Throttled | Reason::Interrupted | Reason::Lost => true,
            Reason::ExitNonzero { .. }
            | Reason::Signal { .. }
            | Reason::OutOfMemory
            | Reason::TimedOut { .. }
            | Reason::StartFailed
            | Reason::Cancelled
            | Reason::PublishFailed
            | Reason::Quality
            | Reason::Refused => false,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::ExitNonzero { code } => write!(f, "exited with code {code}"),
            Reason::Signal { number } => write!(f, "killed by signal {number} that nothing of Muster sent"),
            Reason::OutOfMemory => f.write_str("ran out of memory"),
            Reason::TimedOut { phase, limit } => write!(f, "timed out: {phase} took longer than {limit}"),
            Reason::StartFailed => f.write_str("could not be started"),
            Reason::Capacity => f.write_str("the tier had no room"),
            Reason::Throttled => f.write_str("the tier asked to slow down"),
            Reason::Interrupted => f.write_str("interrupted: the compute was taken away"),
            Reason::Lost => f.write_str("lost: it vanished without evidence of its end"),
            Reason::Cancelled => f.write_str("cancelled on request"),
            Reason::PublishFailed => f.write_str("its output could not be published"),
            Reason::Quality => f.write_str("its output failed a declared check"),
            Reason::Refused => f.write_str("never started"),
        }
    }
}
