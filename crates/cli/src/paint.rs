//! Colours: only ever beside a word that says the same.

use model::{ExecutionState, RunState, Verdict};

/// What a colour means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Paint {
    #[default]
    Plain,
    Good,
    Bad,
    Doubtful,
    Busy,
    Name,
    Faint,
}

impl Paint {
    fn code(self) -> &'static str {
        match self {
            Paint::Plain => "",
            Paint::Good => "32",
            Paint::Bad => "31",
            Paint::Doubtful => "33",
            Paint::Busy => "36",
            Paint::Name => "1",
            Paint::Faint => "2",
        }
    }

    /// `text` in this colour, where colours are wanted.
    pub(crate) fn on(self, text: &str, color: bool) -> String {
        match self.code() {
            code if color && !code.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
            _ => text.to_owned(),
        }
    }

    /// The same in bold.
    pub(crate) fn bold(self, text: &str, color: bool) -> String {
        if color { format!("\x1b[1;{}m{text}\x1b[0m", self.code()) } else { text.to_owned() }
    }

    /// The colour of a status word.
    pub(crate) fn of_status(status: &str) -> Paint {
        match status {
            "succeeded" | "pass" | "enabled" => Paint::Good,
            "failed" | "fail" | "error" => Paint::Bad,
            "cancelled" | "cancelling" | "refused" | "warn" | "retrying" | "disabled" => Paint::Doubtful,
            "running" | "launching" | "publishing" | "started" => Paint::Busy,
            "waiting" | "created" | "skipped" | "learning" => Paint::Faint,
            _ => Paint::Plain,
        }
    }
}

impl From<Verdict> for Paint {
    fn from(verdict: Verdict) -> Paint {
        Paint::of_status(verdict.as_str())
    }
}

impl From<RunState> for Paint {
    fn from(state: RunState) -> Paint {
        Paint::of_status(state.as_str())
    }
}

impl From<ExecutionState> for Paint {
    fn from(state: ExecutionState) -> Paint {
        Paint::of_status(state.as_str())
    }
}
