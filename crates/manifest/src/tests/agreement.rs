//! The decoder and the schema are two descriptions of one language.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{fleet, source, told, validator::is_valid};
use crate::{
    parse::parse,
    place::Readable,
    reference,
    reference::MAPPINGS,
    report::Report,
    schema,
    value::{What, json},
};

#[test]
fn decoder_and_schema_know_the_same_keys() {
    let schema = schema();
    let types = schema["$defs"].as_object().unwrap();
    let mappings: BTreeSet<&str> =
        types.iter().filter(|(_, value)| value.get("properties").is_some()).map(|(name, _)| name.as_str()).collect();
    assert_eq!(mappings, MAPPINGS.iter().map(|(name, _, _)| *name).collect());
    for (name, _, shape) in MAPPINGS {
        let of_schema: BTreeSet<&str> = types[*name]["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(of_schema, shape.keys.iter().copied().collect(), "{name}");
        assert_eq!(types[*name]["additionalProperties"], false, "{name} must refuse unknown keys");
    }
}

#[test]
fn decoder_and_schema_require_the_same_keys() {
    let schema = schema();
    for (name, _, shape) in MAPPINGS {
        let problems = told(&document(name, ""));
        // The kind says which mapping it is, so that the decoder cannot miss it there.
        for key in shape.keys.iter().filter(|key| **key != "kind") {
            let required =
                schema["$defs"][*name]["required"].as_array().is_some_and(|keys| keys.iter().any(|other| other == key));
            let missed = problems.iter().any(|problem| problem.ends_with(&format!("needs the key `{key}`")));
            assert_eq!(required, missed, "{name}.{key}: {problems:?}");
        }
    }
}

/// A key that is known but never read would be silently ignored: a value that fits no key must be noticed at each.
#[test]
fn the_decoder_reads_every_key_it_knows() {
    // What stands in a schedule is kept unread.
    for (name, _, shape) in MAPPINGS.iter().filter(|(name, _, _)| *name != "Schedule") {
        for key in shape.keys.iter().filter(|key| **key != "kind") {
            let typed = if *name == "Parameter" && *key != "type" { "type: number, " } else { "" };
            let text = document(name, &format!("{typed}{key}: [[{{}}]]"));
            let value = 1 + text.lines().last().unwrap().find("[[{}]]").unwrap();
            let problems = told(&text);
            let noticed =
                (value..value + 3).any(|column| problems.iter().any(|problem| problem.starts_with(&format!("4:{column} "))));
            assert!(noticed, "{name}.{key} is not read: {problems:?}\n{text}");
        }
    }
}

/// A manifest whose second document holds a mapping of type `name` with `entries` in line 4.
fn document(name: &str, entries: &str) -> String {
    let (before, after) = match name {
        "Job" => ("", ""),
        "Tier" => ("kind: tier, ", ""),
        "Limit" => ("kind: limit, ", ""),
        "Parameter" => ("name: a, run: [a], parameters: { x: { ", " } }"),
        "Need" => ("name: a, run: [a], needs: [ { ", " } ]"),
        "Artifact" => ("name: a, run: [a], artifacts: [ { ", " } ]"),
        "Freshness" => ("name: a, run: [a], artifacts: [ { path: a, freshness: { ", " } } ]"),
        "Concurrency" => ("name: a, run: [a], concurrency: { ", " }"),
        "Retry" => ("name: a, run: [a], retry: { ", " }"),
        "Timeout" => ("name: a, run: [a], timeout: { ", " }"),
        "Schedule" => ("name: a, run: [a], schedule: { ", " }"),
        other => panic!("say how a document holds a mapping of type {other}"),
    };
    format!("name: first\nrun: [a]\n---\n{{ {before}{entries}{after} }}")
}

/// The documents of a text as JSON.
pub(super) fn documents(text: &str) -> Vec<Value> {
    let (readable, mut report) = (Readable::json(text), Report::new("a.yaml"));
    let documents = parse(&readable, &mut report).documents;
    let values = documents.iter().map(|node| json(node, What::Document, &mut report).unwrap()).collect();
    assert_eq!(report.problems, []);
    values
}

#[test]
fn what_the_decoder_takes_is_valid_under_the_schema() {
    let schema = schema();
    let texts = [include_str!("good/units.yaml"), include_str!("good/tiers.yaml"), include_str!("good/more.json")];
    for document in texts.into_iter().flat_map(documents) {
        assert!(is_valid(&document, &schema, &schema), "{document:#}");
    }
}

#[test]
fn decoder_and_schema_agree_on_single_values() {
    let schema = schema();
    let cases = [
        ("name: a", ["A", "a_b", "-a", "a-", "\"\"", "5", "null", "[a]"].as_slice(), ["b", "b-1", "\"0-9\"", "\"5\""].as_slice()),
        ("run: [a]", &["[]", "a", "[1]", "[true]", "{ a: b }"], &["[a, \"\"]", "[\"{{ slot | date }}\"]"]),
        ("enabled: true", &["yes", "\"true\"", "1"], &["false", "True"]),
        ("tags: [a]", &["a", "[\" \"]", "[1]", "[a, a]"], &["[]", "[a b, c]"]),
        ("priority: 1", &["101", "-101", "1.5", "\"1\""], &["-100", "0x10"]),
        (
            "timeout: 1s",
            &["1", "s", "1.5s", "5m2h", "10 s", "\"\"", "-1s", "{ running: 1 }", "{ run: 1s }"],
            &["1h30m", "{ stopping: 0 }"],
        ),
        (
            "retry: { attempts: 1 }",
            &["3", "{ attempts: 0 }", "{ attempts: 1, backoff: 10s.. }"],
            &["{ attempts: 2, backoff: 1s..1m5s }"],
        ),
        (
            "retry: { attempts: 2, on: [75] }",
            &[
                "{ attempts: 2, on: [256] }",
                "{ attempts: 2, on: [nope] }",
                "{ attempts: 2, on: [refused] }",
                "{ attempts: 2, on: [] }",
            ],
            &["{ attempts: 2, on: [1, timed_out] }"],
        ),
        ("concurrency: 1", &["0", "{ per: x }", "a"], &["{ limit: 3 }", "1000000"]),
        (
            "exit_codes: { 3: fail }",
            &["{ 256: fail }", "{ x: fail }", "{ 3: maybe }", "{ -1: fail }"],
            &["{ 0: retry, 255: success }"],
        ),
        ("environment: { A: x }", &["{ A: 1 }", "{ 1A: x }", "{ A-B: x }", "[A]"], &["{ _a1: \"\" }"]),
        ("secrets: { A: x }", &["{ A: /x }", "{ A: x/ }", "{ A: \"a b\" }"], &["{ A: x/y-z_1.2 }"]),
        (
            "parameters: { a: { type: date } }",
            &["{ A: { type: date } }", "{ a: { type: day } }", "{ a: date }"],
            &["{ a_b-1: { type: number, min: -1.5 } }"],
        ),
        (
            "artifacts: [{ path: a }]",
            &["[a]", "[{ path: a, format: xls }]", "[{ path: a, key: [] }]"],
            &["[]", "[{ path: \"**/*.csv\", checks: [\"rows > 1\"] }]"],
        ),
        ("location: a", &["\"\"", "5", "null"], &["../x", "/"]),
        ("kind: job", &["flow", "Job", "5"], &["job"]),
    ];
    for (entry, bad, good) in cases {
        let key = entry.split(':').next().unwrap();
        let whole = |value: &str| {
            let others = ["name: a", "run: [a]"].into_iter().filter(|other| !other.starts_with(&format!("{key}:")));
            others.map(str::to_owned).chain([format!("{key}: {value}")]).collect::<Vec<_>>().join("\n")
        };
        for (value, right) in bad.iter().map(|value| (*value, false)).chain(good.iter().map(|value| (*value, true))) {
            let text = whole(value);
            assert_eq!(told(&text).is_empty(), right, "the decoder on {text:?}: {:?}", told(&text));
            assert_eq!(is_valid(&documents(&text)[0], &schema, &schema), right, "the schema on {text:?}");
        }
    }
}

#[test]
fn a_default_that_is_written_out_changes_nothing() {
    let schema = schema();
    let minimal = |name: &str| match name {
        "Job" => "name: a, run: [a]",
        "Tier" | "Limit" => "name: t",
        "Need" => "unit: first",
        "Artifact" => "path: a",
        _ => "",
    };
    let mut compared = 0;
    for (name, _, shape) in MAPPINGS {
        for (key, default) in
            shape.keys.iter().filter_map(|key| Some((key, schema["$defs"][*name]["properties"][*key].get("default")?)))
        {
            let separator = if minimal(name).is_empty() { "" } else { ", " };
            let written = document(name, &format!("{}{separator}{key}: {default}", minimal(name)));
            let left_out = document(name, minimal(name));
            let definitions = |text: &str| fleet(&[source("a.yaml", text)]).definitions;
            assert_eq!(definitions(&written), definitions(&left_out), "{name}.{key}");
            compared += 1;
        }
    }
    assert!(compared > 10, "the schema states defaults");
}

#[test]
fn the_reference_tells_every_key() {
    let reference = reference();
    for (name, heading, shape) in MAPPINGS {
        let section = reference.split("\n#").find(|section| section.trim_start_matches('#').trim_start().starts_with(heading));
        let section = section.unwrap_or_else(|| panic!("{name} has no section"));
        for key in shape.keys {
            let row = section.lines().find(|line| line.starts_with(&format!("| `{key}` |")));
            let row = row.unwrap_or_else(|| panic!("{name}.{key} has no row"));
            let cells: Vec<&str> = row.split(" | ").collect();
            assert!(cells.len() == 4 && cells[1] != "any" || *name == "Schedule", "{row}");
            assert!(cells.last().is_some_and(|meaning| meaning.len() > 4), "{row}");
        }
    }
}
