//! A check as text, in its one canonical form.

use std::fmt;

use super::{Assertion, Bound, Check, Comparison, Level, Metric, Quantity};

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.level {
            Level::Warn => f.write_str("warn: ")?,
            Level::Fail => {}
        }
        match &self.assertion {
            Assertion::Measure { metric, bound } => write!(f, "{metric} {bound}"),
            Assertion::Change { metric, bound } => write!(f, "{metric} change {bound}"),
            Assertion::Unique(columns) => write!(f, "unique({})", names(columns)),
            Assertion::Has(columns) => write!(f, "has({})", names(columns)),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        match &self.column {
            Some(column) => write!(f, "({})", name(column)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Compare(comparison, value) => write!(f, "{comparison} {value}"),
            Bound::Between(low, high) => write!(f, "between {low} and {high}"),
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Comparison::Less => "<",
            Comparison::AtMost => "<=",
            Comparison::Greater => ">",
            Comparison::AtLeast => ">=",
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
        })
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Quantity::Number(number) => write!(f, "{number}"),
            Quantity::Percent(hundredths) => write!(f, "{hundredths}%"),
            Quantity::Span(span) => write!(f, "{span}"),
            Quantity::Size(size) => write!(f, "{size}"),
        }
    }
}

fn names(columns: &[String]) -> String {
    columns.iter().map(|column| name(column)).collect::<Vec<_>>().join(", ")
}

/// A column's name, between quotes where it would not read back bare.
pub(crate) fn name(column: &str) -> String {
    let bare = !column.is_empty() && column.trim() == column && !column.contains([',', '(', ')', '"', '\'', '`']);
    if bare { column.to_owned() } else { format!("\"{}\"", column.replace('\\', "\\\\").replace('"', "\\\"")) }
}
