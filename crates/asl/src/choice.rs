//! Choice rules: comparisons and their combinations.

use std::cmp::Ordering;

use crate::Value;
use crate::fault::Fault;
use crate::path::Path;
use crate::template::Scope;
use crate::time::parse_timestamp;

/// The condition of a rule in a JSONPath state.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    And(Vec<Test>),
    Or(Vec<Test>),
    Not(Box<Test>),
    Compare { variable: Path, comparison: Comparison, with: Operand },
    Is { variable: Path, kind: Is, wanted: bool },
}

/// What a comparison holds a variable against.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    Literal(Value),
    Path(Path),
}

/// The type that a value has to be of, and the relation that has to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Comparison {
    pub(crate) of: Of,
    pub(crate) relation: Relation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    String,
    Number,
    Boolean,
    Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Equals,
    LessThan,
    LessThanEquals,
    GreaterThan,
    GreaterThanEquals,
    Matches,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Is {
    Present,
    Null,
    String,
    Number,
    Boolean,
    Timestamp,
}

impl Is {
    /// The test that a field such as `IsNull` names.
    pub(crate) fn named(field: &str) -> Option<Is> {
        Some(match field {
            "IsPresent" => Is::Present,
            "IsNull" => Is::Null,
            "IsString" => Is::String,
            "IsNumeric" => Is::Number,
            "IsBoolean" => Is::Boolean,
            "IsTimestamp" => Is::Timestamp,
            _ => return None,
        })
    }
}

impl Comparison {
    /// The comparison that a field such as `NumericLessThan` names.
    pub(crate) fn named(field: &str) -> Option<Comparison> {
        let (of, relation) = if let Some(relation) = field.strip_prefix("String") {
            (Of::String, relation)
        } else if let Some(relation) = field.strip_prefix("Numeric") {
            (Of::Number, relation)
        } else if let Some(relation) = field.strip_prefix("Boolean") {
            (Of::Boolean, relation)
        } else {
            (Of::Timestamp, field.strip_prefix("Timestamp")?)
        };
        let relation = match relation {
            "Equals" => Relation::Equals,
            "LessThan" => Relation::LessThan,
            "LessThanEquals" => Relation::LessThanEquals,
            "GreaterThan" => Relation::GreaterThan,
            "GreaterThanEquals" => Relation::GreaterThanEquals,
            "Matches" => Relation::Matches,
            _ => return None,
        };
        let exists = match (of, relation) {
            (Of::Boolean, Relation::Equals) | (Of::String, _) => true,
            (Of::Boolean, _) | (_, Relation::Matches) => false,
            (Of::Number | Of::Timestamp, _) => true,
        };
        exists.then_some(Comparison { of, relation })
    }

    /// Whether a literal is of the type that is compared.
    pub(crate) fn takes(self, literal: &Value) -> bool {
        match self.of {
            Of::String => literal.as_str().is_some(),
            Of::Number => literal.as_number().is_some(),
            Of::Boolean => literal.as_bool().is_some(),
            Of::Timestamp => literal.as_str().and_then(parse_timestamp).is_some(),
        }
    }

    /// Whether the relation holds; values of another type are in no relation.
    fn holds(self, left: &Value, right: &Value) -> bool {
        if self.relation == Relation::Matches {
            return matches!((left.as_str(), right.as_str()), (Some(text), Some(pattern)) if matches(text, pattern));
        }
        let order = match self.of {
            Of::String => left.as_str().zip(right.as_str()).map(|(left, right)| left.cmp(right)),
            Of::Number => compare_numbers(left, right),
            Of::Boolean => left.as_bool().zip(right.as_bool()).map(|(left, right)| left.cmp(&right)),
            Of::Timestamp => {
                let moment = |value: &Value| value.as_str().and_then(parse_timestamp);
                moment(left).zip(moment(right)).map(|(left, right)| left.cmp(&right))
            }
        };
        order.is_some_and(|order| match self.relation {
            Relation::Equals => order == Ordering::Equal,
            Relation::LessThan => order == Ordering::Less,
            Relation::LessThanEquals => order != Ordering::Greater,
            Relation::GreaterThan => order == Ordering::Greater,
            Relation::GreaterThanEquals => order != Ordering::Less,
            Relation::Matches => false,
        })
    }
}

