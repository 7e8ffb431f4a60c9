//! Variables of a unit: set, copied, or filled with a secret.

use std::collections::{BTreeMap, BTreeSet};

use model::Template;

use crate::{
    Code,
    fields::{Fields, entries},
    job::once,
    node::{Content, Mark, Node, short},
    report::Report,
    template::template,
    value::{What, list, text},
};

/// `environment`: name → text with holes.
pub(crate) fn environment(
    node: &Node<'_>,
    what: What<'_>,
    known: Option<&BTreeSet<String>>,
    report: &mut Report<'_>,
) -> Option<BTreeMap<String, Template>> {
    let mut variables = BTreeMap::new();
    for entry in entries(node, what, report)? {
        let named = variable(&entry.key, entry.key_mark, report);
        let value = template(&entry.value, What::Member("environment"), known, report);
        if let (true, Some(value)) = (named, value) {
            variables.insert(entry.key.to_string(), value);
        }
    }
    Some(variables)
}

/// `pass_environment`: names.
pub(crate) fn pass_environment(node: &Node<'_>, what: What<'static>, report: &mut Report<'_>) -> Option<Vec<String>> {
    let mut seen = BTreeSet::new();
    list(node, what, report, |node, what, report| {
        let name = text(node, what, report)?;
        let good = variable(name, node.mark, report) && once(&mut seen, name, node.mark, what, report);
        good.then(|| name.to_owned())
    })
}

/// `secrets`: name → reference.
pub(crate) fn secrets(node: &Node<'_>, what: What<'_>, report: &mut Report<'_>) -> Option<BTreeMap<String, String>> {
    let mut secrets = BTreeMap::new();
    for entry in entries(node, what, report)? {
        let named = variable(&entry.key, entry.key_mark, report);
        let reference = text(&entry.value, What::Member("secrets"), report);
        if let Some(reference) = reference.filter(|reference| !is_reference(reference)) {
            let message =
                format!("the reference of a secret is a path such as prices/api-key, and this is `{}`", short(reference));
            let hint = "a secret's value never stands in a manifest".to_owned();
            report.add_with(entry.value.mark, Code::BadReference, message, Some(hint));
        } else if let (true, Some(reference)) = (named, reference) {
            secrets.insert(entry.key.to_string(), reference.to_owned());
        }
    }
    Some(secrets)
}

fn is_reference(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let part = |part: &str| !part.is_empty() && part.bytes().all(legal) && !part.bytes().all(|byte| byte == b'.');
    text.len() <= 512 && text.split('/').all(part)
}

/// Whether `name` can be a variable that a manifest sets; reported where not.
fn variable(name: &str, mark: Mark, report: &mut Report<'_>) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let starts_well = name.as_bytes().first().is_some_and(|byte| !byte.is_ascii_digit());
    if !starts_well || !name.bytes().all(legal) {
        let message = format!("a variable is named with letters, digits and `_`, and this is `{}`", short(name));
        report.add(mark, Code::BadVariable, message);
        return false;
    }
    let reserved = name.starts_with("MUSTER_") || name == "TRACEPARENT";
    if reserved {
        report.add(mark, Code::ReservedVariable, format!("`{name}` is set by Muster and cannot be set here"));
    }
    !reserved
}

/// A variable has one source: two of `secrets`, `environment` and `pass_environment` would shadow each other.
pub(crate) fn refuse_clashes(fields: &Fields<'_, '_>, report: &mut Report<'_>) {
    let mut sources: BTreeMap<&str, (&'static str, Mark)> = BTreeMap::new();
    for key in ["environment", "secrets", "pass_environment"] {
        for (name, mark) in fields.get(key).map(names).unwrap_or_default() {
            match sources.get(name) {
                Some((first, place)) if *first != key => {
                    let message = format!("`{}` is set in `{first}` (line {}) and in `{key}`", short(name), place.line);
                    report.add_with(mark, Code::VariableClash, message, Some("keep one of them".to_owned()));
                }
                Some(_) => {}
                None => drop(sources.insert(name, (key, mark))),
            }
        }
    }
}

fn names<'n>(node: &'n Node<'_>) -> Vec<(&'n str, Mark)> {
    match &node.content {
        Content::Mapping(entries) => entries.iter().map(|entry| (entry.key.as_ref(), entry.key_mark)).collect(),
        Content::List(elements) => {
            let named = |node: &'n Node<'_>| crate::value::scalar(node).map(|scalar| (scalar.text.as_ref(), node.mark));
            elements.iter().filter_map(named).collect()
        }
        Content::Scalar(_) | Content::Reported => Vec::new(),
    }
}
