//! The grammar of JSON (RFC 8259), strict, on a slice.

use super::super::hash;

/// Why a text is not one JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It ends too early.
    CutOff,
    /// Something else stands where the grammar allows it not.
    Wrong,
    /// It is nested beyond the limit.
    TooDeep,
    /// It has far more values than a row may have columns.
    TooMany,
}

pub(super) type Read<T> = Result<T, Fault>;

/// What a value starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Object,
    List,
    String,
    Number,
    True,
    False,
    Null,
}

/// A string or number as written: from where to where, without quotes, and whether escapes are in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Raw {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) escaped: bool,
}

/// Families of hashes, so that values of different types differ.
#[derive(Clone, Copy, Debug)]
pub(super) enum Family {
    String = 1,
    Int,
    Float,
    Bool,
    List,
    Struct,
    Null,
}

/// A place in a JSON text.
pub(super) struct Cursor<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// The next byte that is not blank.
    #[inline]
    pub(super) fn peek(&mut self) -> Read<u8> {
        loop {
            match self.text.get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(byte) => return Ok(*byte),
                None => return Err(Fault::CutOff),
            }
        }
    }

    /// Passes over the wanted byte, maybe after blanks.
    #[inline]
    pub(super) fn expect(&mut self, wanted: u8) -> Read<()> {
        if self.peek()? == wanted {
            self.at += 1;
            return Ok(());
        }
        Err(Fault::Wrong)
    }

    /// After a value of a list or object: whether another follows. Passes over the comma or the end.
    #[inline]
    pub(super) fn another(&mut self, end: u8) -> Read<bool> {
        let byte = self.peek()?;
        self.at += 1;
        match byte {
            b',' => Ok(true),
            byte if byte == end => Ok(false),
            _ => Err(Fault::Wrong),
        }
    }

    /// After the start of a list or object: passes over its end, if it is empty.
    #[inline]
    pub(super) fn is_empty(&mut self, end: u8) -> Read<bool> {
        let empty = self.peek()? == end;
        self.at += usize::from(empty);
        Ok(empty)
    }

    /// Nothing but blanks may follow.
    pub(super) fn end(&mut self) -> Read<()> {
        match self.peek() {
            Err(Fault::CutOff) => Ok(()),
            Err(fault) => Err(fault),
            Ok(_) => Err(Fault::Wrong),
        }
    }

    /// What comes next. Passes over the first byte of an object, list or string, and over the whole of a word.
    #[inline]
    pub(super) fn start(&mut self) -> Read<Start> {
        let (start, length) = match self.peek()? {
            b'{' => (Start::Object, 1),
            b'[' => (Start::List, 1),
            b'"' => (Start::String, 1),
            b'-' | b'0'..=b'9' => (Start::Number, 0),
            b't' => (Start::True, self.word(b"true")?),
            b'f' => (Start::False, self.word(b"false")?),
            b'n' => (Start::Null, self.word(b"null")?),
            _ => return Err(Fault::Wrong),
        };
        self.at += length;
        Ok(start)
    }

    fn word(&self, word: &[u8]) -> Read<usize> {
        let rest = &self.text[self.at..];
        if rest.starts_with(word) {
            Ok(word.len())
        } else if word.starts_with(rest) {
            Err(Fault::CutOff)
        } else {
            Err(Fault::Wrong)
        }
    }

    /// The rest of a string whose opening quote was passed.
    #[inline]
    pub(super) fn string(&mut self) -> Read<Raw> {
        let start = self.at;
        let mut escaped = false;
        loop {
            let rest = &self.text[self.at..];
            let length = plain_prefix(rest);
            let stop = rest.get(length).ok_or(Fault::CutOff)?;
            self.at += length + 1;
            match stop {
                b'"' => return Ok(Raw { start, end: self.at - 1, escaped }),
                b'\\' => {
                    escaped = true;
                    self.escape()?;
                }
                // Control characters have to be escaped.
                _ => return Err(Fault::Wrong),
            }
        }
    }

    /// Checks and passes over an escape whose backslash was passed; returns the character it stands for.
    fn escape(&mut self) -> Read<char> {
        let kind = *self.text.get(self.at).ok_or(Fault::CutOff)?;
        self.at += 1;
        Ok(match kind {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(),
            _ => return Err(Fault::Wrong),
        })
    }

    fn unicode_escape(&mut self) -> Read<char> {
        let high = self.hex4()?;
        if !(0xD800..0xDC00).contains(&high) {
            // A low surrogate on its own is no character.
            return char::from_u32(high).ok_or(Fault::Wrong);
        }
        for wanted in [b'\\', b'u'] {
            if *self.text.get(self.at).ok_or(Fault::CutOff)? != wanted {
                return Err(Fault::Wrong);
            }
            self.at += 1;
        }
        let low = self.hex4()?;
        if !(0xDC00..0xE000).contains(&low) {
            return Err(Fault::Wrong);
        }
        char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)).ok_or(Fault::Wrong)
    }

    fn hex4(&mut self) -> Read<u32> {
        let mut number = 0;
        for _ in 0..4 {
            let byte = *self.text.get(self.at).ok_or(Fault::CutOff)?;
            number = number * 16 + char::from(byte).to_digit(16).ok_or(Fault::Wrong)?;
            self.at += 1;
        }
        Ok(number)
    }

    /// A number; its first byte is next.
    #[inline]
    pub(super) fn number(&mut self) -> Read<Raw> {
        let start = self.at;
        if self.text.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        if self.text.get(self.at) == Some(&b'0') {
            // Digits after a leading zero are left over, and nothing may follow a number but the end of a value.
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.text.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.text.get(self.at) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Raw { start, end: self.at, escaped: false })
    }

    /// At least one digit.
    #[inline]
    fn digits(&mut self) -> Read<()> {
        let count = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        match (count, self.text.get(self.at)) {
            (0, None) => Err(Fault::CutOff),
            (0, Some(_)) => Err(Fault::Wrong),
            (_, _) => Ok(()),
        }
    }

    /// Passes over any value, which may nest `depth` levels deep, and returns its hash.
    pub(super) fn skip(&mut self, depth: usize, scratch: &mut Vec<u8>) -> Read<u64> {
        Ok(match self.start()? {
            Start::Null => tagged(0, Family::Null),
            Start::True => tagged(1, Family::Bool),
            Start::False => tagged(0, Family::Bool),
            Start::Number => number_hash(self.number().map(|raw| &self.text[raw.start..raw.end])?),
            Start::String => {
                let raw = self.string()?;
                tagged(hash::bytes(self.resolved(raw, scratch)), Family::String)
            }
            Start::List => {
                let depth = depth.checked_sub(1).ok_or(Fault::TooDeep)?;
                let mut joined = 0;
                let mut more = !self.is_empty(b']')?;
                while more {
                    joined = hash::join(joined, self.skip(depth, scratch)?);
                    more = self.another(b']')?;
                }
                tagged(joined, Family::List)
            }
            Start::Object => {
                let depth = depth.checked_sub(1).ok_or(Fault::TooDeep)?;
                // A sum, so that the order of the keys does not matter.
                let mut sum = 0_u64;
                let mut more = !self.is_empty(b'}')?;
                while more {
                    self.expect(b'"')?;
                    let raw = self.string()?;
                    let key = hash::bytes(self.resolved(raw, scratch));
                    self.expect(b':')?;
                    sum = sum.wrapping_add(hash::join(key, self.skip(depth, scratch)?));
                    more = self.another(b'}')?;
                }
                tagged(sum, Family::Struct)
            }
        })
    }

    /// The text of a string with its escapes resolved.
    fn resolved<'b>(&self, raw: Raw, scratch: &'b mut Vec<u8>) -> &'b [u8]
    where
        'a: 'b,
    {
        let text = &self.text[raw.start..raw.end];
        if !raw.escaped {
            return text;
        }
        scratch.clear();
        resolve(text, scratch);
        scratch
    }
}

