//! Between our values and those of the JSONata crate.

use std::sync::Arc;

use jsonata_core::value::JValue;

use crate::{Map, Value, value::whole};

pub(super) fn to_jsonata(value: &Value) -> JValue {
    match value {
        Value::Null => JValue::Null,
        Value::Bool(truth) => JValue::Bool(*truth),
        Value::Number(number) => JValue::Number(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => JValue::string(&**text),
        Value::Array(list) => JValue::array(list.iter().map(to_jsonata).collect()),
        Value::Object(object) => {
            JValue::object(object.iter().map(|(name, value)| (name.to_string(), to_jsonata(value))).collect())
        }
    }
}

/// The deepest value that is taken; anything deeper is beyond the limit of a payload.
const DEEPEST: usize = 512;

/// None for a function, something that holds one, and what nests too deeply.
pub(super) fn from_jsonata(value: &JValue) -> Option<Value> {
    below(value, DEEPEST)
}

fn below(value: &JValue, depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    Some(match value {
        JValue::Null | JValue::Undefined => Value::Null,
        JValue::Bool(truth) => Value::Bool(*truth),
        JValue::Number(number) => whole(*number).map_or_else(|| Value::from(*number), Value::from),
        JValue::String(text) => Value::String(Arc::from(&**text)),
        JValue::Array(list) => list.iter().map(|item| below(item, depth)).collect::<Option<Vec<_>>>()?.into(),
        JValue::Object(_) => {
            let mut object = Map::new();
            for (name, member) in value.as_object()?.iter().filter(|(_, member)| !member.is_undefined()) {
                object.insert(name.as_str(), below(member, depth)?);
            }
            object.into()
        }
        JValue::Lambda(_) | JValue::Builtin { .. } | JValue::Regex { .. } => return None,
    })
}
