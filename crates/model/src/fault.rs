//! What a caller is told when something could not be done.

use serde::{Deserialize, Serialize};

/// The kind of a failure: fixes exit code, HTTP status and whether a retry can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The request or a manifest is wrong.
    Invalid,
    /// No such thing in the caller's scope.
    NotFound,
    /// The caller may not.
    Forbidden,
    /// The state of things forbids it.
    Conflict,
    /// A limit of the installation is reached.
    Quota,
    /// A time limit passed.
    Timeout,
    /// A part that is needed does not answer.
    Unavailable,
    /// A mistake of ours.
    Internal,
}

/// One thing wrong in a text that a person wrote.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Problem {
    /// The file, relative to the folder that was read.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Stable code, `E-…`.
    pub code: String,
    /// What is wrong, one sentence.
    pub message: String,
    /// What to do, where there is something better than mending the message's matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}
