//! Reading single values from nodes: each reader gives the value, or reports once why not.

use std::{collections::BTreeMap, fmt, str::FromStr};

use model::{ByteSize, Span, SpanRange};
use serde_json::Value;

use crate::{
    Code,
    node::{Content, Entry, Meaning, Node, Scalar, short},
    report::{Report, did_you_mean},
};

/// What a message calls the value it is about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum What<'k> {
    /// The value of this key.
    Key(&'k str),
    /// An element of this key's list.
    Element(&'k str),
    /// A value in this key's mapping.
    Member(&'k str),
    /// A whole document.
    Document,
}

impl fmt::Display for What<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::Key(key) => write!(f, "`{key}`"),
            What::Element(key) => write!(f, "each element of `{key}`"),
            What::Member(key) => write!(f, "each value in `{key}`"),
            What::Document => f.write_str("a document"),
        }
    }
}

/// Reports that `node` is not what it must be. Says nothing where its problem is reported already.
pub(crate) fn wrong_type(node: &Node<'_>, what: What<'_>, expected: &str, hint: Option<String>, report: &mut Report<'_>) {
    if !node.is_reported() {
        let message = format!("{what} must be {expected}, and this is {}", node.in_words());
        report.add_with(node.mark, Code::WrongType, message, hint);
    }
}

/// The scalar of a node, where it is one.
pub(crate) fn scalar<'n, 't>(node: &'n Node<'t>) -> Option<&'n Scalar<'t>> {
    match &node.content {
        Content::Scalar(scalar) => Some(scalar),
        Content::List(_) | Content::Mapping(_) | Content::Reported => None,
    }
}

/// Text, not empty.
pub(crate) fn text<'n>(node: &'n Node<'_>, what: What<'_>, report: &mut Report<'_>) -> Option<&'n str> {
    let text = any_text(node, what, report)?;
    if text.trim().is_empty() {
        report.add(node.mark, Code::Empty, format!("{what} must not be empty"));
        return None;
    }
    Some(text)
}

/// Text, perhaps empty.
pub(crate) fn any_text<'n>(node: &'n Node<'_>, what: What<'_>, report: &mut Report<'_>) -> Option<&'n str> {
    let hint = match (&node.content, scalar(node).map(Scalar::meaning)) {
        (Content::Scalar(scalar), Some(Meaning::Text)) => return without_nul(node, &scalar.text, what, report),
        (_, Some(Meaning::Nothing)) => Some(nothing_hint(node, what)),
        (Content::Scalar(scalar), Some(_)) => Some(format!("quote it: \"{}\"", short(&scalar.text))),
        // `- warn: rows >= 1` is a mapping; a check with a prefix or a sentence with a colon was meant.
        (Content::Mapping(entries), _) if entries.len() == 1 => Some("quote a text that holds `: `".to_owned()),
        (Content::Mapping(_) | Content::List(_) | Content::Reported | Content::Scalar(_), _) => None,
    };
    wrong_type(node, what, "text", hint, report);
    None
}

fn nothing_hint(node: &Node<'_>, what: What<'_>) -> String {
    match (scalar(node), what) {
        (Some(scalar), What::Element(_) | What::Member(_)) if !scalar.text.is_empty() => format!("quote it: \"{}\"", scalar.text),
        (_, What::Key(_) | What::Element(_) | What::Member(_) | What::Document) => "give it a value, or leave it out".to_owned(),
    }
}

/// No program takes a NUL in an argument or a variable, and no path holds one.
fn without_nul<'n>(node: &Node<'_>, text: &'n str, what: What<'_>, report: &mut Report<'_>) -> Option<&'n str> {
    if text.contains('\0') {
        report.add(node.mark, Code::ControlCharacter, format!("{what} must not hold a NUL"));
        return None;
    }
    Some(text)
}

