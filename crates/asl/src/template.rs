//! Payload templates: JSON with places to fill in.

use std::sync::Arc;

use jiff::Timestamp;

use crate::fault::Fault;
use crate::intrinsic::Call;
use crate::jsonata::Expression;
use crate::path::{Path, Surroundings};
use crate::random::Random;
use crate::{Map, Value};

/// A template, read once; parts without places to fill are shared, not copied.
#[derive(Clone, Debug)]
pub(crate) enum Template {
    Fixed(Value),
    /// A member whose name ended in `.$`; `field` is that name.
    Path {
        field: Arc<str>,
        path: Path,
    },
    Call {
        field: Arc<str>,
        call: Call,
    },
    Expression(Expression),
    Object(Vec<(Arc<str>, Template)>),
    Array(Vec<Template>),
}

/// A place in a template that cannot be read: where below the template, and why.
pub(crate) struct BadPlace {
    pub(crate) below: String,
    pub(crate) reason: String,
}

/// The data that templates, paths and expressions are evaluated on.
pub(crate) struct Scope<'s> {
    pub(crate) input: &'s Value,
    pub(crate) around: &'s dyn Surroundings,
    pub(crate) random: &'s mut Random,
    /// The time of the event that is being applied.
    pub(crate) now: Timestamp,
    /// `$states.result`, where there is one.
    pub(crate) result: Option<&'s Value>,
    /// `$states.errorOutput`, where there is one.
    pub(crate) error_output: Option<&'s Value>,
}

impl Template {
    /// Reads a template of the JSONPath kind: members whose names end in `.$` hold a path or a call.
    pub(crate) fn with_paths(value: &Value, below: &str, bad: &mut Vec<BadPlace>) -> Template {
        match value {
            Value::Object(object) => {
                let mut members = Vec::with_capacity(object.len());
                for (name, member) in object.iter() {
                    let below = format!("{below}/{}", escape(name));
                    match name.strip_suffix(".$") {
                        Some(plain) if object.contains(plain) => {
                            let reason = format!("`{name}` and `{plain}` would both become the field `{plain}`");
                            bad.push(BadPlace { below, reason });
                        }
                        Some(plain) => match place(name, member) {
                            Ok(place) => members.push((Arc::from(plain), place)),
                            Err(reason) => bad.push(BadPlace { below, reason }),
                        },
                        None => members.push((Arc::clone(name), Template::with_paths(member, &below, bad))),
                    }
                }
                fold_object(members, value)
            }
            Value::Array(list) => {
                let item = |(at, item)| Template::with_paths(item, &format!("{below}/{at}"), bad);
                fold_array(list.iter().enumerate().map(item).collect(), value)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Template::Fixed(value.clone()),
        }
    }

    /// Reads a template of the JSONata kind: strings that are wholly `{% … %}` are expressions. `field` is the name
    /// of the template's field, for the words of an error.
    pub(crate) fn with_expressions(value: &Value, field: &str, below: &str, bad: &mut Vec<BadPlace>) -> Template {
        match value {
            Value::String(text) => match Expression::delimited(text) {
                Some(source) => match Expression::parse(source, field) {
                    Ok(expression) => Template::Expression(expression),
                    Err(reason) => {
                        bad.push(BadPlace { below: below.to_owned(), reason });
                        Template::Fixed(value.clone())
                    }
                },
                None => Template::Fixed(value.clone()),
            },
            Value::Object(object) => {
                let member = |(name, member): (&Arc<str>, &Value)| {
                    let (field, below) = (format!("{field}/{name}"), format!("{below}/{}", escape(name)));
                    (Arc::clone(name), Template::with_expressions(member, &field, &below, bad))
                };
                fold_object(object.iter().map(member).collect(), value)
            }
            Value::Array(list) => {
                let item =
                    |(at, item)| Template::with_expressions(item, &format!("{field}[{at}]"), &format!("{below}/{at}"), bad);
                fold_array(list.iter().enumerate().map(item).collect(), value)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Template::Fixed(value.clone()),
        }
    }

    /// The template filled in.
    pub(crate) fn evaluate(&self, scope: &mut Scope<'_>) -> Result<Value, Fault> {
        match self {
            Template::Fixed(value) => Ok(value.clone()),
            Template::Path { field, path } => {
                path.find(scope.input, scope.around).map_err(|_| Fault::path_not_found(path.text(), field, scope.input))
            }
            Template::Call { field, call } => call.evaluate(field, scope.input, scope.around, scope.random),
            Template::Expression(expression) => expression.evaluate(scope),
            Template::Object(members) => {
                let mut object = Map::with_capacity(members.len());
                for (name, member) in members {
                    object.insert(Arc::clone(name), member.evaluate(scope)?);
                }
                Ok(object.into())
            }
            Template::Array(items) => {
                let items: Result<Vec<Value>, Fault> = items.iter().map(|item| item.evaluate(scope)).collect();
                items.map(Value::from)
            }
        }
    }
}

fn place(name: &Arc<str>, member: &Value) -> Result<Template, String> {
    let field = Arc::clone(name);
    let text = member.as_str().ok_or("a member whose name ends in `.$` holds a path or an intrinsic call, as text")?;
    if Call::looks_like_one(text) {
        let call = Call::parse(text).map_err(|error| error.to_string())?;
        return Ok(Template::Call { field, call });
    }
    let path = Path::parse(text).map_err(|error| error.to_string())?;
    Ok(Template::Path { field, path })
}

fn fold_object(members: Vec<(Arc<str>, Template)>, whole: &Value) -> Template {
    let fixed = members.iter().all(|(_, member)| matches!(member, Template::Fixed(_)));
    if fixed { Template::Fixed(whole.clone()) } else { Template::Object(members) }
}

fn fold_array(items: Vec<Template>, whole: &Value) -> Template {
    let fixed = items.iter().all(|item| matches!(item, Template::Fixed(_)));
    if fixed { Template::Fixed(whole.clone()) } else { Template::Array(items) }
}

/// A name as part of a JSON pointer.
pub(crate) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
