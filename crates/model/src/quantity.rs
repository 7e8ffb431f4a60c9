//! Spans of time and sizes of memory as people write them in manifests.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

/// A text that is not a span of time or a size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct BadQuantity {
    text: String,
    expected: &'static str,
}

/// A span of time in whole milliseconds. Text form: `250ms`, `10s`, `5m`, `2h`, `1d`, joined (`1h30m`); bare `0`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span {
    millis: u64,
}

const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
/// A century: longer spans are mistakes, and sums of two stay far from overflow.
const LONGEST_MILLIS: u64 = 100 * 366 * 86_400_000;

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span { millis: 0 };

    /// A span of so many milliseconds.
    pub const fn from_millis(millis: u64) -> Span {
        Span { millis }
    }

    /// A span of so many seconds.
    pub const fn from_secs(seconds: u64) -> Span {
        Span { millis: seconds * 1_000 }
    }

    /// Milliseconds.
    pub const fn as_millis(self) -> u64 {
        self.millis
    }

    /// For the standard library and timers.
    pub const fn duration(self) -> Duration {
        Duration::from_millis(self.millis)
    }

    /// The instant so much later; the last representable one when that is out of range.
    pub fn after(self, start: jiff::Timestamp) -> jiff::Timestamp {
        start.saturating_add(self.duration()).unwrap_or(jiff::Timestamp::MAX)
    }

    /// The time from `start` to `end`, zero when the clock stepped back between them.
    pub fn between(start: jiff::Timestamp, end: jiff::Timestamp) -> Span {
        let millis = end.as_millisecond().saturating_sub(start.as_millisecond());
        Span { millis: u64::try_from(millis).unwrap_or(0) }
    }
}

impl FromStr for Span {
    type Err = BadQuantity;

    fn from_str(text: &str) -> Result<Span, BadQuantity> {
        let bad = || BadQuantity { text: text.to_owned(), expected: "a span of time such as 250ms, 10s, 5m, 2h, 1d or 1h30m" };
        if text == "0" {
            return Ok(Span::ZERO);
        }
        let (mut rest, mut millis, mut above) = (text, 0_u64, u64::MAX);
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let letters = rest[digits..].bytes().take_while(u8::is_ascii_lowercase).count();
            let (number, unit) = (&rest[..digits], &rest[digits..digits + letters]);
            let size = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, size)| *size).ok_or_else(bad)?;
            // Largest unit first and each once: `5m2h` and `5m5m` are typing mistakes.
            if size >= above {
                return Err(bad());
            }
            above = size;
            let part = number.parse::<u64>().ok().and_then(|number| number.checked_mul(size)).ok_or_else(bad)?;
            millis = millis.checked_add(part).filter(|millis| *millis <= LONGEST_MILLIS).ok_or_else(bad)?;
            rest = &rest[digits + letters..];
        }
        if text.is_empty() { Err(bad()) } else { Ok(Span { millis }) }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.millis == 0 {
            return f.pad("0");
        }
        let (mut text, mut rest) = (String::new(), self.millis);
        for (name, size) in UNITS {
            if rest >= size {
                text.push_str(&format!("{}{name}", rest / size));
                rest %= size;
            }
        }
        f.pad(&text)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl TryFrom<String> for Span {
    type Error = BadQuantity;
    fn try_from(text: String) -> Result<Span, BadQuantity> {
        text.parse()
    }
}

impl From<Span> for String {
    fn from(span: Span) -> String {
        span.to_string()
    }
}

/// From a shortest to a longest span. Text form: `10s..5m`; one span alone means both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SpanRange {
    /// The shortest.
    pub from: Span,
    /// The longest, never below `from`.
    pub to: Span,
}

impl FromStr for SpanRange {
    type Err = BadQuantity;
    fn from_str(text: &str) -> Result<SpanRange, BadQuantity> {
        let (from, to) = text.split_once("..").unwrap_or((text, text));
        let range = SpanRange { from: from.parse()?, to: to.parse()? };
        let expected = "a range whose first span is not above its second, such as 10s..5m";
        if range.from <= range.to { Ok(range) } else { Err(BadQuantity { text: text.to_owned(), expected }) }
    }
}

