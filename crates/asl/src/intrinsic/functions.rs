//! What each intrinsic function gives, or why it cannot.

use std::collections::HashSet;
use std::fmt::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Number;
use sha2::Digest;

use super::{Function, text};
use crate::random::Random;
use crate::{Map, Value};

/// The longest text that the encoding and hashing functions take, in characters.
const LONGEST_TEXT: usize = 10_000;
/// The most items that `States.ArrayRange` gives.
const LONGEST_RANGE: i64 = 1_000;

type Outcome = Result<Value, String>;

pub(super) fn call(function: Function, values: &[Value], random: &mut Random) -> Outcome {
    match (function, values) {
        (Function::Array, items) => Ok(items.to_vec().into()),
        (Function::ArrayContains, [list, item]) => Ok(array(list)?.iter().any(|member| alike(member, item)).into()),
        (Function::ArrayGetItem, [list, index]) => {
            let (list, index) = (array(list)?, integer(index)?);
            let item = usize::try_from(index).ok().and_then(|index| list.get(index));
            item.cloned().ok_or_else(|| format!("the index {index} is out of bounds"))
        }
        (Function::ArrayLength, [list]) => Ok(Value::Number(Number::from(array(list)?.len()))),
        (Function::ArrayPartition, [list, size]) => partition(array(list)?, integer(size)?),
        (Function::ArrayRange, [from, to, by]) => range(integer(from)?, integer(to)?, integer(by)?),
        (Function::ArrayUnique, [list]) => Ok(unique(array(list)?)),
        (Function::Base64Encode, [text]) => Ok(STANDARD.encode(short(text)?).into()),
        (Function::Base64Decode, [text]) => {
            let bytes = STANDARD.decode(short(text)?).map_err(|error| format!("the text is not base64: {error}"))?;
            String::from_utf8(bytes).map(Value::from).map_err(|_| "the decoded bytes are not text".to_owned())
        }
        (Function::Format, [template, values @ ..]) => text::format(string(template)?, values),
        (Function::Hash, [data, algorithm]) => hash(data, string(algorithm)?),
        (Function::JsonMerge, [one, two, deep]) => merge(one, two, deep),
        (Function::JsonToString, [value]) => Ok(value.to_string().into()),
        (Function::MathAdd, [one, two]) => {
            let sum = rounded(one)?.checked_add(rounded(two)?).ok_or("the sum is out of range")?;
            Ok(sum.into())
        }
        (Function::MathRandom, [from, to]) => between(rounded(from)?, rounded(to)?, random),
        (Function::MathRandom, [from, to, seed]) => {
            #[expect(clippy::cast_sign_loss, reason = "a seed is bits, not a quantity")]
            let seed = rounded(seed)? as u64;
            between(rounded(from)?, rounded(to)?, &mut Random::new(seed))
        }
        (Function::StringSplit, [text, separators]) => {
            let (text, separators) = (string(text)?, string(separators)?);
            let tokens = text.split(|next| separators.contains(next)).filter(|token| !token.is_empty());
            Ok(tokens.map(Value::from).collect::<Vec<_>>().into())
        }
        (Function::StringToJson, [text]) => {
            let text = string(text)?;
            if text.trim().is_empty() {
                return Ok(Value::Null);
            }
            Value::parse(text).map_err(|error| format!("the text is not JSON: {error}"))
        }
        (Function::Uuid, []) => Ok(random.uuid().into()),
        (
            Function::ArrayContains
            | Function::ArrayGetItem
            | Function::ArrayLength
            | Function::ArrayPartition
            | Function::ArrayRange
            | Function::ArrayUnique
            | Function::Base64Encode
            | Function::Base64Decode
            | Function::Format
            | Function::Hash
            | Function::JsonMerge
            | Function::JsonToString
            | Function::MathAdd
            | Function::MathRandom
            | Function::StringSplit
            | Function::StringToJson
            | Function::Uuid,
            _,
        ) => Err("the number of arguments is wrong".to_owned()),
    }
}

fn array(value: &Value) -> Result<&[Value], String> {
    value.as_array().ok_or_else(|| format!("expected an array but found a {}", value.type_name()))
}

fn string(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| format!("expected a string but found a {}", value.type_name()))
}

fn short(value: &Value) -> Result<&str, String> {
    let text = string(value)?;
    if text.chars().count() > LONGEST_TEXT {
        return Err(format!("the text is longer than {LONGEST_TEXT} characters"));
    }
    Ok(text)
}

fn integer(value: &Value) -> Result<i64, String> {
    match value {
        Value::Number(_) => rounded(value),
        other => Err(format!("expected a number but found a {}", other.type_name())),
    }
}

