//! Filters: which items of a list a path goes on with.

use std::cmp::Ordering;

use regex_lite::Regex;

use super::{Step, read, walk};
use crate::Value;
use crate::scanner::{DEEPEST, Scanner, SyntaxError};

/// The condition between `[?(` and `)]`.
#[derive(Clone, Debug)]
pub(crate) enum Filter {
    Any(Vec<Filter>),
    All(Vec<Filter>),
    Not(Box<Filter>),
    Exists(Operand),
    Compare { left: Operand, operator: Operator, right: Operand },
    Matches { left: Operand, pattern: Regex },
}

#[derive(Clone, Debug)]
pub(crate) enum Operand {
    /// `@…`: from the item.
    Item(Vec<Step>),
    /// `$…`: from the root of the path.
    Root(Vec<Step>),
    Literal(Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
    Contains,
    Size,
    Empty,
}

const OPERATORS: [(&str, Operator); 12] = [
    ("===", Operator::Equal),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("in ", Operator::In),
    ("nin ", Operator::NotIn),
    ("contains ", Operator::Contains),
    ("size ", Operator::Size),
    ("empty ", Operator::Empty),
];

impl Filter {
    pub(super) fn read(scanner: &mut Scanner<'_>, depth: usize) -> Result<Filter, SyntaxError> {
        scanner.skip_space();
        scanner.expect("(")?;
        let filter = any(scanner, depth)?;
        scanner.skip_space();
        scanner.expect(")")?;
        Ok(filter)
    }

