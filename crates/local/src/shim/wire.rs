//! What the shim and its clients say to each other: one JSON value a line.

use std::{borrow::Cow, collections::BTreeMap};

use model::{Assignment, ExecutionId, Outcome, ProcessIdentity, Scope, StopCause, Timestamp};
use ports::{LaunchError, Observation};
use serde::{Deserialize, Serialize};

/// The version of this language. Both sides say theirs first; others do not talk to each other.
pub(crate) const PROTOCOL: u32 = 1;
/// The longest line. An assignment or an outcome beyond it is refused with its connection.
pub(crate) const LONGEST_LINE: usize = 64 << 20;

/// From a client.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a request lives for one line; a box would only cost")]
pub(crate) enum Request<'a> {
    /// First of all.
    Hello { protocol: u32 },
    /// Answered by the first [`Reply::Report`] on the attempt, or by [`Reply::Refused`].
    Start { assignment: Cow<'a, Assignment>, passed: BTreeMap<String, String> },
    /// Answered by [`Reply::Answer`].
    Stop { ticket: u64, of: Attempt, cause: StopCause },
    /// Answered by [`Reply::Answer`].
    Observe { ticket: u64, of: Attempt },
}

/// From the shim.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    /// First of all.
    Hello { protocol: u32, pid: u32 },
    /// To every client.
    Report {
        of: Attempt,
        at: Timestamp,
        #[serde(with = "Seen")]
        observation: Observation,
    },
    /// To the client that asked.
    Answer {
        ticket: u64,
        at: Timestamp,
        #[serde(with = "Seen")]
        observation: Observation,
    },
    /// What was asked for cannot be seen now; to the client that asked.
    NoAnswer { ticket: u64, refusal: Refusal },
    /// Nothing was run; to the client that asked.
    Refused { of: Attempt, refusal: Refusal },
}

/// Names an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Attempt {
    pub(crate) scope: Scope,
    pub(crate) execution: ExecutionId,
    pub(crate) attempt: u32,
}

impl Attempt {
    pub(crate) fn of(assignment: &Assignment) -> Attempt {
        Attempt { scope: assignment.scope.clone(), execution: assignment.execution, attempt: assignment.attempt }
    }
}

/// Why nothing was run, or could not be seen.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Refusal {
    Capacity,
    Unavailable(String),
}

impl From<Refusal> for LaunchError {
    fn from(refusal: Refusal) -> LaunchError {
        match refusal {
            Refusal::Capacity => LaunchError::Capacity,
            Refusal::Unavailable(message) => LaunchError::Unavailable(message.into()),
        }
    }
}

/// [`Observation`] as it travels.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Observation", rename_all = "snake_case")]
enum Seen {
    Starting,
    Running { process: ProcessIdentity, started_at: Timestamp },
    Publishing,
    Ended(Box<Outcome>),
    Unknown,
    Lost,
}

/// Appends `message` as a line.
pub(crate) fn write(buffer: &mut Vec<u8>, message: &impl Serialize) {
    serde_json::to_writer(&mut *buffer, message).expect("a message is JSON: its maps have text keys, and memory takes it");
    buffer.push(b'\n');
}

/// Collects lines from pieces of a stream.
#[derive(Debug, Default)]
pub(crate) struct LineBuffer {
    bytes: Vec<u8>,
    /// How far the search for a line feed has come.
    searched: usize,
}

/// A line longer than [`LONGEST_LINE`].
#[derive(Debug)]
pub(crate) struct LineTooLong;

impl LineBuffer {
    /// Adds a piece, and gives each line that is complete to `take`.
    pub(crate) fn push(&mut self, piece: &[u8], mut take: impl FnMut(&[u8])) -> Result<(), LineTooLong> {
        self.bytes.extend_from_slice(piece);
        let mut begin = 0;
        while let Some(length) = memchr::memchr(b'\n', &self.bytes[self.searched..]) {
            let end = self.searched + length;
            take(&self.bytes[begin..end]);
            begin = end + 1;
            self.searched = begin;
        }
        self.bytes.drain(..begin);
        self.searched = self.bytes.len();
        if self.bytes.len() > LONGEST_LINE { Err(LineTooLong) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_out_however_they_came_in() {
        let text = b"one\n\ntwo and more\nrest";
        for size in 1..text.len() {
            let (mut buffer, mut lines) = (LineBuffer::default(), Vec::new());
            for piece in text.chunks(size) {
                buffer.push(piece, |line| lines.push(String::from_utf8(line.to_vec()).unwrap())).unwrap();
            }
            assert_eq!(lines, ["one", "", "two and more"], "in pieces of {size}");
        }
    }

    #[test]
    fn every_observation_travels() {
        let process = ProcessIdentity { boot: "b".to_owned(), pid: 4, start_ticks: 5 };
        let running = Observation::Running { process, started_at: Timestamp::UNIX_EPOCH };
        for observation in [Observation::Starting, running, Observation::Publishing, Observation::Unknown, Observation::Lost] {
            let mut line = Vec::new();
            write(&mut line, &Reply::Answer { ticket: 1, at: Timestamp::UNIX_EPOCH, observation: observation.clone() });
            let Reply::Answer { observation: back, .. } = serde_json::from_slice(&line).unwrap() else { panic!("{line:?}") };
            assert_eq!(back, observation);
        }
    }
}
