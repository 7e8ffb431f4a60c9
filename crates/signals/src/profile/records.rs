//! Delimited text to rows of fields.
//!
//! A field that starts with a quote runs to the next single quote; two quotes stand for one; what follows the closing quote
//! belongs to the field as it is; a quote elsewhere is data. A row ends at a line feed, with or without a carriage return
//! before it. No row is ever refused, and none can grow beyond the limit.

use std::io::Read;

use super::feed::Feed;
use super::marks::Marks;

/// What came next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A row; its fields can be read.
    Row,
    /// A row whose last field was quoted and never closed.
    Unclosed,
    /// A line without anything on it.
    Blank,
    /// A row beyond the limit; it was passed over.
    TooLong,
    /// Nothing more.
    End,
}

/// The rows of delimited text.
pub(super) struct Records {
    marks: Marks,
    newline: u8,
    row_bytes: usize,
    most_fields: usize,
    fields: Vec<Field>,
    /// Fields beyond the most that are kept.
    beyond: u64,
    /// Whether a field of this row holds quotes that have to be resolved.
    escaped: bool,
    /// Line on which the row started.
    pub(super) line: u64,
}

#[derive(Clone, Copy, Debug)]
struct Field {
    start: usize,
    end: usize,
    escaped: bool,
}

/// Where in a field the reader is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Bare,
    Quoted,
    /// Behind the closing quote, which is there.
    Closed(usize),
}

impl Records {
    pub(super) fn new(delimiter: u8, newline: u8, row_bytes: usize, most_fields: usize) -> Self {
        Self {
            marks: Marks::new([delimiter, b'"', newline]),
            newline,
            row_bytes,
            most_fields,
            fields: Vec::new(),
            beyond: 0,
            escaped: false,
            line: 1,
        }
    }

    /// Reads the next row. Its fields are valid until the next call.
    pub(super) fn next<R: Read>(&mut self, feed: &mut Feed<R>) -> Step {
        self.line = feed.line;
        loop {
            if let Some(step) = self.scan(feed) {
                return step;
            }
            if feed.buffer.len() - feed.at >= self.row_bytes {
                feed.skip_line(self.newline);
                self.marks.restart(feed.at);
                return Step::TooLong;
            }
            feed.more();
            self.marks.restart(feed.at);
        }
    }

    /// Goes on where the feed is now.
    pub(super) fn restart(&mut self, at: usize) {
        self.marks.restart(at);
    }

    /// Fields of the row.
    pub(super) fn len(&self) -> u64 {
        self.fields.len() as u64 + self.beyond
    }

    /// The kept fields of the row, in order.
    pub(super) fn fields<'a, R>(&'a self, feed: &'a Feed<R>) -> impl Iterator<Item = &'a [u8]> {
        self.fields.iter().map(|field| &feed.buffer[field.start..field.end])
    }

    /// Looks for the end of the row in what was read; `None` when it is not there yet.
    fn scan<R: Read>(&mut self, feed: &mut Feed<R>) -> Option<Step> {
        self.fields.clear();
        (self.beyond, self.escaped) = (0, false);
        let (mut start, mut place, mut escaped, mut lines) = (feed.at, Place::Bare, false, 0);
        while let Some(mark) = self.marks.next(&feed.buffer) {
            let byte = feed.buffer[mark];
            if place == Place::Quoted {
                if byte == self.newline {
                    lines += 1;
                } else if byte == b'"' {
                    if feed.buffer.get(mark + 1) == Some(&b'"') {
                        escaped = true;
                        self.marks.next(&feed.buffer);
                    } else {
                        place = Place::Closed(mark);
                    }
                }
            } else if byte == b'"' {
                // A quote in the middle of a field is data.
                if mark == start {
                    place = Place::Quoted;
                }
            } else if byte == self.newline {
                let end = self.without_return(feed, start, mark);
                let blank = self.fields.is_empty() && self.beyond == 0 && end == start;
                self.push(start, end, place, escaped);
                return Some(self.finish(feed, mark + 1, lines + 1, blank));
            } else {
                self.push(start, mark, place, escaped);
                (start, place, escaped) = (mark + 1, Place::Bare, false);
            }
        }
        feed.source.ended.then(|| self.last(feed, start, place, escaped, lines))
    }

    /// The row that the end of the artifact ends.
    fn last<R: Read>(&mut self, feed: &mut Feed<R>, start: usize, place: Place, escaped: bool, lines: u64) -> Step {
        if feed.at == feed.buffer.len() {
            return Step::End;
        }
        let length = feed.buffer.len();
        let end = if place == Place::Quoted { length } else { self.without_return(feed, start, length) };
        let blank = self.fields.is_empty() && self.beyond == 0 && end == start;
        self.push(start, end, place, escaped);
        let step = self.finish(feed, length, lines, blank);
        if place == Place::Quoted { Step::Unclosed } else { step }
    }

    fn finish<R: Read>(&mut self, feed: &mut Feed<R>, next: usize, lines: u64, blank: bool) -> Step {
        feed.advance(next, lines);
        if self.escaped {
            for field in self.fields.iter_mut().filter(|field| field.escaped) {
                field.end = field.start + resolve_quotes(&mut feed.buffer[field.start..field.end]);
            }
        }
        if blank { Step::Blank } else { Step::Row }
    }

    /// The end of a row's last field: a carriage return before the line feed belongs to neither.
    fn without_return<R>(&self, feed: &Feed<R>, start: usize, end: usize) -> usize {
        let returned = self.newline == b'\n' && end > start && feed.buffer[end - 1] == b'\r';
        end - usize::from(returned)
    }

    #[inline]
    fn push(&mut self, start: usize, end: usize, place: Place, escaped: bool) {
        if self.fields.len() == self.most_fields {
            self.beyond += 1;
            return;
        }
        let field = match place {
            Place::Bare => Field { start, end, escaped: false },
            Place::Closed(quote) if quote + 1 == end && !escaped => Field { start: start + 1, end: quote, escaped: false },
            Place::Closed(_) | Place::Quoted => Field { start: start + 1, end, escaped: true },
        };
        self.escaped |= field.escaped;
        self.fields.push(field);
    }
}

/// Takes the quotes out of the rest of a quoted field, in place, and returns its new length.
fn resolve_quotes(field: &mut [u8]) -> usize {
    let (mut length, mut at, mut quoted) = (0, 0, true);
    while at < field.len() {
        if quoted && field[at] == b'"' {
            at += 1;
            if field.get(at) != Some(&b'"') {
                quoted = false;
                continue;
            }
        }
        field[length] = field[at];
        (length, at) = (length + 1, at + 1);
    }
    length
}
