//! The decoder and the schema are two descriptions of one language.

use std::collections::BTreeSet;

use super::told;
use crate::{reference::MAPPINGS, schema};

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
