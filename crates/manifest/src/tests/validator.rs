//! As much of JSON Schema as ours uses: an unknown keyword is a failed test, so that none is passed over.

use regex_lite::Regex;
use serde_json::Value;

/// Whether `value` is valid under `schema`, a part of `root`.
pub(super) fn is_valid(value: &Value, schema: &Value, root: &Value) -> bool {
    let keywords = schema.as_object().expect("our schemas are mappings");
    keywords.iter().all(|(keyword, rule)| holds(keyword, rule, value, schema, root))
}

fn holds(keyword: &str, rule: &Value, value: &Value, schema: &Value, root: &Value) -> bool {
    let among = |rules: &Value| rules.as_array().unwrap().iter().filter(|rule| is_valid(value, rule, root)).count();
    let length = |value: &Value| value.as_str().map(|text| text.chars().count());
    let limit = || usize::try_from(rule.as_u64().unwrap()).unwrap();
    match keyword {
        "$schema" | "$defs" | "title" | "description" | "default" => true,
        "$ref" => is_valid(value, root.pointer(&rule.as_str().unwrap()[1..]).unwrap(), root),
        "type" => match rule {
            Value::Array(types) => types.iter().any(|name| has_type(value, name.as_str().unwrap())),
            name => has_type(value, name.as_str().unwrap()),
        },
        "const" => value == rule,
        "enum" => rule.as_array().unwrap().contains(value),
        "anyOf" => among(rule) > 0,
        "oneOf" => among(rule) == 1,
        "pattern" => value.as_str().is_none_or(|text| Regex::new(rule.as_str().unwrap()).unwrap().is_match(text)),
        "minLength" => length(value).is_none_or(|length| length >= limit()),
        "maxLength" => length(value).is_none_or(|length| length <= limit()),
        "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|number| number <= rule.as_f64().unwrap()),
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| is_valid(item, rule, root))),
        "minItems" => value.as_array().is_none_or(|items| items.len() >= limit()),
        "uniqueItems" => {
            value.as_array().is_none_or(|items| items.iter().enumerate().all(|(index, item)| !items[..index].contains(item)))
        }
        "required" => {
            value.as_object().is_none_or(|map| rule.as_array().unwrap().iter().all(|key| map.contains_key(key.as_str().unwrap())))
        }
        "properties" => value
            .as_object()
            .is_none_or(|map| map.iter().all(|(key, value)| rule.get(key).is_none_or(|rule| is_valid(value, rule, root)))),
        "propertyNames" => {
            value.as_object().is_none_or(|map| map.keys().all(|key| is_valid(&Value::from(key.as_str()), rule, root)))
        }
        "additionalProperties" => value.as_object().is_none_or(|map| {
            let others = map.iter().filter(|(key, _)| schema.get("properties").is_none_or(|known| known.get(key).is_none()));
            others.into_iter().all(|(_, value)| if rule.is_boolean() { rule == true } else { is_valid(value, rule, root) })
        }),
        other => panic!("the keyword {other} is not covered"),
    }
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the type {other} is not covered"),
    }
}
