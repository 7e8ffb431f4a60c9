//! How large a payload is.

use crate::Value;

/// The most bytes of JSON that a payload may have.
pub(crate) const LARGEST: usize = 262_144;
/// The deepest nesting of a payload; deeper ones are taken as too large.
const DEEPEST: usize = 512;

/// Whether the JSON text of a value is longer than `limit` bytes, or nested beyond reason.
pub(crate) fn exceeds(value: &Value, limit: usize) -> bool {
    let mut left = limit;
    !take(value, &mut left, DEEPEST)
}

/// The length of the JSON text of a value, as far as it is below `limit`.
pub(crate) fn measure(value: &Value, limit: usize) -> Option<usize> {
    let mut left = limit;
    take(value, &mut left, DEEPEST).then(|| limit - left)
}

fn take(value: &Value, left: &mut usize, depth: usize) -> bool {
    if depth == 0 {
        return false;
    }
    match value {
        Value::Null => spend(left, 4),
        Value::Bool(truth) => spend(left, if *truth { 4 } else { 5 }),
        Value::Number(number) => spend(left, digits(number)),
        Value::String(text) => spend(left, quoted(text)),
        Value::Array(list) => {
            spend(left, 2 + list.len().saturating_sub(1)) && list.iter().all(|item| take(item, left, depth - 1))
        }
        Value::Object(object) => {
            spend(left, 2 + object.len().saturating_sub(1))
                && object.iter().all(|(name, value)| spend(left, quoted(name) + 1) && take(value, left, depth - 1))
        }
    }
}

fn spend(left: &mut usize, bytes: usize) -> bool {
    match left.checked_sub(bytes) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => false,
    }
}

fn digits(number: &serde_json::Number) -> usize {
    match (number.as_i64(), number.as_u64()) {
        (Some(integer), _) => {
            let sign = usize::from(integer < 0);
            sign + integer.unsigned_abs().checked_ilog10().map_or(1, |log| log as usize + 1)
        }
        (None, Some(integer)) => integer.checked_ilog10().map_or(1, |log| log as usize + 1),
        (None, None) => number.to_string().len(),
    }
}

fn quoted(text: &str) -> usize {
    let more: usize = text
        .bytes()
        .map(|byte| match byte {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 1,
            0..0x20 => 5,
            _ => 0,
        })
        .sum();
    text.len() + 2 + more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_the_length_of_the_compact_text() {
        let text = r#"{"a":[1,-20,3.5,true,false,null,18446744073709551615],"b\n\"é":{"":"\u0001x"},"c":[]}"#;
        let value = Value::parse(text).unwrap();
        assert_eq!(measure(&value, 10_000), Some(value.to_string().len()));
        assert!(exceeds(&value, value.to_string().len() - 1));
        assert!(!exceeds(&value, value.to_string().len()));
    }
}
