//! The reference of the manifest language, in Markdown.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::{Map, Value};

use crate::{
    artifact::{ARTIFACT, FRESHNESS},
    compute::{LIMIT, TIER},
    fields::Shape,
    job::{CONCURRENCY, JOB, NEED},
    parameter::PARAMETER,
    schema::schema,
    timing::{RETRY, SCHEDULE, TIMEOUT},
};

/// Every mapping with known keys: its type in the schema, its heading, and its keys in the order of the reference.
pub(crate) const MAPPINGS: &[(&str, &str, &Shape)] = &[
    ("Job", "kind: job", &JOB),
    ("Parameter", "parameter", &PARAMETER),
    ("Need", "need", &NEED),
    ("Concurrency", "concurrency", &CONCURRENCY),
    ("Retry", "retry", &RETRY),
    ("Timeout", "timeout", &TIMEOUT),
    ("Artifact", "artifact", &ARTIFACT),
    ("Freshness", "freshness", &FRESHNESS),
    ("Schedule", "schedule", &SCHEDULE),
    ("Tier", "kind: tier", &TIER),
    ("Limit", "kind: limit", &LIMIT),
];

const INTRODUCTION: &str = "# Manifests\n\n\
    A fleet is a folder with manifests: files in YAML 1.2 or JSON, each with one document or more (`---` between them). A document\n\
    is a job, a tier or a limit. A file whose first document has neither `name` nor `kind` is left alone. Unknown keys are errors.\n\
    Anchors, aliases and tags are not supported; a file has at most 1 MiB.\n";

/// The reference of the manifest language: a table for each kind of document and each mapping in it, then the types of values.
pub fn reference() -> String {
    let schema = schema();
    let types = schema["$defs"].as_object().expect("the schema of several types defines them");
    let mut text = INTRODUCTION.to_owned();
    for (name, heading, shape) in MAPPINGS {
        let level = if heading.starts_with("kind") { "##" } else { "###" };
        let mapping = types.get(*name).unwrap_or(&Value::Null);
        section(&mut text, &format!("{level} {heading}"), mapping, shape, types);
    }
    text.push_str("\n## Types of values\n\n| type | meaning |\n|---|---|\n");
    let described = |value: &Value| {
        let description = with_options(value["description"].as_str()?, value);
        Some((value["title"].as_str()?.to_owned(), cell(&description)))
    };
    let leaves = types.values().filter(|value| value.get("properties").is_none());
    for (title, description) in leaves.filter_map(described).collect::<BTreeMap<_, _>>() {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "| {title} | {description} |");
    }
    text
}

fn section(text: &mut String, heading: &str, mapping: &Value, shape: &Shape, types: &Map<String, Value>) {
    let description = mapping["description"].as_str().unwrap_or_default();
    let _ = write!(text, "\n{heading}\n\n{description}\n\n| key | type | default | meaning |\n|---|---|---|---|\n");
    for key in shape.keys {
        let property = &mapping["properties"][*key];
        let required = mapping["required"].as_array().is_some_and(|required| required.iter().any(|name| name == key));
        let default = match &property["default"] {
            Value::Null if required => "required".to_owned(),
            Value::Null => String::new(),
            Value::String(word) => format!("`{word}`"),
            other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => format!("`{other}`"),
        };
        let meaning = with_options(property["description"].as_str().unwrap_or_default(), property);
        let _ = writeln!(text, "| `{key}` | {} | {default} | {} |", cell(&type_in_words(property, types)), cell(&meaning));
    }
}

/// Words that a value can be are told with what each means.
fn with_options(description: &str, schema: &Value) -> String {
    let choice = if schema["type"] == "object" { &schema["additionalProperties"] } else { schema };
    let options = choice["oneOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    let told = options.iter().filter_map(|option| Some((option["const"].as_str()?, option["description"].as_str()?)));
    let mut text = description.to_owned();
    for (word, meaning) in told {
        let _ = write!(text, " `{word}`: {}{}", meaning[..1].to_lowercase(), &meaning[1..]);
    }
    if let Some(words) = schema["enum"].as_array().filter(|words| words.len() > 1) {
        let words: Vec<String> = words.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect();
        let _ = write!(text, " One of {}.", words.join(", "));
    }
    text
}

fn type_in_words(schema: &Value, types: &Map<String, Value>) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        if let Some((_, heading, _)) = MAPPINGS.iter().find(|(mapping, _, _)| *mapping == name) {
            return format!("[{heading}](#{heading})");
        }
        return types.get(name).and_then(|value| value["title"].as_str()).unwrap_or(name).to_owned();
    }
    if let Some(options) = schema["anyOf"].as_array() {
        let options: Vec<String> = options.iter().map(|option| type_in_words(option, types)).collect();
        return options.join(" or ");
    }
    if schema.get("oneOf").is_some() || schema.get("enum").is_some() {
        return "word".to_owned();
    }
    match schema["type"].as_str() {
        Some("array") => format!("list: {}", type_in_words(&schema["items"], types)),
        Some("object") => format!("mapping to {}", type_in_words(&schema["additionalProperties"], types)),
        Some("integer") => format!("whole number{}", range_in_words(schema)),
        Some("number") => format!("number{}", range_in_words(schema)),
        Some("boolean") => "`true` or `false`".to_owned(),
        Some(_) | None => "any".to_owned(),
    }
}

fn range_in_words(schema: &Value) -> String {
    match (&schema["minimum"], &schema["maximum"]) {
        (Value::Number(least), Value::Number(most)) => format!(" from {least} to {most}"),
        (Value::Number(least), _) => format!(" from {least}"),
        (_, _) => String::new(),
    }
}

/// A table cell cannot hold a bare `|`.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