    pub(super) fn accepts(&self, item: &Value, root: &Value) -> bool {
        match self {
            Filter::Any(filters) => filters.iter().any(|filter| filter.accepts(item, root)),
            Filter::All(filters) => filters.iter().all(|filter| filter.accepts(item, root)),
            Filter::Not(filter) => !filter.accepts(item, root),
            Filter::Exists(operand) => operand.value(item, root).is_some(),
            Filter::Compare { left, operator, right } => {
                compare(left.value(item, root).as_ref(), *operator, right.value(item, root).as_ref())
            }
            Filter::Matches { left, pattern } => {
                left.value(item, root).as_ref().and_then(Value::as_str).is_some_and(|text| pattern.is_match(text))
            }
        }
    }
}

impl Operand {
    fn value(&self, item: &Value, root: &Value) -> Option<Value> {
        let (from, steps) = match self {
            Operand::Item(steps) => (item, steps),
            Operand::Root(steps) => (root, steps),
            Operand::Literal(value) => return Some(value.clone()),
        };
        walk::one(from, steps).ok()
    }
}

fn any(scanner: &mut Scanner<'_>, depth: usize) -> Result<Filter, SyntaxError> {
    if depth > DEEPEST {
        return Err(scanner.error("the filter nests too deeply"));
    }
    let mut filters = vec![all(scanner, depth)?];
    scanner.skip_space();
    while scanner.take("||") {
        filters.push(all(scanner, depth)?);
        scanner.skip_space();
    }
    Ok(Filter::Any(filters))
}

fn all(scanner: &mut Scanner<'_>, depth: usize) -> Result<Filter, SyntaxError> {
    let mut filters = vec![term(scanner, depth)?];
    scanner.skip_space();
    while scanner.take("&&") {
        filters.push(term(scanner, depth)?);
        scanner.skip_space();
    }
    Ok(Filter::All(filters))
}

fn term(scanner: &mut Scanner<'_>, depth: usize) -> Result<Filter, SyntaxError> {
    scanner.skip_space();
    if depth > DEEPEST {
        return Err(scanner.error("the filter nests too deeply"));
    }
    if scanner.take("!") {
        return Ok(Filter::Not(Box::new(term(scanner, depth + 1)?)));
    }
    if scanner.peek() == Some('(') {
        return Filter::read(scanner, depth + 1);
    }
    let left = operand(scanner, depth)?;
    scanner.skip_space();
    if scanner.take("=~") {
        return Ok(Filter::Matches { left, pattern: pattern(scanner)? });
    }
    let Some((_, operator)) = OPERATORS.iter().find(|(token, _)| scanner.take(token)) else {
        return Ok(Filter::Exists(left));
    };
    let right = operand(scanner, depth)?;
    Ok(Filter::Compare { left, operator: *operator, right })
}

fn operand(scanner: &mut Scanner<'_>, depth: usize) -> Result<Operand, SyntaxError> {
    scanner.skip_space();
    match scanner.peek() {
        Some('@') => {
            scanner.take("@");
            read::steps(scanner, depth + 1).map(Operand::Item)
        }
        Some('$') => {
            scanner.take("$");
            read::steps(scanner, depth + 1).map(Operand::Root)
        }
        Some('\'' | '"') => scanner.quoted(r#"'"\/"#).map(|text| Operand::Literal(Value::from(text))),
        Some('[') => list(scanner, depth + 1).map(Operand::Literal),
        _ => word(scanner).map(Operand::Literal),
    }
}

fn list(scanner: &mut Scanner<'_>, depth: usize) -> Result<Value, SyntaxError> {
    scanner.expect("[")?;
    let mut items = Vec::new();
    loop {
        scanner.skip_space();
        if scanner.take("]") {
            return Ok(items.into());
        }
        let Operand::Literal(item) = operand(scanner, depth)? else {
            return Err(scanner.error("a list in a filter holds plain values only"));
        };
        items.push(item);
        scanner.skip_space();
        scanner.take(",");
        if depth > DEEPEST {
            return Err(scanner.error("the list nests too deeply"));
        }
    }
}

fn word(scanner: &mut Scanner<'_>) -> Result<Value, SyntaxError> {
    let start = scanner.at();
    let word = scanner.take_while(|next| next.is_ascii_alphanumeric() || "+-.".contains(next));
    match Value::parse(word) {
        Ok(value @ (Value::Null | Value::Bool(_) | Value::Number(_))) => Ok(value),
        Ok(Value::String(_) | Value::Array(_) | Value::Object(_)) | Err(_) => {
            Err(SyntaxError { reason: "expected a value to compare with".to_owned(), at: start })
        }
    }
}

/// A pattern between slashes; it has to match the whole text.
fn pattern(scanner: &mut Scanner<'_>) -> Result<Regex, SyntaxError> {
    scanner.skip_space();
    scanner.expect("/")?;
    let start = scanner.at();
    let mut pattern = String::new();
    loop {
        match scanner.next() {
            Some('/') => break,
            Some('\\') => {
                pattern.push('\\');
                pattern.extend(scanner.next());
            }
            Some(plain) => pattern.push(plain),
            None => return Err(SyntaxError { reason: "the pattern has no end".to_owned(), at: start }),
        }
    }
    let flags = if scanner.take("i") { "(?i)" } else { "" };
    Regex::new(&format!("{flags}^(?:{pattern})$"))
        .map_err(|error| SyntaxError { reason: format!("the pattern cannot be read: {error}"), at: start })
}

fn compare(left: Option<&Value>, operator: Operator, right: Option<&Value>) -> bool {
    let (Some(left), Some(right)) = (left, right) else {
        return operator == Operator::NotEqual && left.is_some() != right.is_some();
    };
    let order = order(left, right);
    match operator {
        Operator::Equal => equal(left, right),
        Operator::NotEqual => !equal(left, right),
        Operator::Less => order == Some(Ordering::Less),
        Operator::LessOrEqual => order.is_some_and(Ordering::is_le),
        Operator::Greater => order == Some(Ordering::Greater),
        Operator::GreaterOrEqual => order.is_some_and(Ordering::is_ge),
        Operator::In => right.as_array().is_some_and(|list| list.iter().any(|item| equal(left, item))),
        Operator::NotIn => right.as_array().is_some_and(|list| !list.iter().any(|item| equal(left, item))),
        Operator::Contains => match (left, right) {
            (Value::Array(list), item) => list.iter().any(|member| equal(member, item)),
            (Value::String(text), Value::String(part)) => text.contains(&**part),
            _ => false,
        },
        Operator::Size => size(left).is_some_and(|size| right.as_i64() == i64::try_from(size).ok()),
        Operator::Empty => size(left).is_some_and(|size| right.as_bool() == Some(size == 0)),
    }
}

fn size(value: &Value) -> Option<usize> {
    match value {
        Value::Array(list) => Some(list.len()),
        Value::String(text) => Some(text.chars().count()),
        Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn equal(left: &Value, right: &Value) -> bool {
    match (left.as_f64(), right.as_f64()) {
        (Some(left), Some(right)) => left == right,
        _ => left == right,
    }
}

fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(_), Value::Number(_)) => left.as_f64()?.partial_cmp(&right.as_f64()?),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        _ => None,
    }
}
