//! What a worker proves about an attempt.

use serde::{Deserialize, Serialize};

use crate::{ByteSize, Digest, ExecutionId, ObjectKey, ProcessIdentity, Span, Timestamp};

/// The worker's evidence about one attempt, written once as `outcome.json`, last of all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Version of the contract, [`crate::CURRENT_CONTRACT`].
    pub contract: u32,
    /// The execution.
    pub execution: ExecutionId,
    /// The attempt; an outcome for another number than the current one is history only.
    pub attempt: u32,
    /// How the program ended.
    pub ended: Ended,
    /// Set where the worker itself stopped the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<StopCause>,
    /// Set where the kernel says that memory ran out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out_of_memory: Option<MemoryEvidence>,
    /// The process that ran it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessIdentity>,
    /// When the program was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When the program was gone.
    pub ended_at: Timestamp,
    /// What it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Its log.
    pub log: LogSummary,
    /// What it published; empty unless the program ended well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<ArtifactRecord>,
    /// The worst verdict of the artifacts and of the rules that matched no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// What the verdict rests on, worst first, each a sentence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// True where a rule with `on_fail: fail` has verdict `fail`: the execution fails with reason `quality`.
    #[serde(default)]
    pub quality_fails: bool,
    /// Processes that outlived the program and were found, and what became of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strays: Vec<Stray>,
    /// What the worker could not do (publish, limit, find strays), in sentences. A publish that failed is a failed attempt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// True where the output could not be published: no success.
    #[serde(default)]
    pub publish_failed: bool,
}

/// How the program ended. Code 137 and killed by signal 9 are different facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Ended {
    /// By itself, with a code.
    Exited {
        /// The code.
        code: u8,
    },
    /// By a signal.
    Killed {
        /// The signal's number.
        signal: i32,
        /// Whether it left a core file.
        core: bool,
    },
    /// It never ran.
    NotStarted {
        /// Why, and what to do.
        message: String,
    },
    /// It is gone and nobody saw how. Never a success.
    Unseen,
}

/// Why the worker stopped the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum StopCause {
    /// Its running time passed the limit.
    TimedOut {
        /// The limit.
        limit: Span,
    },
    /// A caller cancelled it.
    Cancelled,
    /// The worker was told to make room (Spot, drain).
    Interrupted,
}

/// What shows that memory ran out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryEvidence {
    /// The limit in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<ByteSize>,
    /// The highest use seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<ByteSize>,
    /// The kernel's own count or message.
    pub source: String,
}

/// What an attempt used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Processor time in user mode, microseconds, of the program and the children it waited for.
    pub user_micros: u64,
    /// Processor time in the kernel, microseconds.
    pub system_micros: u64,
    /// Highest resident set, bytes.
    pub peak_rss: u64,
}

/// The log of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LogSummary {
    /// Lines kept.
    pub lines: u64,
    /// Bytes the program wrote to both streams.
    pub bytes: u64,
    /// Bytes not kept because the log was full; the first and the last are.
    pub dropped: u64,
}

/// A file that an attempt published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArtifactRecord {
    /// Relative to the output folder, `/` between parts.
    pub path: String,
    /// Key in the object store.
    pub key: ObjectKey,
    /// Size in bytes.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: Digest,
    /// Rows, where it is a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// The verdict on it.
    pub verdict: Verdict,
    /// Key of its signals document.
    pub signals: ObjectKey,
    /// One line for people: rows, columns, what is suspicious.
    pub summary: String,
}

/// The judgement on an output, apart from the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Not evaluated, with a reason.
    Skipped,
    /// Too few earlier runs to judge.
    Learning,
    /// Good.
    Pass,
    /// Suspicious.
    Warn,
    /// Bad.
    Fail,
    /// Could not be evaluated because of a fault.
    Error,
}

impl Verdict {
    /// The word in tables and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Skipped => "skipped",
            Verdict::Learning => "learning",
            Verdict::Pass => "pass",
            Verdict::Warn => "warn",
            Verdict::Fail => "fail",
            Verdict::Error => "error",
        }
    }
}

/// A process that outlived its program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stray {
    /// Its number.
    pub pid: i32,
    /// Its command name.
    pub command: String,
    /// `killed`, or why it could not be.
    pub fate: String,
}
