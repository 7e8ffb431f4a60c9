//! The values that flow between states: JSON, cheap to copy.

use std::fmt;
use std::sync::Arc;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Number;

use crate::Map;

/// A JSON value whose copies share their content.
///
/// Copying costs a reference count whatever the size; changing a shared value copies only the objects and lists on
/// the way to the change. It reads and writes JSON through serde, and converts from and to [`serde_json::Value`].
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number
    Number(Number),
    /// A string
    String(Arc<str>),
    /// A list
    Array(Arc<Vec<Value>>),
    /// An object
    Object(Arc<Map>),
}

impl Value {
    /// An object without members.
    #[must_use]
    pub fn empty_object() -> Value {
        Value::Object(Arc::new(Map::new()))
    }

    /// Reads JSON text.
    ///
    /// # Errors
    /// Where the text is not JSON, or nests deeper than 128 levels.
    pub fn parse(text: &str) -> Result<Value, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The member `name`, if this is an object that has one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.as_object().and_then(|object| object.get(name))
    }

    /// The string, if this is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Value::String(text) = self { Some(text) } else { None }
    }

    /// The truth value, if this is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(truth) = self { Some(*truth) } else { None }
    }

    /// The number, if this is one.
    #[must_use]
    pub fn as_number(&self) -> Option<&Number> {
        if let Value::Number(number) = self { Some(number) } else { None }
    }

    /// The number as a float, if this is one.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number().and_then(Number::as_f64)
    }

    /// The whole number, if this is one written without fraction or exponent, or one whose fraction is zero.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        let number = self.as_number()?;
        number.as_i64().or_else(|| number.as_f64().and_then(whole))
    }

    /// The list, if this is one.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Value]> {
        if let Value::Array(list) = self { Some(list) } else { None }
    }

    /// The object, if this is one.
    #[must_use]
    pub fn as_object(&self) -> Option<&Map> {
        if let Value::Object(object) = self { Some(object) } else { None }
    }

    /// Whether this is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The name that JSON has for the type of this value.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }
    }

    /// Whether both are the very same content in memory (or equal scalars): a cheap, sufficient test of equality.
    pub(crate) fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Array(one), Value::Array(two)) => Arc::ptr_eq(one, two),
            (Value::Object(one), Value::Object(two)) => Arc::ptr_eq(one, two),
            (Value::String(one), Value::String(two)) => Arc::ptr_eq(one, two),
            (Value::Null, Value::Null) => true,
            (Value::Bool(one), Value::Bool(two)) => one == two,
            (Value::Number(one), Value::Number(two)) => one == two,
            (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_), _) => false,
        }
    }
}

/// The whole number that a float stands for, where it stands for one exactly.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "checked to be whole and in range")]
pub(crate) fn whole(float: f64) -> Option<i64> {
    (float.fract() == 0.0 && float.abs() < i64::MAX as f64).then_some(float as i64)
}

/// Compact JSON text.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Value::Bool(truth)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::String(Arc::from(text))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::String(Arc::from(text))
    }
}

impl From<Arc<str>> for Value {
    fn from(text: Arc<str>) -> Value {
        Value::String(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Number(number.into())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Number(number.into())
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Value {
        Value::Number(number.into())
    }
}

/// A float without a JSON spelling (NaN, infinity) becomes `null`.
impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Number::from_f64(number).map_or(Value::Null, Value::Number)
    }
}

impl From<Vec<Value>> for Value {
    fn from(list: Vec<Value>) -> Value {
        Value::Array(Arc::new(list))
    }
}

impl From<Map> for Value {
    fn from(object: Map) -> Value {
        Value::Object(Arc::new(object))
    }
}

impl From<serde_json::Value> for Value {
    fn from(json: serde_json::Value) -> Value {
        match json {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(truth) => Value::Bool(truth),
            serde_json::Value::Number(number) => Value::Number(number),
            serde_json::Value::String(text) => Value::from(text),
            serde_json::Value::Array(list) => list.into_iter().map(Value::from).collect::<Vec<_>>().into(),
            serde_json::Value::Object(object) => object.into_iter().collect::<Map>().into(),
        }
    }
}

impl From<&Value> for serde_json::Value {
    fn from(value: &Value) -> serde_json::Value {
        match value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(truth) => serde_json::Value::Bool(*truth),
            Value::Number(number) => serde_json::Value::Number(number.clone()),
            Value::String(text) => serde_json::Value::String(text.to_string()),
            Value::Array(list) => serde_json::Value::Array(list.iter().map(Into::into).collect()),
            Value::Object(object) => {
                serde_json::Value::Object(object.iter().map(|(name, value)| (name.to_string(), value.into())).collect())
            }
        }
    }
}

impl From<Value> for serde_json::Value {
    fn from(value: Value) -> serde_json::Value {
        (&value).into()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => to.serialize_unit(),
            Value::Bool(truth) => to.serialize_bool(*truth),
            Value::Number(number) => number.serialize(to),
            Value::String(text) => to.serialize_str(text),
            Value::Array(list) => {
                let mut seq = to.serialize_seq(Some(list.len()))?;
                for item in list.iter() {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Value::Object(object) => {
                let mut map = to.serialize_map(Some(object.len()))?;
                for (name, value) in object.iter() {
                    map.serialize_entry(&**name, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
        from.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        Value::deserialize(from)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
        Ok(Value::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::from(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::with_capacity(items.size_hint().unwrap_or(0).min(1024));
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::with_capacity(members.size_hint().unwrap_or(0).min(1024));
        while let Some((name, value)) = members.next_entry::<Name, Value>()? {
            object.insert(name.0, value);
        }
        Ok(object.into())
    }
}

/// A member's name, read without a `String` in between.
struct Name(Arc<str>);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Name, D::Error> {
        struct AnyName;
        impl Visitor<'_> for AnyName {
            type Value = Name;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member's name")
            }
            fn visit_str<E>(self, text: &str) -> Result<Name, E> {
                Ok(Name(Arc::from(text)))
            }
        }
        from.deserialize_str(AnyName)
    }
}
