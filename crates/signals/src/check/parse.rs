//! Text to check. Every problem has the byte where it starts.

use model::{ByteSize, Span};

use super::metric::{ChangeMeasure, Measure, Subject};
use super::{Assertion, Bound, Check, CheckProblem, Comparison, Level, Metric, MetricKind, Quantity};

type Parsed<T> = Result<T, CheckProblem>;

/// Signs of comparison, longer ones first.
const SIGNS: [(&str, Comparison); 7] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
    ("=", Comparison::Equal),
];

pub(super) fn check(text: &str) -> Parsed<Check> {
    let mut cursor = Cursor { text, at: 0 };
    let level = level(&mut cursor);
    let start = cursor.skip_blanks();
    let word = cursor.word();
    let assertion = match word {
        "" if cursor.rest().is_empty() => return Err(problem(start, "a check is needed, such as `rows >= 1`")),
        "" => return Err(problem(start, "a check starts with the name of a metric, such as `rows`")),
        "unique" => Assertion::Unique(columns(&mut cursor)?),
        "has" => Assertion::Has(columns(&mut cursor)?),
        name => measure(&mut cursor, start, name)?,
    };
    let end = cursor.skip_blanks();
    if cursor.rest().is_empty() {
        Ok(Check { level, assertion })
    } else {
        Err(problem(end, format!("`{}` is left over after the check", cursor.rest().trim_end())))
    }
}

fn level(cursor: &mut Cursor<'_>) -> Level {
    cursor.skip_blanks();
    for (word, level) in [("warn", Level::Warn), ("fail", Level::Fail)] {
        if let Some(rest) = cursor.rest().strip_prefix(word)
            && let Some(rest) = rest.trim_start().strip_prefix(':')
        {
            cursor.at = cursor.text.len() - rest.len();
            return level;
        }
    }
    Level::default()
}

fn measure(cursor: &mut Cursor<'_>, start: usize, name: &str) -> Parsed<Assertion> {
    let Some(kind) = MetricKind::ALL.into_iter().find(|kind| kind.name() == name) else {
        let known = MetricKind::ALL.iter().map(|kind| kind.name()).chain(["unique", "has"]);
        let near = nearest(name, known);
        return Err(CheckProblem { offset: start, message: format!("`{name}` is not a metric"), suggestion: near });
    };
    let column = subject(cursor, kind)?;
    let metric = Metric { kind, column };
    let at = cursor.skip_blanks();
    if cursor.eat_word("change") {
        if kind.change() == ChangeMeasure::None {
            return Err(problem(
                at,
                format!(
                    "`{name}` is not compared with earlier runs; only rows, columns, bytes, completeness, distinct and mean are"
                ),
            ));
        }
        let bound = bound(cursor, change_value)?;
        Ok(Assertion::Change { metric, bound })
    } else {
        let bound = bound(cursor, |at, value| measure_value(kind, at, value))?;
        age_has_a_ceiling(kind, bound, at)?;
        Ok(Assertion::Measure { metric, bound })
    }
}

/// An age is promised not to exceed something; any other bound on it is a slip.
fn age_has_a_ceiling(kind: MetricKind, bound: Bound, at: usize) -> Parsed<()> {
    let ceiling = matches!(bound, Bound::Compare(Comparison::Less | Comparison::AtMost, _));
    if kind.measure() == Measure::Span && !ceiling {
        return Err(CheckProblem {
            offset: at,
            message: "freshness is an age and needs a ceiling: `<=` or `<`".to_owned(),
            suggestion: Some("<=".to_owned()),
        });
    }
    Ok(())
}

/// The `(column)` of a metric, where it needs or allows one.
fn subject(cursor: &mut Cursor<'_>, kind: MetricKind) -> Parsed<Option<String>> {
    let at = cursor.skip_blanks();
    let given = cursor.rest().starts_with('(');
    match (kind.subject(), given) {
        (Subject::Table, true) => Err(problem(at, format!("`{}` is about the whole table and takes no column", kind.name()))),
        (Subject::Column, false) => Err(problem(at, format!("`{0}` needs a column: `{0}(name)`", kind.name()))),
        (Subject::Table | Subject::Either, false) => Ok(None),
        (Subject::Either | Subject::Column, true) => {
            let mut names = columns(cursor)?;
            if names.len() > 1 {
                return Err(problem(at, format!("`{}` takes one column", kind.name())));
            }
            Ok(names.pop())
        }
    }
}

