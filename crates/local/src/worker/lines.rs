//! Cuts a stream into the lines of a log.
//!
//! A log line is `<time> <stream> <tag> <text>`, the format of the container runtime interface: the time with nine digits, the
//! stream `stdout` or `stderr`, and the tag `F` where the text ended with a line feed or `P` where it goes on in the next line of the
//! same stream (or the stream ended without a line feed). The text is the program's bytes as they are.

/// The longest text of one log line, as in the container runtimes.
pub(crate) const LONGEST_TEXT: usize = 16 * 1024;

/// Which stream of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// File descriptor 1.
    Stdout,
    /// File descriptor 2.
    Stderr,
}

impl Stream {
    fn as_str(self) -> &'static str {
        match self {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
        }
    }
}

/// The log lines of one stream. Keeps at most one unfinished text.
pub(crate) struct Lines {
    stream: Stream,
    unfinished: Vec<u8>,
}

/// Log lines ready to be written, and what they stand for.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The bytes of the log.
    pub(crate) text: Vec<u8>,
    /// How many lines.
    pub(crate) lines: u64,
    /// How many bytes of the program.
    pub(crate) payload: u64,
}

impl Batch {
    /// Empties it, keeping its memory.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.lines = 0;
        self.payload = 0;
    }

    fn line(&mut self, time: &str, stream: Stream, tag: u8, parts: [&[u8]; 2]) {
        self.text.extend_from_slice(time.as_bytes());
        self.text.push(b' ');
        self.text.extend_from_slice(stream.as_str().as_bytes());
        self.text.extend_from_slice(&[b' ', tag, b' ']);
        for part in parts {
            self.text.extend_from_slice(part);
            self.payload += part.len() as u64;
        }
        self.text.push(b'\n');
        self.payload += u64::from(tag == b'F');
        self.lines += 1;
    }
}

impl Lines {
    /// The lines of `stream`.
    pub(crate) fn new(stream: Stream) -> Lines {
        Lines { stream, unfinished: Vec::new() }
    }

    /// Whether no text is unfinished.
    pub(crate) fn is_empty(&self) -> bool {
        self.unfinished.is_empty()
    }

    /// Takes the next bytes, all seen at `time`.
    pub(crate) fn push(&mut self, mut bytes: &[u8], time: &str, batch: &mut Batch) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            let line = self.shorten(line, time, batch);
            batch.line(time, self.stream, b'F', [&self.unfinished, line]);
            self.unfinished.clear();
            bytes = rest;
        }
        let rest = self.shorten(bytes, time, batch);
        self.unfinished.extend_from_slice(rest);
    }

    /// Writes whole pieces while the text with what is unfinished is longer than a line may be; gives the rest.
    fn shorten<'a>(&mut self, mut line: &'a [u8], time: &str, batch: &mut Batch) -> &'a [u8] {
        while self.unfinished.len() + line.len() > LONGEST_TEXT {
            let (piece, rest) = line.split_at(LONGEST_TEXT - self.unfinished.len());
            batch.line(time, self.stream, b'P', [&self.unfinished, piece]);
            self.unfinished.clear();
            line = rest;
        }
        line
    }

    /// The stream has ended: what is unfinished becomes a line.
    pub(crate) fn end(&mut self, time: &str, batch: &mut Batch) {
        if !self.unfinished.is_empty() {
            batch.line(time, self.stream, b'P', [&self.unfinished, b""]);
            self.unfinished = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: &str = "2013-02-05T06:00:00.000000000Z";

    fn log_of(text: &[u8], piece: usize) -> (Vec<u8>, Batch) {
        let (mut lines, mut batch) = (Lines::new(Stream::Stdout), Batch::default());
        text.chunks(piece).for_each(|bytes| lines.push(bytes, TIME, &mut batch));
        lines.end(TIME, &mut batch);
        (batch.text.clone(), batch)
    }

    /// What a reader makes of a log: the program's bytes again.
    fn read_back(log: &[u8]) -> Vec<u8> {
        let prefix = TIME.len() + " stdout ".len();
        let mut out = Vec::new();
        for line in log.split_inclusive(|byte| *byte == b'\n') {
            let end = if line[prefix] == b'F' { line.len() } else { line.len() - 1 };
            out.extend_from_slice(&line[prefix + 2..end]);
        }
        out
    }

    #[test]
    fn lines_carry_time_stream_and_tag() {
        let (log, batch) = log_of(b"one\n\ntwo", 2);
        let wanted = format!("{TIME} stdout F one\n{TIME} stdout F \n{TIME} stdout P two\n");
        assert_eq!(String::from_utf8(log).unwrap(), wanted);
        assert_eq!((batch.lines, batch.payload), (3, 8));
    }

    #[test]
    fn the_bytes_come_back_from_the_log_however_they_came() {
        let long = vec![b'x'; LONGEST_TEXT * 3 + 5];
        let exact = vec![b'y'; LONGEST_TEXT];
        let binary: Vec<u8> = (0..=255).chain([b'\n', 0, b'\r', b'\n', 0xff]).collect();
        for text in [b"".to_vec(), long.clone(), [&long[..], b"\n", &exact, b"\n", &exact, b"\n\n"].concat(), binary] {
            for piece in [1, 7, 4096, LONGEST_TEXT, LONGEST_TEXT + 1, 1 << 20] {
                let (log, batch) = log_of(&text, piece);
                assert_eq!(read_back(&log), text, "in pieces of {piece}");
                assert_eq!(batch.payload, text.len() as u64);
                let longest = log.split(|byte| *byte == b'\n').map(<[u8]>::len).max().unwrap_or(0);
                assert!(longest <= LONGEST_TEXT + 64, "{longest}");
            }
        }
    }
}
