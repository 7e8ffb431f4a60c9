//! Transcripts of the real program: command, stdout, stderr, exit code. Ids, times and folders are replaced, everything else is as printed.

#![expect(clippy::unwrap_used, reason = "a story may stop at what it did not expect")]

mod harness;

mod answers;
mod followed;
mod help;
mod logs;
mod manifests;
mod outcomes;
mod plans;
mod together;
