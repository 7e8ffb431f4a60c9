//! The language of declared checks: `rows >= 100`, `completeness(price) >= 99%`, `warn: rows change > -50%`.
//!
//! ```text
//! check  = [ ("warn" | "fail") ":" ] rule
//! rule   = "unique" columns | "has" columns | metric [ column ] [ "change" ] bound
//! bound  = ("<" | "<=" | ">" | ">=" | "==" | "!=") value | "between" value "and" value
//! value  = 12.5 | 2% | 26h | 512KiB
//! column = "(" name ")"
//! columns = "(" name { "," name } ")"
//! ```
//!
//! A name that holds a comma, a parenthesis or a quote is put between double quotes.

mod metric;
mod parse;
mod print;

#[cfg(test)]
mod tests;

use model::{ByteSize, Span};

pub(crate) use metric::{ChangeMeasure, Measure};
pub use metric::{Metric, MetricKind};

/// One declared check. Text and value are two forms of the same: [`Check::parse`] and `Display` are inverse.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What its failing means.
    pub level: Level,
    /// What must hold.
    pub assertion: Assertion,
}

/// What a failing check means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Verdict `warn`.
    Warn,
    /// Verdict `fail`.
    #[default]
    Fail,
}

/// What a check demands.
#[derive(Clone, Debug, PartialEq)]
pub enum Assertion {
    /// A measure lies within a bound.
    Measure {
        /// What is measured.
        metric: Metric,
        /// Where it may lie.
        bound: Bound,
    },
    /// A measure changed since the last accepted run by no more than a bound: by share of the old value, for shares by points.
    Change {
        /// What is measured.
        metric: Metric,
        /// How far it may move.
        bound: Bound,
    },
    /// No two rows have the same values in these columns; rows with a null among them are left out.
    Unique(Vec<String>),
    /// These columns are there.
    Has(Vec<String>),
}

/// Where a value may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// On one side of a value.
    Compare(Comparison, Quantity),
    /// From a value to a value, both included.
    Between(Quantity, Quantity),
}

/// How a value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
}

/// A value in a check, in the unit it was written in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// A plain number.
    Number(f64),
    /// Hundredths: `2%` is `Percent(2.0)`.
    Percent(f64),
    /// A span of time.
    Span(Span),
    /// A size in bytes.
    Size(ByteSize),
}

impl Quantity {
    /// The value in the unit of measures: shares from 0 to 1, seconds, bytes.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            Quantity::Number(number) => number,
            Quantity::Percent(hundredths) => hundredths / 100.0,
            Quantity::Span(span) => span.as_millis() as f64 / 1000.0,
            Quantity::Size(size) => size.as_bytes() as f64,
        }
    }
}

impl Comparison {
    /// Whether `left` stands to `right` as the comparison says.
    #[must_use]
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Comparison::Less => left < right,
            Comparison::AtMost => left <= right,
            Comparison::Greater => left > right,
            Comparison::AtLeast => left >= right,
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
        }
    }
}

impl Bound {
    /// Whether a value lies within the bound.
    #[must_use]
    pub fn holds(self, value: f64) -> bool {
        match self {
            Bound::Compare(comparison, limit) => comparison.holds(value, limit.value()),
            Bound::Between(low, high) => (low.value()..=high.value()).contains(&value),
        }
    }

    /// Whether the bound is written as a share.
    pub(crate) fn is_share(self) -> bool {
        let (Bound::Compare(_, value) | Bound::Between(value, _)) = self;
        matches!(value, Quantity::Percent(_))
    }
}

/// Why a text is not a check.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CheckProblem {
    /// Byte within the text where it goes wrong, for a caret.
    pub offset: usize,
    /// One sentence without a full stop.
    pub message: String,
    /// What was probably meant, to put in place of the word at `offset`.
    pub suggestion: Option<String>,
}

impl Check {
    /// Reads a check.
    ///
    /// # Errors
    /// The first place where the text stops being a check.
    pub fn parse(text: &str) -> Result<Check, CheckProblem> {
        parse::check(text)
    }
}

impl std::str::FromStr for Check {
    type Err = CheckProblem;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Check::parse(text)
    }
}
