//! JSON values as YAML: block style, every text that could be read as something else in quotes.

use serde_json::{Map, Value};

/// The value as a YAML document.
pub(crate) fn write(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Array(items) if !items.is_empty() => list(items, 0, &mut text),
        Value::Object(map) if !map.is_empty() => mapping(map, 0, &mut text),
        other => {
            text.push_str(&flat(other));
            text.push('\n');
        }
    }
    text
}

fn indent(depth: usize, text: &mut String) {
    (0..depth).for_each(|_| text.push_str("  "));
}

fn list(items: &[Value], depth: usize, text: &mut String) {
    for item in items {
        indent(depth, text);
        text.push_str("- ");
        let from = text.len();
        match item {
            Value::Array(items) if !items.is_empty() => list(items, depth + 1, text),
            Value::Object(map) if !map.is_empty() => mapping(map, depth + 1, text),
            other => {
                text.push_str(&flat(other));
                text.push('\n');
                continue;
            }
        }
        // The first line stands behind the hyphen.
        text.replace_range(from..from + 2 * (depth + 1), "");
    }
}

fn mapping(map: &Map<String, Value>, depth: usize, text: &mut String) {
    for (key, value) in map {
        indent(depth, text);
        text.push_str(&scalar(key));
        text.push(':');
        match value {
            Value::Array(items) if !items.is_empty() => {
                text.push('\n');
                list(items, depth + 1, text);
            }
            Value::Object(map) if !map.is_empty() => {
                text.push('\n');
                mapping(map, depth + 1, text);
            }
            other => {
                text.push(' ');
                text.push_str(&flat(other));
                text.push('\n');
            }
        }
    }
}

fn flat(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// Words that some reader takes for a truth value or nothing.
const WORDS: [&str; 11] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"];

fn scalar(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./ ".contains(letter);
    let safe = text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '/')
        && text.chars().all(plain)
        && !text.ends_with(' ')
        && !WORDS.contains(&text.to_ascii_lowercase().as_str());
    // What JSON escapes, YAML reads the same in double quotes; the few characters that YAML alone refuses are escaped here.
    let quoted = || Value::from(text).to_string().chars().map(printable).collect();
    if safe { text.to_owned() } else { quoted() }
}

fn printable(letter: char) -> String {
    match letter {
        '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
            format!("\\u{:04x}", u32::from(letter))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_value_has_one_reading() {
        let value = json!({
            "name": "daily-prices", "enabled": true, "empty": [], "none": {}, "nothing": null, "on": "off", "size": 3.5,
            "text": ["no: comment # here", " x", "1", "2013-02-05", "", "two\nlines", "é\u{85}", "a b"],
            "nested": [[1, 2], [], { "a": [{ "b": 1, "c": "-" }] }],
        });
        insta::assert_snapshot!(write(&value), @r#"
        name: daily-prices
        enabled: true
        empty: []
        none: {}
        nothing: null
        "on": "off"
        size: 3.5
        text:
          - "no: comment # here"
          - " x"
          - "1"
          - "2013-02-05"
          - ""
          - "two\nlines"
          - "é\u0085"
          - a b
        nested:
          - - 1
            - 2
          - []
          - a:
              - b: 1
                c: "-"
        "#);
        assert_eq!(write(&json!([])), "[]\n");
        assert_eq!(write(&json!("x")), "x\n");
    }
}
