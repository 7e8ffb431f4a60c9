//! Taking the fields of an object, with a problem for each that is not as it should be.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::Parser;
use crate::definition::{Amount, Language, Text};
use crate::intrinsic::Call;
use crate::jsonata::Expression;
use crate::path::Path;
use crate::template::{Template, escape};
use crate::{Map, Value};

/// An object of the definition and where it stands.
pub(super) struct Fields<'v> {
    pub(super) object: &'v Map,
    at: String,
}

impl<'v> Fields<'v> {
    pub(super) fn new(object: &'v Map, at: impl Into<String>) -> Fields<'v> {
        Fields { object, at: at.into() }
    }

    pub(super) fn at(&self) -> &str {
        &self.at
    }

    pub(super) fn pointer(&self, field: &str) -> String {
        format!("{}/{}", self.at, escape(field))
    }

    pub(super) fn get(&self, field: &str) -> Option<&'v Value> {
        self.object.get(field)
    }

    pub(super) fn has(&self, field: &str) -> bool {
        self.object.contains(field)
    }

    /// Reports every field that is not among `known`.
    pub(super) fn only(&self, parser: &mut Parser, known: &[&str]) {
        for (name, _) in self.object.iter() {
            if !known.contains(&&**name) {
                parser.invalid(self.pointer(name), format!("Field '{name}' is not supported"));
            }
        }
    }

    /// Reports the fields of `group` if there is more than one.
    pub(super) fn at_most_one(&self, parser: &mut Parser, group: &[&str]) {
        let there: Vec<&str> = group.iter().copied().filter(|field| self.has(field)).collect();
        if let [first, second, ..] = there.as_slice() {
            parser.invalid(self.pointer(second), format!("`{second}` cannot stand beside `{first}`"));
        }
    }

    fn expect<T>(&self, parser: &mut Parser, field: &str, wanted: &str, read: impl Fn(&'v Value) -> Option<T>) -> Option<T> {
        let value = self.get(field)?;
        let taken = read(value);
        if taken.is_none() {
            parser.invalid(self.pointer(field), format!("`{field}` should be {wanted}"));
        }
        taken
    }

    fn required<T>(&self, parser: &mut Parser, field: &str, taken: Option<T>) -> Option<T> {
        if !self.has(field) {
            parser.invalid(&self.at, format!("the field `{field}` is missing"));
        }
        taken
    }

    pub(super) fn text(&self, parser: &mut Parser, field: &str) -> Option<Arc<str>> {
        self.expect(parser, field, "a text", |value| value.as_str().map(Arc::from))
    }

    pub(super) fn required_text(&self, parser: &mut Parser, field: &str) -> Option<Arc<str>> {
        let text = self.text(parser, field);
        self.required(parser, field, text)
    }

    pub(super) fn truth(&self, parser: &mut Parser, field: &str) -> Option<bool> {
        self.expect(parser, field, "true or false", Value::as_bool)
    }

    pub(super) fn list(&self, parser: &mut Parser, field: &str) -> Option<&'v [Value]> {
        self.expect(parser, field, "a list", Value::as_array)
    }