/// Appends a checked string with its escapes resolved.
pub(super) fn resolve(text: &[u8], out: &mut Vec<u8>) {
    let mut cursor = Cursor::new(text);
    while let Some(length) = memchr::memchr(b'\\', &text[cursor.at..]) {
        out.extend_from_slice(&text[cursor.at..cursor.at + length]);
        cursor.at += length + 1;
        let character = cursor.escape().unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
    out.extend_from_slice(&text[cursor.at..]);
}

/// The hash of a value within its family.
#[inline]
pub(super) fn tagged(value: u64, family: Family) -> u64 {
    hash::salted(value, family as u64)
}

/// The hash of a number: of a whole one by its digits, of another by its nearest float.
pub(super) fn number_hash(text: &[u8]) -> u64 {
    use super::super::cell::{Value, classify};
    match classify(text) {
        Value::Int(number) => tagged(number as u64, Family::Int),
        Value::Float(number) => tagged((number + 0.0).to_bits(), Family::Float),
        _ => tagged(hash::bytes(text), Family::Float),
    }
}

/// Length of the part without quotes, backslashes and control characters.
#[inline]
fn plain_prefix(text: &[u8]) -> usize {
    let mut length = 0;
    for eight in text.chunks_exact(8) {
        let word = eight.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let stops = stops(word);
        if stops != 0 {
            return length + (stops.trailing_zeros() / 8) as usize;
        }
        length += 8;
    }
    let tail = text[length..].iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1F)).count();
    length + tail
}

/// The highest bit of each byte that is a quote, a backslash or a control character; bits above the lowest one set may be
/// wrong.
#[inline]
fn stops(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (zero(word ^ (ONES * u64::from(b'"'))) | zero(word ^ (ONES * u64::from(b'\\'))) | control) & HIGH
}