/// The nearest whole number; a half goes up (towards plus infinity).
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "checked to be in range")]
fn rounded(value: &Value) -> Result<i64, String> {
    let number = value.as_number().ok_or_else(|| format!("expected a number but found a {}", value.type_name()))?;
    if let Some(integer) = number.as_i64() {
        return Ok(integer);
    }
    let nearest = number.as_f64().map(|float| (float + 0.5).floor());
    nearest
        .filter(|float| float.abs() < i64::MAX as f64)
        .map(|float| float as i64)
        .ok_or_else(|| format!("the number {number} is out of range"))
}

fn partition(list: &[Value], size: i64) -> Outcome {
    let size = usize::try_from(size).ok().filter(|size| *size > 0).ok_or("the chunk size must be positive")?;
    Ok(list.chunks(size).map(|chunk| Value::from(chunk.to_vec())).collect::<Vec<_>>().into())
}

fn range(from: i64, to: i64, by: i64) -> Outcome {
    if by == 0 {
        return Err("the step must not be zero".to_owned());
    }
    let distance = to.checked_sub(from).ok_or("the range is too long")?;
    let steps = distance / by;
    if distance != 0 && (distance > 0) != (by > 0) {
        return Ok(Value::from(Vec::new()));
    }
    if steps >= LONGEST_RANGE {
        return Err(format!("the range has more than {LONGEST_RANGE} items"));
    }
    Ok((0..=steps).map(|step| Value::from(from + step * by)).collect::<Vec<_>>().into())
}

fn unique(list: &[Value]) -> Value {
    let mut seen = HashSet::with_capacity(list.len());
    let kept = list.iter().filter(|item| seen.insert(key(item)));
    kept.cloned().collect::<Vec<_>>().into()
}

/// A text that is the same for values that are alike: numbers by size, objects in any order.
fn key(value: &Value) -> String {
    match value {
        Value::Number(number) => number.as_f64().map(|float| float.to_string()).unwrap_or_default(),
        Value::Array(list) => format!("[{}]", list.iter().map(key).collect::<Vec<_>>().join(",")),
        Value::Object(object) => {
            let mut members: Vec<String> = object.iter().map(|(name, value)| format!("{:?}:{}", name, key(value))).collect();
            members.sort_unstable();
            format!("{{{}}}", members.join(","))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.to_string(),
    }
}

fn alike(one: &Value, two: &Value) -> bool {
    match (one.as_f64(), two.as_f64()) {
        (Some(one), Some(two)) => one == two,
        _ => one == two,
    }
}

fn merge(one: &Value, two: &Value, deep: &Value) -> Outcome {
    match deep {
        Value::Bool(false) => {}
        Value::Bool(true) => return Err("only a shallow merge is supported: the third argument must be false".to_owned()),
        other => return Err(format!("expected a boolean but found a {}", other.type_name())),
    }
    let (Some(one), Some(two)) = (one.as_object(), two.as_object()) else {
        return Err("only objects can be merged".to_owned());
    };
    let mut merged: Map = one.clone();
    for (name, value) in two.iter() {
        merged.insert(std::sync::Arc::clone(name), value.clone());
    }
    Ok(merged.into())
}

fn hash(data: &Value, algorithm: &str) -> Outcome {
    let data = match data {
        Value::String(_) => short(data)?.to_owned(),
        other => other.to_string(),
    };
    digest(data.as_bytes(), algorithm).map(Value::from).ok_or_else(|| format!("there is no hash algorithm `{algorithm}`"))
}

/// The hash of some bytes in hexadecimal, if the algorithm is one of those that the language knows.
pub(crate) fn digest(data: &[u8], algorithm: &str) -> Option<String> {
    let hash: Vec<u8> = match algorithm {
        "MD5" => md5::Md5::digest(data).to_vec(),
        "SHA-1" => sha1::Sha1::digest(data).to_vec(),
        "SHA-256" => sha2::Sha256::digest(data).to_vec(),
        "SHA-384" => sha2::Sha384::digest(data).to_vec(),
        "SHA-512" => sha2::Sha512::digest(data).to_vec(),
        _ => return None,
    };
    let mut text = String::with_capacity(hash.len() * 2);
    for byte in hash {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
    }
    Some(text)
}

fn between(from: i64, to: i64, random: &mut Random) -> Outcome {
    let width = to.checked_sub(from).ok_or("the range is too wide")?;
    let width = u64::try_from(width).ok().filter(|width| *width > 0).ok_or("the end must be after the start")?;
    #[expect(clippy::cast_possible_wrap, reason = "less than a width that is a positive i64")]
    let step = random.below(width) as i64;
    Ok((from + step).into())
}
