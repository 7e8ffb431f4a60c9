//! Turning values into text, as the service does it.

use std::fmt::Write;

use crate::Value;

/// Fills the `{}` of a template in order; `\{`, `\}`, `\'` and `\\` stand for the plain characters.
pub(super) fn format(template: &str, values: &[Value]) -> Result<Value, String> {
    let mut text = String::with_capacity(template.len() + 16 * values.len());
    let mut values = values.iter();
    let mut rest = template.chars();
    while let Some(next) = rest.next() {
        match next {
            '\\' => text.extend(rest.next()),
            '{' if rest.as_str().starts_with('}') => {
                rest.next();
                let value = values.next().ok_or("the template has more {} than there are arguments")?;
                spell(value, &mut text);
            }
            plain => text.push(plain),
        }
    }
    match values.next() {
        None => Ok(Value::from(text)),
        Some(_) => Err("the template has fewer {} than there are arguments".to_owned()),
    }
}

/// A string as it is, everything else as the service's runtime prints it: `{name=value, list=[1, 2]}`.
fn spell(value: &Value, text: &mut String) {
    match value {
        Value::String(plain) => text.push_str(plain),
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            write!(text, "{value}").expect("writing to a string cannot fail");
        }
        Value::Array(list) => {
            text.push('[');
            for (at, item) in list.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { ", " });
                spell(item, text);
            }
            text.push(']');
        }
        Value::Object(object) => {
            text.push('{');
            for (at, (name, value)) in object.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { ", " });
                text.push_str(name);
                text.push('=');
                spell(value, text);
            }
            text.push('}');
        }
    }
}
