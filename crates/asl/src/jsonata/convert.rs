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

/// None for a function, or something that holds one.
pub(super) fn from_jsonata(value: &JValue) -> Option<Value> {
    Some(match value {
        JValue::Null | JValue::Undefined => Value::Null,
        JValue::Bool(truth) => Value::Bool(*truth),
        JValue::Number(number) => whole(*number).map_or_else(|| Value::from(*number), Value::from),
        JValue::String(text) => Value::String(Arc::from(&**text)),
        JValue::Array(list) => list.iter().map(from_jsonata).collect::<Option<Vec<_>>>()?.into(),
        JValue::Object(_) => {
            let mut object = Map::new();
            for (name, member) in value.as_object()? {
                if !member.is_undefined() {
                    object.insert(name.as_str(), from_jsonata(member)?);
                }
            }
            object.into()
        }
        JValue::Lambda(_) | JValue::Builtin { .. } | JValue::Regex { .. } => return None,
    })
}
