//! Reading `Retry` and `Catch`.

use std::sync::Arc;

use super::fields::Fields;
use super::state::{LONGEST, assign, result_path};
use super::{Parser, Siblings};
use crate::Value;
use crate::definition::{Catcher, Language, Retrier};

pub(super) fn retry(parser: &mut Parser, fields: &Fields<'_>) -> Vec<Retrier> {
    let Some(list) = fields.list(parser, "Retry") else { return Vec::new() };
    entries(parser, fields, "Retry", list).iter().filter_map(|entry| retrier(parser, entry)).collect()
}

fn retrier(parser: &mut Parser, entry: &Fields<'_>) -> Option<Retrier> {
    entry.only(
        parser,
        &["Comment", "ErrorEquals", "IntervalSeconds", "MaxAttempts", "BackoffRate", "MaxDelaySeconds", "JitterStrategy"],
    );
    let jitter = match entry.text(parser, "JitterStrategy").as_deref() {
        Some("FULL") => true,
        Some("NONE") | None => false,
        Some(other) => {
            let message = format!("`JitterStrategy` is `FULL` or `NONE`, not `{other}`");
            parser.invalid(entry.pointer("JitterStrategy"), message);
            false
        }
    };
    let max_attempts = entry.whole_number(parser, "MaxAttempts", 0..=99_999_999).unwrap_or(3);
    Some(Retrier {
        interval: entry.number(parser, "IntervalSeconds", 1.0..=LONGEST).unwrap_or(1.0),
        max_attempts: u32::try_from(max_attempts).unwrap_or(u32::MAX),
        backoff: entry.number(parser, "BackoffRate", 1.0..=1e9).unwrap_or(2.0),
        max_delay: entry.number(parser, "MaxDelaySeconds", 1.0..=31_622_400.0),
        jitter,
        errors: errors(parser, entry)?,
    })
}

pub(super) fn catch(parser: &mut Parser, fields: &Fields<'_>, language: Language, siblings: &mut Siblings) -> Vec<Catcher> {
    let Some(list) = fields.list(parser, "Catch") else { return Vec::new() };
    let entries = entries(parser, fields, "Catch", list);
    entries.iter().filter_map(|entry| catcher(parser, entry, language, siblings)).collect()
}

fn catcher(parser: &mut Parser, entry: &Fields<'_>, language: Language, siblings: &mut Siblings) -> Option<Catcher> {
    let own = match language {
        Language::JsonPath => "ResultPath",
        Language::Jsonata => "Output",
    };
    entry.only(parser, &["Comment", "ErrorEquals", "Next", "Assign", own]);
    let errors = errors(parser, entry);
    let next = entry.required_text(parser, "Next");
    let next = next.and_then(|next| parser.target(&next, entry.pointer("Next"), siblings));
    let output = if language == Language::Jsonata { entry.template(parser, "Output", language) } else { None };
    Some(Catcher {
        result_path: result_path(parser, entry),
        output,
        assign: assign(parser, entry, language),
        errors: errors?,
        next: next?,
    })
}

fn entries<'v>(parser: &mut Parser, fields: &Fields<'v>, field: &str, list: &'v [Value]) -> Vec<Fields<'v>> {
    let mut entries = Vec::with_capacity(list.len());
    for (at, entry) in list.iter().enumerate() {
        let pointer = format!("{}/{at}", fields.pointer(field));
        match entry.as_object() {
            Some(object) => entries.push(Fields::new(object, pointer)),
            None => parser.invalid(pointer, format!("an entry of `{field}` is an object")),
        }
    }
    entries
}

fn errors(parser: &mut Parser, entry: &Fields<'_>) -> Option<Vec<Arc<str>>> {
    let list = entry.required_list(parser, "ErrorEquals")?;
    if list.is_empty() {
        parser.invalid(entry.pointer("ErrorEquals"), "`ErrorEquals` names at least one error");
    }
    let mut errors = Vec::with_capacity(list.len());
    for (at, error) in list.iter().enumerate() {
        match error.as_str() {
            Some(name) => errors.push(Arc::from(name)),
            None => parser.invalid(format!("{}/{at}", entry.pointer("ErrorEquals")), "the name of an error is a text"),
        }
    }
    Some(errors)
}
