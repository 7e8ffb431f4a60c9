//! The log file of an attempt: bounded, readable while it grows, made at the first line.

use std::{
    collections::VecDeque,
    fs::{File, OpenOptions},
    io,
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::PathBuf,
};

use model::LogSummary;

use super::lines::Batch;

/// How much of a log is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LogCap {
    /// From the beginning, bytes of the file.
    pub(crate) head: u64,
    /// From the end, at least; up to twice as much is there while the program runs.
    pub(crate) tail: u64,
}

impl Default for LogCap {
    /// 48 MiB from the beginning and the last 8 to 16 MiB: at most 64 MiB.
    fn default() -> LogCap {
        LogCap { head: 48 << 20, tail: 8 << 20 }
    }
}

/// A place in the file between two lines, and what was written up to there.
#[derive(Debug, Clone, Copy)]
struct Mark {
    offset: u64,
    lines: u64,
    payload: u64,
}

/// The log of one attempt.
///
/// The first part of the file never changes. When the file is full, its oldest later lines make room: one line says how many bytes of
/// the program are missing there, and the newest lines follow it.
pub(crate) struct Log {
    path: PathBuf,
    cap: LogCap,
    file: Option<File>,
    length: u64,
    /// Where the part that never changes ends.
    head_end: Option<Mark>,
    /// Places to cut at, oldest first, in the part after the head.
    marks: VecDeque<Mark>,
    /// Counted in all.
    seen: Mark,
    dropped_lines: u64,
    dropped: u64,
    fault: Option<String>,
}

/// How far apart the places are at which the log can be cut.
const MARK_EVERY: u64 = 1 << 20;

impl Log {
    /// A log at `path`; no file yet.
    pub(crate) fn new(path: PathBuf, cap: LogCap) -> Log {
        let seen = Mark { offset: 0, lines: 0, payload: 0 };
        Log {
            path,
            cap,
            file: None,
            length: 0,
            head_end: None,
            marks: VecDeque::new(),
            seen,
            dropped_lines: 0,
            dropped: 0,
            fault: None,
        }
    }

    /// Appends whole lines. A disk that refuses never hurts the program: the bytes count as dropped and the fault is kept.
    pub(crate) fn append(&mut self, batch: &Batch, time: &str) {
        if batch.text.is_empty() {
            return;
        }
        match self.write(batch, time) {
            Ok(()) => {}
            Err(error) => {
                self.dropped_lines += batch.lines;
                self.dropped += batch.payload;
                self.fault.get_or_insert_with(|| format!("the log is not complete: {error}"));
            }
        }
        self.seen.lines += batch.lines;
        self.seen.payload += batch.payload;
    }

