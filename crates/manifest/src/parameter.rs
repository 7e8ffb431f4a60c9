//! `parameters`: what a caller may set.

use std::collections::{BTreeMap, BTreeSet};

use model::{Parameter, ParameterKind};
use serde_json::Value;

use crate::{
    Code,
    fields::{Fields, Shape, entries},
    node::{Content, Node, short},
    report::Report,
    value::{What, any_text, boolean, json, list, number, text, word},
};

pub(crate) const PARAMETER: Shape = Shape {
    title: "a parameter",
    keys: &["type", "default", "values", "min", "max", "description"],
    synonyms: &[("choices", "values"), ("enum", "values"), ("maximum", "max"), ("minimum", "min"), ("options", "values")],
};

const KINDS: &[(&str, ParameterKind)] = &[
    ("string", ParameterKind::String),
    ("integer", ParameterKind::Integer),
    ("number", ParameterKind::Number),
    ("boolean", ParameterKind::Boolean),
    ("date", ParameterKind::Date),
];

/// The names of the parameters, whether or not the rest of them is right; none where there is no telling.
pub(crate) fn declared_parameters(job: &Fields<'_, '_>) -> Option<BTreeSet<String>> {
    match job.get("parameters").or_else(|| job.misspelt("parameters")).map(|node| &node.content) {
        None => Some(BTreeSet::new()),
        Some(Content::Mapping(entries)) => Some(entries.iter().map(|entry| entry.key.to_string()).collect()),
        Some(Content::Scalar(_) | Content::List(_) | Content::Reported) => None,
    }
}

/// Name → parameter.
pub(crate) fn parameters(node: &Node<'_>, what: What<'_>, report: &mut Report<'_>) -> Option<BTreeMap<String, Parameter>> {
    let mut parameters = BTreeMap::new();
    // Each becomes a variable MUSTER_PARAM_…, in which `-` and `_` are one.
    let mut variables: BTreeMap<String, &str> = BTreeMap::new();
    for entry in entries(node, what, report)? {
        let name = entry.key.as_ref();
        if !is_name(name) {
            let message = format!("a parameter is named with a-z, 0-9, `-` and `_`, and this is `{}`", short(name));
            report.add(entry.key_mark, Code::BadName, message);
        } else if let Some(other) = variables.insert(name.replace('-', "_"), name) {
            let message = format!("the parameters `{other}` and `{name}` would be one variable");
            report.add(entry.key_mark, Code::VariableClash, message);
        }
        if let Some(parameter) = parameter(&entry.value, report) {
            parameters.insert(name.to_owned(), parameter);
        }
    }
    Some(parameters)
}

fn is_name(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    text.len() <= 63 && text.as_bytes().first().is_some_and(u8::is_ascii_lowercase) && text.bytes().all(legal)
}

fn parameter(node: &Node<'_>, report: &mut Report<'_>) -> Option<Parameter> {
    let fields = Fields::of(node, What::Member("parameters"), &PARAMETER, report)?;
    let before = report.problems.len();
    let description = fields.optional("description", report, |node, what, report| text(node, what, report).map(str::to_owned));
    let kind = fields.required("type", report, |node, what, report| word(node, what, KINDS, report))?;
    let mut parameter = Parameter { kind, default: None, values: Vec::new(), min: None, max: None, description };
    bounds(&fields, &mut parameter, report);
    if let Some(values) = fields.optional("values", report, |node, what, report| values(node, what, &parameter, report)) {
        parameter.values = values;
    }
    // Bounds or values that are wrong would make the default look wrong too.
    if report.problems.len() == before {
        parameter.default = fields.optional("default", report, |node, what, report| fitting(node, what, &parameter, report));
    }
    Some(parameter)
}

fn bounds(fields: &Fields<'_, '_>, parameter: &mut Parameter, report: &mut Report<'_>) {
    let numeric = match parameter.kind {
        ParameterKind::Integer | ParameterKind::Number => true,
        ParameterKind::String | ParameterKind::Boolean | ParameterKind::Date => false,
    };
    if !numeric {
        for (key, node) in [("min", fields.get("min")), ("max", fields.get("max"))] {
            if let Some(node) = node.filter(|node| !node.is_reported()) {
                report.add(node.mark, Code::BadParameter, format!("`{key}` is for parameters of type integer or number"));
            }
        }
        return;
    }
    parameter.min = fields.optional("min", report, number);
    parameter.max = fields.optional("max", report, number);
    if let (Some(min), Some(max), Some(node)) = (parameter.min, parameter.max, fields.get("max"))
        && min > max
    {
        report.add(node.mark, Code::BadParameter, format!("`max` is below `min`: {max} and {min}"));
    }
}

fn values(node: &Node<'_>, what: What<'static>, parameter: &Parameter, report: &mut Report<'_>) -> Option<Vec<Value>> {
    let mut values = Vec::new();
    list(node, what, report, |node, what, report| {
        let value = fitting(node, what, parameter, report)?;
        if values.contains(&value) {
            report.add(node.mark, Code::ListedTwice, format!("{what} must stand there once, and {value} stands there twice"));
        }
        values.push(value);
        Some(())
    })?;
    if matches!(&node.content, Content::List(elements) if elements.is_empty()) {
        report.add(node.mark, Code::Empty, "`values` must list a value, or be left out");
    }
    Some(values)
}

/// A value that the parameter takes.
fn fitting(node: &Node<'_>, what: What<'_>, parameter: &Parameter, report: &mut Report<'_>) -> Option<Value> {
    let value = match parameter.kind {
        ParameterKind::String | ParameterKind::Date => Value::from(any_text(node, what, report)?),
        ParameterKind::Boolean => Value::from(boolean(node, what, report)?),
        ParameterKind::Integer | ParameterKind::Number => {
            number(node, what, report)?;
            json(node, what, report)?
        }
    };
    match parameter.check(&value) {
        Ok(()) => Some(value),
        Err(sentence) => {
            report.add(node.mark, Code::BadParameter, format!("{what} does not fit the parameter: {sentence}"));
            None
        }
    }
}
