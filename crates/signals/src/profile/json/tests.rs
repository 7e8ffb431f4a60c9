use proptest::prelude::*;
use serde_json::Value;

use super::super::table::Table;
use super::paths::Paths;
use super::row::Row;
use crate::options::Options;

/// The paths with a value in a line, or `None` when it is no object.
fn ours(line: &str) -> Option<Vec<String>> {
    let options = Options::default();
    let mut table = Table::new(&options, jiff::Timestamp::UNIX_EPOCH);
    let mut row = Row::default();
    row.read(line.as_bytes(), &mut table, &mut Paths::default()).ok()?;
    row.count(line.as_bytes(), &mut table);
    let mut paths: Vec<String> =
        table.columns.iter().filter(|column| column.values() > 0).map(|column| column.key.clone()).collect();
    paths.sort_unstable();
    Some(paths)
}

fn theirs(line: &str) -> Option<Vec<String>> {
    let Value::Object(members) = serde_json::from_str(line).ok()? else { return None };
    let mut paths = Vec::new();
    flatten("", &Value::Object(members), &mut paths);
    paths.sort_unstable();
    Some(paths)
}

fn flatten(path: &str, value: &Value, paths: &mut Vec<String>) {
    if !path.is_empty() && !value.is_null() {
        paths.push(path.trim_start_matches('.').to_owned());
    }
    for (key, value) in value.as_object().into_iter().flatten() {
        flatten(&format!("{path}.{}", key.replace('\\', "\\\\").replace('.', "\\.")), value, paths);
    }
}

fn soup() -> impl Strategy<Value = String> {
    let pieces = vec![
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"a\"",
        "\"b\"",
        "\"a\":",
        "\"b.c\":",
        "\"\\u00e9\":",
        "\"\\ud83d\\ude42\"",
        "\"\\ud83d\\u0041\"",
        "\"\\udd42\"",
        "\"long enough\u{1f}\"",
        "\"long enough\u{7f}é\"",
        "\"long \\n enough\"",
        "\"\\ud83d\"",
        "\"\\x\"",
        "1",
        "-0",
        "01",
        "1.",
        "1.5e-3",
        "1e+",
        "-",
        "true",
        "false",
        "null",
        "nul",
        " ",
        "\t",
        "\u{1}",
        "\"\u{1}\"",
        "\"",
        "\\",
        "{}",
        "[]",
        "{\"a\":1}",
        "[1,{\"a\":null}]",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..12).prop_map(|pieces| pieces.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    let key = prop::sample::select(vec!["a", "b", "a.b", "", "é", "\\", "\n"]).prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..4).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_json_is_what_serde_json_takes_for_it(inner in soup(), whole in any::<bool>()) {
        let line = if whole { format!("{{\"k\":{inner}}}") } else { inner };
        prop_assert_eq!(ours(&line), theirs(&line), "{}", line);
    }

    #[test]
    fn every_object_gives_its_paths(value in value(), spaced in any::<bool>()) {
        let object = serde_json::json!({ "root": value });
        let line = if spaced { serde_json::to_string_pretty(&object) } else { serde_json::to_string(&object) }.unwrap();
        prop_assert_eq!(ours(&line), theirs(&line), "{}", line);
    }
}

#[test]
fn a_control_character_in_a_string_is_wrong_wherever_it_is() {
    for at in 0..40 {
        for control in ['\0', '\t', '\u{1f}'] {
            let line = format!("{{\"k\":\"{}{control}é{}\"}}", "x".repeat(at), "y".repeat(40 - at));
            assert_eq!(ours(&line), None, "{control:?} at {at}");
        }
        let line = format!("{{\"k\":\"{} \u{7f}é{}\"}}", "x".repeat(at), "y".repeat(40 - at));
        assert_eq!(ours(&line), Some(vec!["k".to_owned()]), "{at}");
    }
}

#[test]
fn an_empty_key_is_a_column_too() {
    assert_eq!(ours("{\"\":1}"), Some(vec![String::new()]));
}
