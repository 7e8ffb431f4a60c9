//! Transcripts of the real program: command, stdout, stderr, exit code. Ids, times and folders are replaced, everything else is as printed.

#![expect(clippy::unwrap_used, reason = "a story may stop at what it did not expect")]

mod harness;

mod answers;
mod help;
mod manifests;
mod plans;