/// `true` or `false`.
pub(crate) fn boolean(node: &Node<'_>, what: What<'_>, report: &mut Report<'_>) -> Option<bool> {
    let scalar = scalar(node);
    if let Some(Meaning::Boolean(value)) = scalar.map(Scalar::meaning) {
        return Some(value);
    }
    let meant = scalar.and_then(|scalar| boolean_meant(&scalar.text));
    let hint = match (scalar, meant) {
        (Some(scalar), Some(meant)) if scalar.plain => {
            Some(format!("`{}` is a text in YAML 1.2; write `{meant}`", short(&scalar.text)))
        }
        (_, Some(meant)) => Some(format!("write `{meant}`, without quotes")),
        (_, None) => None,
    };
    wrong_type(node, what, "`true` or `false`", hint, report);
    None
}

/// The words that YAML 1.1 and people take for booleans.
fn boolean_meant(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "on" | "y" | "true" | "1" => Some(true),
        "no" | "off" | "n" | "false" | "0" => Some(false),
        _ => None,
    }
}

/// A whole number from `least` to `most`.
pub(crate) fn whole<N>(node: &Node<'_>, what: What<'_>, least: N, most: N, report: &mut Report<'_>) -> Option<N>
where
    N: TryFrom<i64> + PartialOrd + fmt::Display + Copy,
{
    let Some(Meaning::Integer(value)) = scalar(node).map(Scalar::meaning) else {
        wrong_type(node, what, "a whole number", number_hint(node), report);
        return None;
    };
    let fits = N::try_from(value).ok().filter(|value| least <= *value && *value <= most);
    if fits.is_none() {
        report.add(node.mark, Code::OutOfRange, format!("{what} must be from {least} to {most}, and this is {value}"));
    }
    fits
}

/// A count of things, from 1 to a million: more is a typing mistake.
pub(crate) fn count(node: &Node<'_>, what: What<'_>, report: &mut Report<'_>) -> Option<u32> {
    whole(node, what, 1, 1_000_000, report)
}

/// A finite number.
pub(crate) fn number(node: &Node<'_>, what: What<'_>, report: &mut Report<'_>) -> Option<f64> {
    match scalar(node).map(Scalar::meaning) {
        #[expect(clippy::cast_precision_loss, reason = "bounds beyond 2^53 are compared as the nearest number")]
        Some(Meaning::Integer(value)) => Some(value as f64),
        Some(Meaning::Number(value)) if value.is_finite() => Some(value),
        Some(Meaning::Number(_) | Meaning::Nothing | Meaning::Boolean(_) | Meaning::Text) | None => {
            wrong_type(node, what, "a number", number_hint(node), report);
            None
        }
    }
}

fn number_hint(node: &Node<'_>) -> Option<String> {
    let scalar = scalar(node)?;
    let digits: String = scalar.text.chars().filter(|letter| *letter != '_').collect();
    match digits.parse::<f64>() {
        Ok(_) if !scalar.plain => Some(format!("write {digits}, without quotes")),
        Ok(_) if digits.len() < scalar.text.len() => Some(format!("YAML 1.2 has no `_` in numbers; write {digits}")),
        Ok(_) | Err(_) => None,
    }
}

/// One of a few words.
pub(crate) fn word<W: Copy>(node: &Node<'_>, what: What<'_>, known: &[(&'static str, W)], report: &mut Report<'_>) -> Option<W> {
    let text = text(node, what, report)?;
    let found = known.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    if found.is_none() {
        let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
        let message = format!("{what} must be one of {}, and this is `{}`", words.join(", "), short(text));
        report.add_with(node.mark, Code::UnknownWord, message, did_you_mean(text, words));
    }
    found
}

/// A span of time: `90s`, `1h30m`, bare `0`.
pub(crate) fn span(node: &Node<'_>, what: What<'_>, report: &mut Report<'_>) -> Option<Span> {
    quantity(node, what, "a span of time such as 90s", Code::BadSpan, report)
}

/// A span of time above zero.
pub(crate) fn positive_span(node: &Node<'_>, what: What<'_>, report: &mut Report<'_>) -> Option<Span> {
    let value = span(node, what, report)?;
    if value == Span::ZERO {
        report.add(node.mark, Code::OutOfRange, format!("{what} must be more than nothing"));
        return None;
    }
    Some(value)
}

/// A range of spans: `10s..5m`.
pub(crate) fn span_range(node: &Node<'_>, what: What<'_>, report: &mut Report<'_>) -> Option<SpanRange> {
    quantity(node, what, "a span of time such as 10s, or a range such as 10s..5m", Code::BadSpan, report)
}

/// A size: `512MiB`.
pub(crate) fn size(node: &Node<'_>, what: What<'_>, report: &mut Report<'_>) -> Option<ByteSize> {
    let value: ByteSize = quantity(node, what, "a size such as 512MiB", Code::BadSize, report)?;
    if value.as_bytes() == 0 {
        report.add(node.mark, Code::OutOfRange, format!("{what} must be more than nothing"));
        return None;
    }
    Some(value)
}

fn quantity<Q>(node: &Node<'_>, what: What<'_>, expected: &str, code: Code, report: &mut Report<'_>) -> Option<Q>
where
    Q: FromStr<Err = model::BadQuantity>,
{
    let unit = if code == Code::BadSize { "MiB" } else { "s" };
    let scalar = match (scalar(node), scalar(node).map(Scalar::meaning)) {
        (Some(scalar), Some(Meaning::Text)) => scalar,
        // A bare 0 needs no unit.
        (Some(scalar), Some(Meaning::Integer(0))) if code == Code::BadSpan => scalar,
        (Some(scalar), Some(Meaning::Integer(_))) => {
            wrong_type(node, what, expected, Some(format!("give it a unit: {}{unit}", short(&scalar.text))), report);
            return None;
        }
        (_, _) => {
            wrong_type(node, what, expected, None, report);
            return None;
        }
    };
    match scalar.text.parse() {
        Ok(value) => Some(value),
        Err(error) => {
            let _: model::BadQuantity = error;
            report.add(node.mark, code, format!("{what} must be {expected}, and this is `{}`", short(&scalar.text)));
            None
        }
    }
}

/// The elements of the list at `key`, each read by `element`; those that cannot be read are reported and left out.
pub(crate) fn list<'n, 't, T>(
    node: &'n Node<'t>,
    what: What<'static>,
    report: &mut Report<'_>,
    mut element: impl FnMut(&'n Node<'t>, What<'static>, &mut Report<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    let Content::List(elements) = &node.content else {
        let single = scalar(node).filter(|scalar| scalar.meaning() != Meaning::Nothing);
        wrong_type(node, what, "a list", single.map(|scalar| format!("write [{}]", short(&scalar.text))), report);
        return None;
    };
    let what = match what {
        What::Key(key) => What::Element(key),
        What::Element(_) | What::Member(_) | What::Document => what,
    };
    Some(elements.iter().filter_map(|node| element(node, what, report)).collect())
}

/// Any value as JSON, as far as JSON can hold it.
pub(crate) fn json(node: &Node<'_>, what: What<'_>, report: &mut Report<'_>) -> Option<Value> {
    match &node.content {
        Content::Reported => None,
        Content::List(elements) => elements.iter().map(|node| json(node, what, report)).collect(),
        Content::Mapping(entries) => {
            let value = |entry: &Entry<'_>, report: &mut Report<'_>| {
                json(&entry.value, what, report).map(|value| (entry.key.to_string(), value))
            };
            // Sorted, since the order of keys means nothing and equal content must be equal.
            let sorted: Option<BTreeMap<String, Value>> = entries.iter().map(|entry| value(entry, report)).collect();
            sorted.map(|sorted| Value::Object(sorted.into_iter().collect()))
        }
        Content::Scalar(scalar) => match scalar.meaning() {
            Meaning::Nothing => Some(Value::Null),
            Meaning::Boolean(value) => Some(Value::from(value)),
            Meaning::Integer(value) => Some(Value::from(value)),
            Meaning::Number(value) if value.is_finite() => Some(Value::from(value)),
            Meaning::Number(_) => {
                wrong_type(node, what, "a finite number", None, report);
                None
            }
            Meaning::Text => Some(Value::from(scalar.text.as_ref())),
        },
    }
}
