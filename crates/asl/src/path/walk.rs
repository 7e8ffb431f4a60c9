//! Following a path into a value.

use std::sync::Arc;

use serde_json::Number;

use super::{Function, Step};
use crate::{Map, Value};

/// A definite path that points to nothing: which step could not be taken, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    step: usize,
    why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Why {
    /// The last step names a member that is not there.
    NoResults,
    /// A step before the last names a member that is not there.
    NoProperty,
    /// The value is no object.
    NotAnObject(&'static str),
    /// The value is no list.
    NotAList,
    /// The list is shorter.
    OutOfBounds,
    /// The function does not take such a value.
    NotForFunction,
    /// The variable was never assigned.
    NoVariable,
}

impl Missing {
    pub(super) fn name(step: usize, steps: usize) -> Missing {
        Missing { step, why: if step + 1 == steps { Why::NoResults } else { Why::NoProperty } }
    }

    pub(super) fn variable() -> Missing {
        Missing { step: 0, why: Why::NoVariable }
    }

    pub(super) fn deeper(self, steps: usize) -> Missing {
        Missing { step: self.step + steps, ..self }
    }

    pub(super) fn explain(&self, steps: &[Step]) -> String {
        let upto = |end: usize| -> String {
            let mut path = String::from("$");
            steps.iter().take(end).for_each(|step| path.push_str(&canonical(step)));
            path
        };
        match &self.why {
            Why::NoResults => format!("No results for path: {}", upto(self.step + 1)),
            Why::NoProperty => format!("Missing property in path {}", upto(self.step + 1)),
            Why::NotAnObject(found) => format!(
                "Expected to find an object with property {} in path {} but found '{found}'. This is not a json object \
                 according to the JsonProvider: 'com.jayway.jsonpath.spi.json.JacksonJsonNodeJsonProvider'.",
                steps.get(self.step).map(canonical).unwrap_or_default(),
                upto(self.step),
            ),
            Why::NotAList => format!(
                "Filter: {} can only be applied to arrays. Current context is: {}",
                steps.get(self.step).map(canonical).unwrap_or_default(),
                upto(self.step)
            ),
            Why::OutOfBounds => format!("Index out of bounds when evaluating path {}", upto(self.step + 1)),
            Why::NotForFunction => {
                format!("Aggregation function attempted to calculate value using empty array: {}", upto(self.step))
            }
            Why::NoVariable => "The variable has no value".to_owned(),
        }
    }
}

fn canonical(step: &Step) -> String {
    match step {
        Step::Name(name) => format!("['{name}']"),
        Step::Names(names) => {
            let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
            format!("[{}]", names.join(","))
        }
        Step::Index(index) => format!("[{index}]"),
        Step::Indexes(indexes) => {
            let indexes: Vec<String> = indexes.iter().map(i64::to_string).collect();
            format!("[{}]", indexes.join(","))
        }
        Step::Slice { from, to } => {
            let end = |end: &Option<i64>| end.map(|end| end.to_string()).unwrap_or_default();
            format!("[{}:{}]", end(from), end(to))
        }
        Step::Wildcard => "[*]".to_owned(),
        Step::Descend => "..".to_owned(),
        Step::Filter(_) => "[?]".to_owned(),
        Step::Function(_) => ".function()".to_owned(),
    }
}

/// The one value at the end of definite steps.
pub(super) fn one(from: &Value, steps: &[Step]) -> Result<Value, Missing> {
    let mut here = from;
    for (at, step) in steps.iter().enumerate() {
        here = match step {
            Step::Name(name) => match here {
                Value::Object(object) => object.get(name).ok_or_else(|| Missing::name(at, steps.len()))?,
                other => return Err(Missing { step: at, why: Why::NotAnObject(java_type(other)) }),
            },
            Step::Index(index) => match here {
                Value::Array(list) => element(list, *index).ok_or(Missing { step: at, why: Why::OutOfBounds })?,
                _ => return Err(Missing { step: at, why: Why::NotAList }),
            },
            Step::Names(names) => {
                let picked = pick(here, names).ok_or_else(|| Missing::name(at, steps.len()))?;
                return one(&picked, &steps[at + 1..]).map_err(|missing| missing.deeper(at + 1));
            }
            Step::Function(function) => {
                return apply(*function, here).ok_or(Missing { step: at, why: Why::NotForFunction });
            }
            Step::Indexes(_) | Step::Slice { .. } | Step::Wildcard | Step::Descend | Step::Filter(_) => {
                return Ok(all(here, &steps[at..]));
            }
        };
    }
    Ok(here.clone())
}

/// The list of all values at the end of steps of any kind; a function sees the list.
pub(super) fn all(from: &Value, steps: &[Step]) -> Value {
    let (steps, function) = match steps {
        [steps @ .., Step::Function(function)] => (steps, Some(*function)),
        _ => (steps, None),
    };
    let mut found = Vec::new();
    collect(from, from, steps, &mut found);
    let list = Value::from(found);
    match function {
        Some(function) => apply(function, &list).unwrap_or(Value::Null),
        None => list,
    }
}

/// Adds everything at the end of `steps` below `here`; `root` is what `$` means inside a filter.
pub(super) fn collect(root: &Value, here: &Value, steps: &[Step], found: &mut Vec<Value>) {
    let Some((step, rest)) = steps.split_first() else {
        found.push(here.clone());
        return;
    };
    let mut on = |next: &Value| collect(root, next, rest, found);
    match (step, here) {
        (Step::Name(name), Value::Object(object)) => object.get(name).into_iter().for_each(&mut on),
        (Step::Names(names), Value::Object(_)) => pick(here, names).iter().for_each(&mut on),
        (Step::Index(index), Value::Array(list)) => element(list, *index).into_iter().for_each(&mut on),
        (Step::Indexes(indexes), Value::Array(list)) => {
            indexes.iter().filter_map(|index| element(list, *index)).for_each(&mut on);
        }
        (Step::Slice { from, to }, Value::Array(list)) => part(list, *from, *to).iter().for_each(&mut on),
        (Step::Wildcard, Value::Array(list)) => list.iter().for_each(&mut on),
        (Step::Wildcard, Value::Object(object)) => object.iter().for_each(|(_, value)| on(value)),
        (Step::Filter(filter), Value::Array(list)) => {
            list.iter().filter(|item| filter.accepts(item, root)).for_each(&mut on);
        }
        (Step::Filter(filter), Value::Object(_)) => {
            if filter.accepts(here, root) {
                on(here);
            }
        }
        (Step::Descend, _) => descend(root, here, rest, found),
        (Step::Function(function), _) => found.extend(apply(*function, here)),
        (
            Step::Name(_)
            | Step::Names(_)
            | Step::Index(_)
            | Step::Indexes(_)
            | Step::Slice { .. }
            | Step::Wildcard
            | Step::Filter(_),
            _,
        ) => {}
    }
}

fn descend(root: &Value, here: &Value, rest: &[Step], found: &mut Vec<Value>) {
    collect(root, here, rest, found);
    match here {
        Value::Array(list) => list.iter().for_each(|item| descend(root, item, rest, found)),
        Value::Object(object) => object.iter().for_each(|(_, value)| descend(root, value, rest, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn element(list: &[Value], index: i64) -> Option<&Value> {
    list.get(position(list.len(), index)?)
}

/// The place that an index means in a list; negative ones count from the end.
fn position(length: usize, index: i64) -> Option<usize> {
    let counted = if index < 0 { i64::try_from(length).ok()? + index } else { index };
    usize::try_from(counted).ok()
}

fn part(list: &[Value], from: Option<i64>, to: Option<i64>) -> &[Value] {
    let bound = |index: i64| position(list.len(), index).unwrap_or(0).min(list.len());
    let (from, to) = (from.map_or(0, bound), to.map_or(list.len(), bound));
    list.get(from..to).unwrap_or_default()
}

fn pick(from: &Value, names: &[Arc<str>]) -> Option<Value> {
    let object = from.as_object()?;
    let picked: Map = names.iter().filter_map(|name| Some((Arc::clone(name), object.get(name)?.clone()))).collect();
    Some(picked.into())
}

fn apply(function: Function, to: &Value) -> Option<Value> {
    let numbers = || to.as_array().map(|list| list.iter().filter_map(Value::as_f64).collect::<Vec<_>>());
    let some_numbers = || numbers().filter(|numbers| !numbers.is_empty());
    match function {
        Function::Length => match to {
            Value::Array(list) => Some(count(list.len())),
            Value::Object(object) => Some(count(object.len())),
            Value::String(text) => Some(count(text.chars().count())),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        },
        Function::Min => some_numbers()?.into_iter().reduce(f64::min).map(Value::from),
        Function::Max => some_numbers()?.into_iter().reduce(f64::max).map(Value::from),
        Function::Sum => Some(Value::from(some_numbers()?.into_iter().sum::<f64>())),
        Function::Average => {
            let numbers = some_numbers()?;
            let length = u32::try_from(numbers.len()).ok()?;
            Some(Value::from(numbers.into_iter().sum::<f64>() / f64::from(length)))
        }
        Function::Keys => {
            let names = to.as_object()?.iter().map(|(name, _)| Value::String(Arc::clone(name)));
            Some(names.collect::<Vec<_>>().into())
        }
        Function::First => to.as_array()?.first().cloned(),
        Function::Last => to.as_array()?.last().cloned(),
    }
}

fn count(length: usize) -> Value {
    Value::Number(Number::from(length))
}

fn java_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "com.fasterxml.jackson.databind.node.BooleanNode",
        Value::Number(number) if number.is_f64() => "com.fasterxml.jackson.databind.node.DoubleNode",
        Value::Number(_) => "com.fasterxml.jackson.databind.node.IntNode",
        Value::String(_) => "com.fasterxml.jackson.databind.node.TextNode",
        Value::Array(_) => "com.fasterxml.jackson.databind.node.ArrayNode",
        Value::Object(_) => "com.fasterxml.jackson.databind.node.ObjectNode",
    }
}