fn compare_numbers(left: &Value, right: &Value) -> Option<Ordering> {
    let (left, right) = (left.as_number()?, right.as_number()?);
    match (left.as_i64(), right.as_i64()) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

impl Test {
    /// Whether the condition is true.
    pub(crate) fn holds(&self, scope: &Scope<'_>) -> Result<bool, Fault> {
        match self {
            Test::And(tests) => {
                for test in tests {
                    if !test.holds(scope)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Test::Or(tests) => {
                for test in tests {
                    if test.holds(scope)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Test::Not(test) => Ok(!test.holds(scope)?),
            Test::Is { variable, kind: Is::Present, wanted } => Ok(look(variable, scope).is_ok() == *wanted),
            Test::Is { variable, kind, wanted } => Ok(is(&look(variable, scope)?, *kind) == *wanted),
            Test::Compare { variable, comparison, with } => {
                let left = look(variable, scope)?;
                match with {
                    Operand::Literal(right) => Ok(comparison.holds(&left, right)),
                    Operand::Path(path) => Ok(comparison.holds(&left, &look(path, scope)?)),
                }
            }
        }
    }
}

fn look(path: &Path, scope: &Scope<'_>) -> Result<Value, Fault> {
    let found = path.find(scope.input, scope.around);
    found.map_err(|missing| {
        Fault::invalid_path(
            path.text(),
            &format!("The choice state's condition path references an invalid value. {}", path.explain(&missing)),
        )
    })
}

fn is(value: &Value, kind: Is) -> bool {
    match kind {
        Is::Present => true,
        Is::Null => value.is_null(),
        Is::String => value.as_str().is_some(),
        Is::Number => value.as_number().is_some(),
        Is::Boolean => value.as_bool().is_some(),
        Is::Timestamp => value.as_str().and_then(parse_timestamp).is_some(),
    }
}

/// Whether a text is what a pattern says: `*` stands for any characters, a backslash makes the next one plain.
fn matches(text: &str, pattern: &str) -> bool {
    // The parts between the stars, with their escapes gone.
    let mut parts = vec![String::new()];
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match (letter, parts.last_mut()) {
            ('*', _) => parts.push(String::new()),
            ('\\', Some(part)) => part.extend(letters.next()),
            (plain, Some(part)) => part.push(plain),
            (_, None) => {}
        }
    }
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return false };
    if parts.len() == 1 {
        return text == first;
    }
    let Some(rest) = text.strip_prefix(first.as_str()) else { return false };
    let Some(mut rest) = rest.strip_suffix(last.as_str()) else { return false };
    for part in &parts[1..parts.len() - 1] {
        let Some(at) = rest.find(part.as_str()) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text_and_escapes_for_themselves() {
        for (text, pattern) in [
            ("", "*"),
            ("foo", "foo"),
            ("foo23.log", "foo*.log"),
            ("zebra.log", "*.log"),
            ("foobar.zebra", "foo*.*"),
            ("a*b", "a\\*b"),
            ("a\\b", "a\\\\b"),
            ("aXbXc", "a*b*c"),
            ("aa", "a*a"),
        ] {
            assert!(matches(text, pattern), "{text} {pattern}");
        }
        for (text, pattern) in [("a", "a*a"), ("foo", "fo"), ("axb", "a\\*b"), ("", "a"), ("abc", "a*d*c")] {
            assert!(!matches(text, pattern), "{text} {pattern}");
        }
    }

    #[test]
    fn numbers_are_compared_by_size_and_other_types_are_in_no_relation() {
        let equals = Comparison::named("NumericEquals").unwrap();
        assert!(equals.holds(&Value::from(0_i64), &Value::from(0.0)));
        assert!(!equals.holds(&Value::from("0"), &Value::from(0_i64)));
        let less = Comparison::named("StringLessThan").unwrap();
        assert!(less.holds(&Value::from("a"), &Value::from("b")));
        assert!(!less.holds(&Value::from(1_i64), &Value::from("b")));
        for unknown in ["BooleanLessThan", "NumericMatches", "TimestampMatches", "Equals", "StringLike"] {
            assert_eq!(Comparison::named(unknown), None, "{unknown}");
        }
    }
}
