//! A window on the artifact that always starts at the next row.

use std::io::Read;

use super::source::Source;

/// The bytes from the next row on, as far as they were read.
pub(super) struct Feed<R> {
    pub(super) source: Source<R>,
    pub(super) buffer: Vec<u8>,
    /// Where the next row starts in the buffer.
    pub(super) at: usize,
    /// Number of the line that starts there, from 1.
    pub(super) line: u64,
    /// Offset in the artifact of the buffer's first byte.
    offset: u64,
    nul_line: Option<u64>,
}

impl<R: Read> Feed<R> {
    /// Reads the first block, so that what the artifact is can be decided from it.
    pub(super) fn new(reader: R, block: usize) -> Self {
        let mut feed = Self { source: Source::new(reader, block), buffer: Vec::new(), at: 0, line: 1, offset: 0, nul_line: None };
        feed.more();
        feed
    }

    /// What was read and not used up.
    pub(super) fn rest(&self) -> &[u8] {
        &self.buffer[self.at..]
    }

    /// Forgets what was used up and reads on.
    pub(super) fn more(&mut self) {
        self.buffer.drain(..self.at);
        self.offset += self.at as u64;
        self.at = 0;
        self.source.fill(&mut self.buffer);
    }

    /// Moves to the next row, which starts at `at`, `lines` further down.
    #[inline]
    pub(super) fn advance(&mut self, at: usize, lines: u64) {
        if self.nul_line.is_none()
            && let Some(nul) = self.source.text.nul
            && nul < self.offset + at as u64
        {
            self.nul_line = Some(self.line);
        }
        self.at = at;
        self.line += lines;
    }

    /// Passes over all that was read and the rest of the line it ends in.
    pub(super) fn skip_line(&mut self, newline: u8) {
        let mut first = true;
        loop {
            let unseen = if first { self.buffer.len() } else { self.at };
            first = false;
            if let Some(length) = memchr::memchr(newline, &self.buffer[unseen..]) {
                self.advance_over(unseen + length + 1, newline);
                return;
            }
            self.advance_over(self.buffer.len(), newline);
            if self.source.ended {
                return;
            }
            self.more();
        }
    }

    fn advance_over(&mut self, end: usize, newline: u8) {
        let lines = memchr::memchr_iter(newline, &self.buffer[self.at..end]).count() as u64;
        self.advance(end, lines);
    }

    /// Reads to the end and counts lines of text.
    pub(super) fn drain(&mut self) -> u64 {
        let mut lines = 0;
        let mut last = b'\n';
        loop {
            lines += memchr::memchr_iter(b'\n', self.rest()).count() as u64;
            last = self.rest().last().copied().unwrap_or(last);
            self.at = self.buffer.len();
            if self.source.ended {
                return lines + u64::from(last != b'\n');
            }
            self.more();
        }
    }

    /// Line of the row with the first NUL.
    pub(super) fn nul_line(&self) -> Option<u64> {
        self.nul_line
    }
}