    pub(super) fn required_list(&self, parser: &mut Parser, field: &str) -> Option<&'v [Value]> {
        let list = self.list(parser, field);
        self.required(parser, field, list)
    }

    pub(super) fn object(&self, parser: &mut Parser, field: &str) -> Option<Fields<'v>> {
        let object = self.expect(parser, field, "an object", Value::as_object)?;
        Some(Fields::new(object, self.pointer(field)))
    }

    pub(super) fn required_object(&self, parser: &mut Parser, field: &str) -> Option<&'v Map> {
        let object = self.expect(parser, field, "an object", Value::as_object);
        self.required(parser, field, object)
    }

    pub(super) fn whole_number(&self, parser: &mut Parser, field: &str, range: RangeInclusive<u64>) -> Option<u64> {
        let wanted = format!("a whole number from {} to {}", range.start(), range.end());
        self.expect(parser, field, &wanted, |value| {
            value.as_i64().and_then(|number| u64::try_from(number).ok()).filter(|number| range.contains(number))
        })
    }

    pub(super) fn number(&self, parser: &mut Parser, field: &str, range: RangeInclusive<f64>) -> Option<f64> {
        let wanted = format!("a number from {} to {}", range.start(), range.end());
        self.expect(parser, field, &wanted, |value| value.as_f64().filter(|number| range.contains(number)))
    }

    pub(super) fn language(&self, parser: &mut Parser, default: Language) -> Language {
        let language = self.expect(parser, "QueryLanguage", "`JSONPath` or `JSONata`", |value| match value.as_str() {
            Some("JSONPath") => Some(Language::JsonPath),
            Some("JSONata") => Some(Language::Jsonata),
            _ => None,
        });
        if (language, default) == (Some(Language::JsonPath), Language::Jsonata) {
            let message = "'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole state machine";
            parser.invalid(&self.at, message);
        }
        language.unwrap_or(default)
    }

    pub(super) fn path(&self, parser: &mut Parser, field: &str) -> Option<Path> {
        let text = self.text(parser, field)?;
        match Path::parse(&text) {
            Ok(path) => Some(path),
            Err(error) => {
                parser.invalid(self.pointer(field), format!("`{text}` is not a path: {error}"));
                None
            }
        }
    }

    /// A payload template in the query language of the state.
    pub(super) fn template(&self, parser: &mut Parser, field: &str, language: Language) -> Option<Template> {
        let value = self.get(field)?;
        let below = self.pointer(field);
        let mut bad = Vec::new();
        let template = match language {
            Language::JsonPath => Template::with_paths(value, &below, &mut bad),
            Language::Jsonata => Template::with_expressions(value, field, &below, &mut bad),
        };
        for place in bad {
            parser.invalid(place.below, place.reason);
        }
        Some(template)
    }

    /// A number, given as `field`, as a path in `<field>Path`, or as an expression.
    pub(super) fn amount(
        &self,
        parser: &mut Parser,
        field: &str,
        language: Language,
        range: RangeInclusive<f64>,
    ) -> Option<Amount> {
        let by_path = format!("{field}Path");
        match language {
            Language::JsonPath => {
                self.at_most_one(parser, &[field, &by_path]);
                if self.has(&by_path) {
                    return self.path(parser, &by_path).map(Amount::Path);
                }
            }
            Language::Jsonata => {
                if let Some(expression) = self.expression(parser, field) {
                    return expression.map(Amount::Expression);
                }
            }
        }
        self.number(parser, field, range)?;
        self.get(field).cloned().map(Amount::Fixed)
    }

    /// A text, given as `field`, as a path or a call in `<field>Path`, or as an expression.
    pub(super) fn words(&self, parser: &mut Parser, field: &str, language: Language) -> Option<Text> {
        let by_path = format!("{field}Path");
        match language {
            Language::JsonPath => {
                self.at_most_one(parser, &[field, &by_path]);
                if self.has(&by_path) {
                    return self.path_or_call(parser, &by_path);
                }
            }
            Language::Jsonata => {
                if let Some(expression) = self.expression(parser, field) {
                    return expression.map(Text::Expression);
                }
            }
        }
        self.text(parser, field).map(Text::Fixed)
    }

    fn path_or_call(&self, parser: &mut Parser, field: &str) -> Option<Text> {
        let text = self.text(parser, field)?;
        if !Call::looks_like_one(&text) {
            return self.path(parser, field).map(Text::Path);
        }
        match Call::parse(&text) {
            Ok(call) => Some(Text::Call(call)),
            Err(error) => {
                parser.invalid(self.pointer(field), error.to_string());
                None
            }
        }
    }

    /// The expression in a field that is wholly `{% … %}`: None if it is no such field, `Some(None)` if the
    /// expression cannot be read (and was reported).
    pub(super) fn expression(&self, parser: &mut Parser, field: &str) -> Option<Option<Expression>> {
        let source = self.get(field)?.as_str().and_then(Expression::delimited)?;
        match Expression::parse(source, field) {
            Ok(expression) => Some(Some(expression)),
            Err(reason) => {
                parser.invalid(self.pointer(field), reason);
                Some(None)
            }
        }
    }
}
