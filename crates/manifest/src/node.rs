//! A document as a tree whose every node knows its place.

use std::borrow::Cow;

/// A place in a file: line and column in characters, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// A value and where it starts.
#[derive(Debug)]
pub(crate) struct Node<'t> {
    pub(crate) mark: Mark,
    pub(crate) content: Content<'t>,
}

/// A value.
#[derive(Debug)]
pub(crate) enum Content<'t> {
    Scalar(Scalar<'t>),
    List(Vec<Node<'t>>),
    Mapping(Vec<Entry<'t>>),
    /// Something whose problem is reported already: whoever meets it says nothing more.
    Reported,
}

/// One key of a mapping and its value.
#[derive(Debug)]
pub(crate) struct Entry<'t> {
    pub(crate) key: Cow<'t, str>,
    pub(crate) key_mark: Mark,
    pub(crate) value: Node<'t>,
}

/// A scalar as written.
#[derive(Debug)]
pub(crate) struct Scalar<'t> {
    pub(crate) text: Cow<'t, str>,
    /// Without quotes: may stand for a number, a boolean or nothing.
    pub(crate) plain: bool,
    /// How far right of the node's mark the text starts, where it is written as it reads, on one line.
    pub(crate) inset: Option<u32>,
}

/// What a scalar stands for under the core schema of YAML 1.2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Meaning {
    Nothing,
    Boolean(bool),
    Integer(i64),
    Number(f64),
    Text,
}

impl Scalar<'_> {
    /// What it stands for: quoted scalars are always text.
    pub(crate) fn meaning(&self) -> Meaning {
        if self.plain { meaning(&self.text) } else { Meaning::Text }
    }
}

fn meaning(text: &str) -> Meaning {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Meaning::Nothing,
        "true" | "True" | "TRUE" => return Meaning::Boolean(true),
        "false" | "False" | "FALSE" => return Meaning::Boolean(false),
        ".nan" | ".NaN" | ".NAN" => return Meaning::Number(f64::NAN),
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    match unsigned.as_bytes().first() {
        Some(b'0'..=b'9' | b'.') => number(text, unsigned),
        Some(_) | None => Meaning::Text,
    }
}

fn number(text: &str, unsigned: &str) -> Meaning {
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Meaning::Number(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    let digits = unsigned.bytes().all(|byte| byte.is_ascii_digit());
    // The standard library also reads `1e`, `inf` and `nan` in part; YAML wants digits around a point and an exponent.
    let shaped = unsigned.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    match (digits, shaped) {
        (true, _) => text.parse().map(Meaning::Integer).or_else(|_| text.parse().map(Meaning::Number)).unwrap_or(Meaning::Text),
        (false, true) => text.parse().map(Meaning::Number).unwrap_or(Meaning::Text),
        (false, false) => Meaning::Text,
    }
}

fn radix(digits: &str, radix: u32) -> Meaning {
    let legal = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    let value = legal.then(|| i64::from_str_radix(digits, radix).ok()).flatten();
    value.map_or(Meaning::Text, Meaning::Integer)
}

impl<'t> Node<'t> {
    /// The value of `key`, where this is a mapping that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Node<'t>> {
        match &self.content {
            Content::Mapping(entries) => entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value),
            Content::Scalar(_) | Content::List(_) | Content::Reported => None,
        }
    }

    /// True where its problem is reported already.
    pub(crate) fn is_reported(&self) -> bool {
        matches!(self.content, Content::Reported)
    }

    /// In words, for "… and this is …".
    pub(crate) fn in_words(&self) -> String {
        match &self.content {
            Content::List(_) => "a list".to_owned(),
            Content::Mapping(_) => "a mapping".to_owned(),
            Content::Reported => "wrong".to_owned(),
            Content::Scalar(scalar) => match scalar.meaning() {
                Meaning::Nothing => "nothing".to_owned(),
                Meaning::Boolean(_) => format!("the boolean `{}`", scalar.text),
                Meaning::Integer(_) | Meaning::Number(_) => format!("the number `{}`", short(&scalar.text)),
                Meaning::Text if scalar.text.is_empty() => "an empty text".to_owned(),
                Meaning::Text => format!("the text `{}`", short(&scalar.text)),
            },
        }
    }
}

impl Mark {
    /// So many characters further right.
    pub(crate) fn right(self, characters: usize) -> Mark {
        let column = self.column.saturating_add(u32::try_from(characters).unwrap_or(u32::MAX));
        Mark { line: self.line, column }
    }
}

/// `text` fit for a message: one line, at most 40 characters.
pub(crate) fn short(text: &str) -> String {
    let mut cut: String = text.chars().take(40).map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if text.chars().nth(40).is_some() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_mean_what_yaml_1_2_says() {
        let cases = [
            ("", Meaning::Nothing),
            ("~", Meaning::Nothing),
            ("no", Meaning::Text),
            ("on", Meaning::Text),
            ("True", Meaning::Boolean(true)),
            ("007", Meaning::Integer(7)),
            ("-12", Meaning::Integer(-12)),
            ("0x1F", Meaning::Integer(31)),
            ("0o17", Meaning::Integer(15)),
            ("0o8", Meaning::Text),
            ("-0x1F", Meaning::Text),
            ("1_000", Meaning::Text),
            ("12:30", Meaning::Text),
            ("2013-02-05", Meaning::Text),
            ("1.5e3", Meaning::Number(1500.0)),
            (".5", Meaning::Number(0.5)),
            (".", Meaning::Text),
            ("1e", Meaning::Text),
            ("inf", Meaning::Text),
            ("-.inf", Meaning::Number(f64::NEG_INFINITY)),
            ("18446744073709551616", Meaning::Number(18_446_744_073_709_551_616.0)),
            ("-", Meaning::Text),
            ("10s..5m", Meaning::Text),
        ];
        for (text, expected) in cases {
            assert_eq!(meaning(text), expected, "{text:?}");
        }
    }
}