fn columns(cursor: &mut Cursor<'_>) -> Parsed<Vec<String>> {
    let at = cursor.skip_blanks();
    if !cursor.eat("(") {
        return Err(problem(at, "`(` and the name of a column are needed here"));
    }
    let mut names = Vec::new();
    loop {
        let at = cursor.skip_blanks();
        let name = column(cursor)?;
        if names.contains(&name) {
            return Err(problem(at, format!("`{name}` is named twice")));
        }
        names.push(name);
        let at = cursor.skip_blanks();
        if cursor.eat(")") {
            return Ok(names);
        }
        if !cursor.eat(",") {
            return Err(problem(at, "`,` or `)` is needed here"));
        }
    }
}

fn column(cursor: &mut Cursor<'_>) -> Parsed<String> {
    let start = cursor.skip_blanks();
    if let Some(quote) = cursor.rest().chars().next().filter(|first| matches!(first, '"' | '\'' | '`')) {
        return quoted(cursor, quote);
    }
    let length = cursor.rest().find([',', ')', '(', '"', '\'', '`']).unwrap_or(cursor.rest().len());
    let name = cursor.rest()[..length].trim_end();
    if name.is_empty() {
        return Err(problem(start, "the name of a column is needed here"));
    }
    cursor.at += name.len();
    Ok(name.to_owned())
}

fn quoted(cursor: &mut Cursor<'_>, quote: char) -> Parsed<String> {
    let start = cursor.at;
    let mut name = String::new();
    let mut escaped = false;
    for (index, next) in cursor.rest().char_indices().skip(1) {
        match next {
            '\\' if !escaped => escaped = true,
            end if end == quote && !escaped => {
                cursor.at = start + index + quote.len_utf8();
                return Ok(name);
            }
            other => {
                if escaped && other != quote && other != '\\' {
                    name.push('\\');
                }
                escaped = false;
                name.push(other);
            }
        }
    }
    Err(problem(start, format!("the quote {quote} is not closed")))
}

fn bound(cursor: &mut Cursor<'_>, allowed: impl Fn(usize, Quantity) -> Parsed<Quantity>) -> Parsed<Bound> {
    let at = cursor.skip_blanks();
    if cursor.eat_word("between") {
        let low_at = cursor.skip_blanks();
        let low = allowed(low_at, quantity(cursor)?)?;
        let at = cursor.skip_blanks();
        if !cursor.eat_word("and") {
            return Err(problem(at, "`and` and a second value are needed here"));
        }
        let high_at = cursor.skip_blanks();
        let high = allowed(high_at, quantity(cursor)?)?;
        if std::mem::discriminant(&low) != std::mem::discriminant(&high) {
            return Err(problem(high_at, "both values need the same unit"));
        }
        if low.value() > high.value() {
            return Err(problem(low_at, "the first value is above the second"));
        }
        return Ok(Bound::Between(low, high));
    }
    let Some((_, comparison)) = SIGNS.into_iter().find(|(sign, _)| cursor.eat(sign)) else {
        return Err(problem(at, "a comparison is needed here, such as `>= 1` or `between 1 and 2`"));
    };
    let at = cursor.skip_blanks();
    Ok(Bound::Compare(comparison, allowed(at, quantity(cursor)?)?))
}

