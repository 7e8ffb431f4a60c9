//! The log of an attempt: lines `<time> <stream> <tag> <text>`, read while they are written.
//!
//! Tag `F` is a whole line; `P` goes on in the next line of the same stream, or is the end of the stream without a line feed.

use app::{App, Fault};
use model::{ObjectKey, Timestamp};

use crate::args::Stream;

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub time: Timestamp,
    pub stream: Stream,
    /// False: the line goes on in the next one of its stream.
    pub whole: bool,
    /// The program's bytes, as they are.
    pub text: Vec<u8>,
}

/// Reads a log from its beginning on, as far as it is.
#[derive(Debug)]
pub(crate) struct Reader {
    key: ObjectKey,
    /// Where the next line begins.
    offset: u64,
    /// The beginning of a line whose end is not written yet.
    rest: Vec<u8>,
}

/// How much is read at once. The longest line of a log has 16 KiB of text.
const CHUNK: usize = 1 << 18;

impl Reader {
    pub(crate) fn new(key: ObjectKey) -> Reader {
        Reader { key, offset: 0, rest: Vec::new() }
    }

    /// What was written since the last call, at most a chunk of it; nothing where the reader has caught up.
    pub(crate) async fn read(&mut self, app: &App) -> Result<Vec<Line>, Fault> {
        // One byte of what was read before tells whether the middle of a full log was taken out meanwhile.
        let overlap = u64::from(self.offset > 0);
        let mut chunk = app.object_range(&self.key, self.offset - overlap, CHUNK).await?;
        if overlap == 1 && chunk.is_empty() {
            self.rest.clear();
            self.offset = self.end(app).await?;
            return Ok(Vec::new());
        }
        self.offset += chunk.len() as u64 - overlap.min(chunk.len() as u64);
        self.rest.extend(chunk.drain(usize::from(overlap == 1)..));
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else { return Ok(Vec::new()) };
        let whole: Vec<u8> = self.rest.drain(..=end).collect();
        Ok(whole.split(|byte| *byte == b'\n').filter_map(parse).collect())
    }

    /// The size of the log now. It has shrunk below `offset`, which happens once in tens of mebibytes.
    async fn end(&self, app: &App) -> Result<u64, Fault> {
        let (mut low, mut high) = (0, self.offset);
        while low < high {
            let middle = low + (high - low) / 2;
            match app.object_range(&self.key, middle, 1).await?.is_empty() {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        Ok(low)
    }
}

/// A line that is no log line, such as one cut in two, is left out.
fn parse(line: &[u8]) -> Option<Line> {
    let mut parts = line.splitn(4, |byte| *byte == b' ');
    let time = std::str::from_utf8(parts.next()?).ok()?.parse().ok()?;
    let stream = match parts.next()? {
        b"stdout" => Stream::Stdout,
        b"stderr" => Stream::Stderr,
        _ => return None,
    };
    let whole = match parts.next()? {
        b"F" => true,
        b"P" => false,
        _ => return None,
    };
    Some(Line { time, stream, whole, text: parts.next()?.to_vec() })
}

/// Text of a program for a terminal: colours stay, everything else that could move the cursor is made visible.
pub(crate) fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if let Some(length) = color_length(rest) {
            safe.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        match letter {
            '\t' => safe.push('\t'),
            letter if letter.is_control() => safe.extend(letter.escape_default()),
            letter => safe.push(letter),
        }
        rest = &rest[letter.len_utf8()..];
    }
    safe
}

/// The length of the colour sequence that `text` starts with.
fn color_length(text: &str) -> Option<usize> {
    let inner = text.strip_prefix("\x1b[")?;
    let length = inner.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
    inner[length..].starts_with('m').then_some(2 + length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_line_has_four_parts_and_the_text_may_hold_blanks() {
        let line = parse(b"2013-02-05T06:00:00.000000001Z stderr F  two  blanks \xff").unwrap();
        assert_eq!((line.stream, line.whole, line.text.as_slice()), (Stream::Stderr, true, &b" two  blanks \xff"[..]));
        assert_eq!(parse(b"2013-02-05T06:00:00Z stdout P ").unwrap().text, b"");
        for bad in [&b""[..], b"half of a line", b"2013-02-05T06:00:00Z stdin F x", b"2013-02-05T06:00:00Z stdout X x"] {
            assert_eq!(parse(bad), None);
        }
    }

    #[test]
    fn colours_reach_the_terminal_and_cursor_moves_do_not() {
        assert_eq!(harmless("\x1b[1;32mok\x1b[0m\tend"), "\x1b[1;32mok\x1b[0m\tend");
        assert_eq!(harmless("\x1b[2J\x1b]0;title\x07\r"), "\\u{1b}[2J\\u{1b}]0;title\\u{7}\\r");
    }
}