impl fmt::Display for SpanRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from == self.to { self.from.fmt(f) } else { write!(f, "{}..{}", self.from, self.to) }
    }
}

impl TryFrom<String> for SpanRange {
    type Error = BadQuantity;
    fn try_from(text: String) -> Result<SpanRange, BadQuantity> {
        text.parse()
    }
}

impl From<SpanRange> for String {
    fn from(range: SpanRange) -> String {
        range.to_string()
    }
}

/// A size in bytes. Text form: `64KiB`, `512MiB`, `1GiB` (powers of 1024), `500KB`, `500MB`, `2GB` (of 1000), `100B`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ByteSize {
    bytes: u64,
}

const SIZES: [(&str, u64); 7] =
    [("GiB", 1 << 30), ("GB", 1_000_000_000), ("MiB", 1 << 20), ("MB", 1_000_000), ("KiB", 1 << 10), ("KB", 1_000), ("B", 1)];

impl ByteSize {
    /// A size of so many bytes.
    pub const fn from_bytes(bytes: u64) -> ByteSize {
        ByteSize { bytes }
    }

    /// Bytes.
    pub const fn as_bytes(self) -> u64 {
        self.bytes
    }
}

impl FromStr for ByteSize {
    type Err = BadQuantity;
    fn from_str(text: &str) -> Result<ByteSize, BadQuantity> {
        let parse = || {
            let (unit, size) = SIZES.iter().find(|(unit, _)| text.ends_with(unit))?;
            let number = text.strip_suffix(unit)?.trim_end();
            let bytes = number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse::<u64>().ok())??;
            bytes.checked_mul(*size).map(ByteSize::from_bytes)
        };
        parse().ok_or_else(|| BadQuantity { text: text.to_owned(), expected: "a size such as 512MiB, 1GiB or 500MB" })
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = SIZES.iter().find(|(_, size)| self.bytes >= *size && self.bytes.is_multiple_of(*size));
        let (unit, size) = exact.copied().unwrap_or(("B", 1));
        f.pad(&format!("{}{unit}", self.bytes / size))
    }
}

impl fmt::Debug for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl TryFrom<String> for ByteSize {
    type Error = BadQuantity;
    fn try_from(text: String) -> Result<ByteSize, BadQuantity> {
        text.parse()
    }
}

impl From<ByteSize> for String {
    fn from(size: ByteSize) -> String {
        size.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_as_they_print() {
        for (text, millis) in [("0", 0), ("250ms", 250), ("10s", 10_000), ("1h30m", 5_400_000), ("1d1ms", 86_400_001)] {
            let span: Span = text.parse().unwrap();
            assert_eq!((span.as_millis(), span.to_string().as_str()), (millis, text));
        }
        for bad in ["", "s", "10", "-1s", "1.5s", "5m2h", "5m5m", "10 s", "99999999999d", "1S"] {
            assert!(bad.parse::<Span>().is_err(), "{bad:?} passed");
        }
        assert_eq!("10s..5m".parse::<SpanRange>().unwrap().to_string(), "10s..5m");
        assert!("5m..10s".parse::<SpanRange>().is_err());
    }

    #[test]
    fn sizes_read_as_they_print() {
        for text in ["512MiB", "1GiB", "500MB", "1B"] {
            assert_eq!(text.parse::<ByteSize>().unwrap().to_string(), text);
        }
        for bad in ["", "MiB", "1.5GiB", "-1B", "10", "99999999999GiB"] {
            assert!(bad.parse::<ByteSize>().is_err(), "{bad:?} passed");
        }
    }

    #[test]
    fn a_clock_that_stepped_back_gives_no_negative_time() {
        let early = jiff::Timestamp::from_second(100).unwrap();
        let late = jiff::Timestamp::from_second(160).unwrap();
        assert_eq!(Span::between(early, late), Span::from_secs(60));
        assert_eq!(Span::between(late, early), Span::ZERO);
    }
}
