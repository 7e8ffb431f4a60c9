//! What the exit code says. Written down in `docs/operations.md`.

use std::process::ExitCode;

use model::Kind;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; a run that was followed succeeded.
    Ok = 0,
    /// The run ended failed.
    RunFailed = 1,
    /// Wrong usage, wrong manifests.
    Invalid = 2,
    /// No such thing.
    NotFound = 3,
    /// The state of things forbids it, or the caller may not.
    Refused = 4,
    /// A time limit passed, or the run was cancelled.
    TimedOutOrCancelled = 5,
    /// The run succeeded and its output is bad; only with `--fail-on-quality`.
    BadOutput = 6,
    /// A part that is needed does not answer.
    Unavailable = 7,
    /// Interrupted; what runs goes on.
    Interrupted = 130,
}

impl Exit {
    /// The code that a fault of this kind exits with.
    pub(crate) fn of(kind: Kind) -> Exit {
        match kind {
            Kind::Invalid => Exit::Invalid,
            Kind::NotFound => Exit::NotFound,
            Kind::Forbidden | Kind::Conflict | Kind::Quota => Exit::Refused,
            Kind::Timeout => Exit::TimedOutOrCancelled,
            Kind::Unavailable | Kind::Internal => Exit::Unavailable,
        }
    }

    /// The number.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