/// Keeps a value only in a unit that the metric has.
fn measure_value(kind: MetricKind, at: usize, value: Quantity) -> Parsed<Quantity> {
    let wrong = |wanted: &str| Err(problem(at, format!("`{}` is compared with {wanted}", kind.name())));
    match (kind.measure(), value) {
        (Measure::Share, Quantity::Number(share)) if !(0.0..=1.0).contains(&share) => Err(CheckProblem {
            offset: at,
            message: "a share runs from 0 to 1, or is written with `%`".to_owned(),
            suggestion: (0.0..=100.0).contains(&share).then(|| format!("{share}%")),
        }),
        (Measure::Share | Measure::CountOrShare, Quantity::Percent(share)) if !(0.0..=100.0).contains(&share) => {
            Err(problem(at, "a share runs from 0% to 100%"))
        }
        (Measure::Count | Measure::CountOrShare | Measure::Size, Quantity::Number(number)) if number < 0.0 => {
            Err(problem(at, "a count is never below 0"))
        }
        (Measure::Count | Measure::Number, Quantity::Number(_))
        | (Measure::CountOrShare | Measure::Share, Quantity::Number(_) | Quantity::Percent(_))
        | (Measure::Size, Quantity::Number(_) | Quantity::Size(_))
        | (Measure::Span, Quantity::Span(_)) => Ok(value),
        (Measure::Span, Quantity::Number(0.0)) => Ok(Quantity::Span(Span::ZERO)),
        (Measure::Count, Quantity::Percent(_) | Quantity::Span(_) | Quantity::Size(_)) => wrong("a whole number, such as 100"),
        (Measure::CountOrShare, Quantity::Span(_) | Quantity::Size(_)) => wrong("a number or a share, such as 2%"),
        (Measure::Share, Quantity::Span(_) | Quantity::Size(_)) => wrong("a share, such as 0.99 or 99%"),
        (Measure::Number, Quantity::Percent(_) | Quantity::Span(_) | Quantity::Size(_)) => wrong("a number, such as 0.5"),
        (Measure::Size, Quantity::Percent(_) | Quantity::Span(_)) => wrong("a size, such as 64KiB"),
        (Measure::Span, Quantity::Number(_) | Quantity::Percent(_) | Quantity::Size(_)) => {
            wrong("a span of time, such as 26h or 1d")
        }
    }
}

/// A change is a share of what was there before.
fn change_value(at: usize, value: Quantity) -> Parsed<Quantity> {
    match value {
        Quantity::Percent(_) => Ok(value),
        Quantity::Number(_) | Quantity::Span(_) | Quantity::Size(_) => {
            Err(problem(at, "a change is compared with a share, such as -50% or 200%"))
        }
    }
}

fn quantity(cursor: &mut Cursor<'_>) -> Parsed<Quantity> {
    let start = cursor.skip_blanks();
    let length = cursor.rest().find(|next: char| next.is_whitespace()).unwrap_or(cursor.rest().len());
    let text = &cursor.rest()[..length];
    let Some(value) = read_quantity(text) else {
        let wanted = "a value is needed here: a number, 2%, 26h or 64KiB";
        let message = if text.is_empty() { wanted.to_owned() } else { format!("`{text}` is not a value: {}", &wanted[24..]) };
        return Err(problem(start, message));
    };
    cursor.at += length;
    Ok(value)
}

fn read_quantity(text: &str) -> Option<Quantity> {
    if let Some(hundredths) = text.strip_suffix('%') {
        return read_number(hundredths).map(Quantity::Percent);
    }
    read_number(text)
        .map(Quantity::Number)
        .or_else(|| text.parse().ok().map(|span: Span| Quantity::Span(span)))
        .or_else(|| text.parse().ok().map(|size: ByteSize| Quantity::Size(size)))
}

/// A finite decimal; `_` may part its digits.
fn read_number(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e' | b'E' | b'_'));
    let starts = text.trim_start_matches(['-', '+']).starts_with(|first: char| first.is_ascii_digit() || first == '.');
    let number: f64 = (plain && starts).then(|| text.replace('_', "").parse().ok())??;
    // Adding zero turns -0 into 0, so that it prints as it reads.
    number.is_finite().then_some(number + 0.0)
}

fn problem(offset: usize, message: impl Into<String>) -> CheckProblem {
    CheckProblem { offset, message: message.into(), suggestion: None }
}

/// The known word that a mistyped one was probably meant to be.
fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    known
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate.to_owned())
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Moves to the next visible character and says where it is.
    fn skip_blanks(&mut self) -> usize {
        self.at = self.text.len() - self.rest().trim_start().len();
        self.at
    }

    /// A run of letters, digits and `_`, maybe empty.
    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let before = self.at;
        let found = self.word() == word;
        if !found {
            self.at = before;
        }
        found
    }
}
