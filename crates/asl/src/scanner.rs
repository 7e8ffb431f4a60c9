//! A cursor over text, for the small languages inside a definition: paths, filters and intrinsic calls.

use std::fmt;

/// Why a path or an intrinsic call cannot be read, and where in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// What was expected or is not allowed.
    pub(crate) reason: String,
    /// Where: a byte offset into the text.
    pub(crate) at: usize,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at offset {}", self.reason, self.at)
    }
}

impl std::error::Error for SyntaxError {}

/// How deep brackets, filters and calls may nest.
pub(crate) const DEEPEST: usize = 64;

pub(crate) struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    pub(crate) fn new(text: &'t str) -> Scanner<'t> {
        Scanner { text, at: 0 }
    }

    pub(crate) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn since(&self, start: usize) -> &'t str {
        &self.text[start..self.at]
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn is_done(&self) -> bool {
        self.at == self.text.len()
    }

    pub(crate) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Takes `token` if the text goes on with it.
    pub(crate) fn take(&mut self, token: &str) -> bool {
        let there = self.rest().starts_with(token);
        if there {
            self.at += token.len();
        }
        there
    }

    pub(crate) fn expect(&mut self, token: &str) -> Result<(), SyntaxError> {
        if self.take(token) { Ok(()) } else { Err(self.error(format!("expected `{token}`"))) }
    }

    pub(crate) fn skip_space(&mut self) {
        self.take_while(|next| next.is_ascii_whitespace());
    }

    pub(crate) fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|next| !wanted(next)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Text between quotes of the kind that comes next; a backslash makes plain any of the characters in `escapable`,
    /// and may stand before no other.
    pub(crate) fn quoted(&mut self, escapable: &str) -> Result<String, SyntaxError> {
        let start = self.at;
        let Some(quote @ ('\'' | '"')) = self.next() else { return Err(self.error("expected a quoted text")) };
        let mut text = String::new();
        while let Some(next) = self.next() {
            match next {
                '\\' => match self.next() {
                    Some(escaped) if escapable.contains(escaped) => text.push(escaped),
                    _ => return Err(self.error("there is no such escape")),
                },
                end if end == quote => return Ok(text),
                plain => text.push(plain),
            }
        }
        Err(SyntaxError { reason: "the quoted text has no end".to_owned(), at: start })
    }

    /// A name between quotes in a path: a backslash makes plain the quote and itself, and stays before all else.
    pub(crate) fn quoted_name(&mut self) -> Result<String, SyntaxError> {
        let start = self.at;
        let Some(quote @ ('\'' | '"')) = self.next() else { return Err(self.error("expected a quoted name")) };
        let mut name = String::new();
        while let Some(next) = self.next() {
            match (next, self.peek()) {
                ('\\', Some(plain)) if plain == quote || plain == '\\' => {
                    name.push(plain);
                    self.next();
                }
                (end, _) if end == quote => return Ok(name),
                (plain, _) => name.push(plain),
            }
        }
        Err(SyntaxError { reason: "the quoted name has no end".to_owned(), at: start })
    }

    /// A whole number with an optional sign.
    pub(crate) fn integer(&mut self) -> Result<i64, SyntaxError> {
        let start = self.at;
        self.take("-");
        self.take_while(|next| next.is_ascii_digit());
        self.since(start).parse().map_err(|_| SyntaxError { reason: "expected a whole number".to_owned(), at: start })
    }

    pub(crate) fn error(&self, reason: impl Into<String>) -> SyntaxError {
        SyntaxError { reason: reason.into(), at: self.at }
    }
}
