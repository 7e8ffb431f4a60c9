//! Places in the text as written, where the parser reads a text in which some escapes are shorter.

use std::borrow::Cow;

use saphyr_parser::Marker;

use crate::node::Mark;

/// `\ud83d\ude00` has 12 characters, `\U0001F600` has 10.
const SHORTER_BY: u32 = 2;

/// A text for the parser, and how its places map back.
#[derive(Debug)]
pub(crate) struct Readable<'t> {
    pub(crate) text: Cow<'t, str>,
    /// Where, in the parser's text, each shorter escape ends.
    shortened: Vec<Mark>,
}

impl<'t> Readable<'t> {
    /// `text` as it is.
    pub(crate) fn yaml(text: &'t str) -> Readable<'t> {
        Readable { text: Cow::Borrowed(without_byte_order_mark(text)), shortened: Vec::new() }
    }

    /// JSON writes a character beyond U+FFFF as two escapes, which YAML does not know: each pair becomes YAML's one.
    pub(crate) fn json(text: &'t str) -> Readable<'t> {
        let text = without_byte_order_mark(text);
        if !text.contains("\\ud") && !text.contains("\\uD") {
            return Readable::yaml(text);
        }
        let (mut written, mut shortened) = (String::with_capacity(text.len()), Vec::new());
        let (mut rest, mut place) = (text, Mark { line: 1, column: 1 });
        while let Some(letter) = rest.chars().next() {
            let (part, read) = match surrogates(rest) {
                Some((character, read)) => (Cow::Owned(format!("\\U{:08X}", u32::from(character))), read),
                // An escaped backslash is no start of an escape.
                None if rest.starts_with("\\\\") => (Cow::Borrowed("\\\\"), 2),
                None => (Cow::Borrowed(&rest[..letter.len_utf8()]), letter.len_utf8()),
            };
            place = if letter == '\n' { Mark { line: place.line + 1, column: 1 } } else { place.right(part.chars().count()) };
            if read == 12 {
                shortened.push(place);
            }
            written.push_str(&part);
            rest = &rest[read..];
        }
        Readable { text: Cow::Owned(written), shortened }
    }

    /// The place of a marker in the text as written.
    pub(crate) fn mark(&self, marker: Marker) -> Mark {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let mark = Mark { line: count(marker.line()).max(1), column: count(marker.col()).saturating_add(1) };
        let first = self.shortened.partition_point(|end| end.line < mark.line);
        let before = self.shortened[first..].partition_point(|end| *end <= mark);
        Mark { line: mark.line, column: mark.column.saturating_add(count(before).saturating_mul(SHORTER_BY)) }
    }
}

/// A byte order mark is allowed and counts as nothing.
pub(crate) fn without_byte_order_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The character that two escapes at the start of `text` write, and their length.
fn surrogates(text: &str) -> Option<(char, usize)> {
    let escape = |text: &str| u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok();
    let pair = [escape(text)?, escape(text.get(6..)?)?];
    let character = char::decode_utf16(pair).next()?.ok()?;
    (u32::from(character) > 0xFFFF).then_some((character, 12))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_escapes_become_one_and_places_stay() {
        let written = r#"{"a": "x\ud83d\ude00\uD83D\uDE00\\ud83d\u00e9", "b": 1}"#;
        let readable = Readable::json(written);
        assert_eq!(readable.text, r#"{"a": "x\U0001F600\U0001F600\\ud83d\u00e9", "b": 1}"#);
        for key in ["\"a\"", "\"b\""] {
            let (as_read, as_written) = (readable.text.find(key).unwrap(), written.find(key).unwrap());
            let mark = readable.mark(Marker::new(as_read, 1, as_read));
            assert_eq!(usize::try_from(mark.column).unwrap(), as_written + 1, "{key}");
        }
    }
}