    fn write(&mut self, batch: &Batch, time: &str) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(0o600).open(&self.path)?);
        }
        if self.length + batch.text.len() as u64 > self.cap.head + 2 * self.cap.tail {
            self.make_room(time)?;
        }
        let file = self.file.as_ref().expect("it was opened above");
        file.write_all_at(&batch.text, self.length)?;
        let here = Mark { offset: self.length, ..self.seen };
        if self.length + batch.text.len() as u64 > self.cap.head {
            let head_end = *self.head_end.get_or_insert(here);
            let last = self.marks.back().map_or(head_end.offset, |mark| mark.offset);
            if here.offset >= last + MARK_EVERY.min(self.cap.tail / 8) {
                self.marks.push_back(here);
            }
        }
        self.length += batch.text.len() as u64;
        Ok(())
    }

    /// Drops the oldest lines after the head, so that about `tail` bytes stay.
    fn make_room(&mut self, time: &str) -> io::Result<()> {
        let here = Mark { offset: self.length, ..self.seen };
        let head_end = *self.head_end.get_or_insert(here);
        let keep_from = self.length.saturating_sub(self.cap.tail);
        while self.marks.get(1).is_some_and(|mark| mark.offset <= keep_from) {
            self.marks.pop_front();
        }
        let cut = self.marks.pop_front().unwrap_or(here);
        self.dropped = cut.payload - head_end.payload;
        self.dropped_lines = cut.lines - head_end.lines;
        let notice = format!("{time} stderr F [muster: {} bytes of output were dropped here; the log was full]\n", self.dropped);
        let file = self.file.as_ref().expect("only a full file makes room");
        let start = head_end.offset + notice.len() as u64;
        let mut buffer = vec![0; 256 << 10];
        let (mut from, mut to) = (cut.offset, start);
        while from < self.length && start <= cut.offset {
            let length = buffer.len().min(usize::try_from(self.length - from).unwrap_or(usize::MAX));
            file.read_exact_at(&mut buffer[..length], from)?;
            file.write_all_at(&buffer[..length], to)?;
            from += length as u64;
            to += length as u64;
        }
        file.write_all_at(notice.as_bytes(), head_end.offset)?;
        file.set_len(to)?;
        let moved = cut.offset.saturating_sub(start);
        self.marks.iter_mut().for_each(|mark| mark.offset -= moved);
        self.length = to;
        Ok(())
    }

    /// What was kept and what not.
    pub(crate) fn summary(&self) -> LogSummary {
        LogSummary { lines: self.seen.lines - self.dropped_lines, bytes: self.seen.payload, dropped: self.dropped }
    }

    /// What went wrong, in a sentence.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::lines::{Lines, Stream};

    const TIME: &str = "2013-02-05T06:00:00.000000000Z";
    const CAP: LogCap = LogCap { head: 64 << 10, tail: 32 << 10 };

    fn fill(folder: &std::path::Path, lines: usize) -> (Log, String) {
        let mut log = Log::new(folder.join("log"), CAP);
        let (mut cutter, mut batch) = (Lines::new(Stream::Stdout), Batch::default());
        for number in 0..lines {
            batch.clear();
            cutter.push(format!("line {number}\n").as_bytes(), TIME, &mut batch);
            log.append(&batch, TIME);
        }
        let text = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
        (log, text)
    }

    #[test]
    fn a_silent_unit_has_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let (log, _) = fill(folder.path(), 0);
        assert!(!folder.path().join("log").exists());
        assert_eq!(log.summary(), LogSummary::default());
    }

    #[test]
    fn a_flood_keeps_its_beginning_and_its_end_and_counts_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        for lines in [1, 1_000, 2_000, 2_500, 3_000, 10_000, 100_000] {
            let (log, text) = fill(folder.path(), lines);
            let summary = log.summary();
            assert!(text.len() as u64 <= CAP.head + 2 * CAP.tail, "{lines} lines left {} bytes", text.len());
            let texts: Vec<&str> = text.lines().map(|line| &line[TIME.len() + " stdout F ".len()..]).collect();
            assert_eq!((texts[0], texts[texts.len() - 1]), ("line 0", format!("line {}", lines - 1).as_str()));
            let kept: usize = texts.iter().filter(|line| line.starts_with("line")).map(|line| line.len() + 1).sum();
            assert_eq!(kept as u64 + summary.dropped, summary.bytes, "{lines} lines");
            let kept_lines = texts.iter().filter(|line| line.starts_with("line")).count();
            assert_eq!(kept_lines as u64, summary.lines, "{lines} lines");
            let notices: Vec<&&str> = texts.iter().filter(|line| line.starts_with('[')).collect();
            assert_eq!(notices.len(), usize::from(summary.dropped > 0));
            assert!(notices.iter().all(|line| line.contains(&format!(" {} bytes", summary.dropped))), "{notices:?}");
            if summary.dropped > 0 {
                assert!(text.len() as u64 >= CAP.head + CAP.tail / 2, "{lines} lines left {} bytes", text.len());
            }
        }
    }

    #[test]
    fn a_folder_that_is_gone_costs_the_log_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (log, _) = fill(&folder.path().join("gone"), 3);
        assert_eq!(log.summary(), LogSummary { lines: 0, bytes: 21, dropped: 21 });
        assert!(log.fault().is_some_and(|fault| fault.starts_with("the log is not complete: ")));
    }
}
