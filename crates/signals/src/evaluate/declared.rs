//! The answer of a declared check.

use jiff::Timestamp;
use model::Verdict;

use super::answer::Rule;
use super::measure::{self, Measured, Unmeasured, measure};
use super::promised::{columns, counts_on, listed};
use crate::check::{Assertion, Bound, ChangeMeasure, Check, Comparison, Level, Measure, Metric, MetricKind, Quantity};
use crate::document::{CheckResult, Document, Scope};
use crate::rules::Rules;
use crate::words;

/// Evaluates one check against the document, or against the document and that of the last accepted run.
pub(super) fn answer(
    document: &Document,
    rules: &Rules,
    previous: Option<&Document>,
    check: &Check,
    now: Timestamp,
) -> CheckResult {
    let broken = match check.level {
        Level::Warn => Verdict::Warn,
        Level::Fail => Verdict::Fail,
    };
    let id = check.to_string();
    match &check.assertion {
        Assertion::Has(names) => columns(document, &id, names, broken),
        Assertion::Unique(names) => unique(document, rules, &id, names, broken),
        Assertion::Measure { metric, bound } => {
            let rule = Rule::manifest(&id, metric.kind.name(), &bound.to_string()).on(metric.column.as_deref());
            match measure(document, metric, bound.is_share(), now) {
                Ok(measured) => within(rule, measured, metric.kind, *bound, broken),
                Err(reason) => unmeasured(rule, rules, reason, broken),
            }
        }
        Assertion::Change { metric, bound } => change(document, rules, previous, &id, metric, *bound, broken, now),
    }
}

fn within(rule: Rule, measured: Measured, kind: MetricKind, bound: Bound, broken: Verdict) -> CheckResult {
    let rule = rule.saw(measured.shown);
    if bound.holds(measured.value) {
        rule.answer(Verdict::Pass, measured.words)
    } else {
        rule.answer(broken, format!("{}, {} wanted", measured.words, bound_in_words(bound, kind)))
    }
}

fn unmeasured(rule: Rule, rules: &Rules, reason: Unmeasured, broken: Verdict) -> CheckResult {
    match reason {
        Unmeasured::Absent(column) if counts_on(rules, &column) => rule.answer(broken, format!("column `{column}` is missing")),
        Unmeasured::Absent(column) => {
            rule.answer(Verdict::Skipped, format!("there is no column `{column}`, and none is required"))
        }
        Unmeasured::Nothing(reason) => rule.answer(Verdict::Skipped, reason),
        Unmeasured::Unfit(reason) => rule.answer(broken, reason),
        Unmeasured::Fault(reason) => rule.answer(Verdict::Error, reason),
    }
}

fn unique(document: &Document, rules: &Rules, id: &str, names: &[String], broken: Verdict) -> CheckResult {
    let rule = Rule::manifest(id, "unique", "no repeats");
    let Some(table) = document.table.as_ref() else { return rule.answer(Verdict::Error, measure::NOT_A_TABLE) };
    if document.profile.scope == Scope::Partial {
        return rule.answer(Verdict::Error, measure::PARTIAL);
    }
    if let Some(absent) = names.iter().find(|name| document.column(name).is_none()) {
        return unmeasured(rule, rules, Unmeasured::Absent(absent.clone()), broken);
    }
    if table.rows == 0 {
        return rule.answer(Verdict::Skipped, "there are no rows");
    }
    let counts = table.key.iter().chain(&table.unique).find(|counts| counts.columns == names);
    match counts.and_then(|counts| counts.duplicate_rows) {
        None => rule.answer(Verdict::Error, format!("repeats of {} were not counted", listed(names))),
        Some(0) => rule.saw(0_u64).answer(Verdict::Pass, format!("no row repeats {}", listed(names))),
        Some(repeats) => {
            let verb = if repeats == 1 { "repeats" } else { "repeat" };
            let message = format!("{} {verb} {} of an earlier one", words::counted(repeats, "row"), listed(names));
            rule.saw(repeats).answer(broken, message)
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "all of a check and all it is judged by")]
fn change(
    document: &Document,
    rules: &Rules,
    previous: Option<&Document>,
    id: &str,
    metric: &Metric,
    bound: Bound,
    broken: Verdict,
    now: Timestamp,
) -> CheckResult {
    let kind = format!("change.{}", metric.kind.name());
    let rule = Rule::manifest(id, &kind, &bound.to_string()).on(metric.column.as_deref());
    let Some(previous) = previous else {
        return rule.answer(Verdict::Learning, "there is no accepted run to compare with yet");
    };
    let current = match measure(document, metric, false, now) {
        Ok(current) => current,
        Err(reason) => return unmeasured(rule, rules, reason, broken),
    };
    let Ok(before) = measure(previous, metric, false, now) else {
        return rule.answer(Verdict::Skipped, format!("{} has no such measure", run(previous)));
    };
    let delta = current.value - before.value;
    let moved = match metric.kind.change() {
        ChangeMeasure::Points | ChangeMeasure::None => delta,
        ChangeMeasure::Relative if delta == 0.0 => 0.0,
        // From nothing to something: beyond every ceiling.
        ChangeMeasure::Relative => delta / before.value.abs(),
    };
    let message = format!("{}; {} in {}: {}", current.words, before.shown, run(previous), moved_in_words(moved));
    let rule = if moved.is_finite() { rule.saw(words::rounded(moved)) } else { rule };
    if bound.holds(moved) {
        rule.answer(Verdict::Pass, message)
    } else {
        rule.answer(broken, format!("{message}, {} wanted", bound_in_words(bound, metric.kind)))
    }
}

/// `run r-1`, or that there was one.
pub(super) fn run(document: &Document) -> String {
    document.run.as_ref().map_or_else(|| "the last accepted run".to_owned(), |run| format!("run {run}"))
}

fn moved_in_words(moved: f64) -> String {
    if moved == 0.0 {
        "no change".to_owned()
    } else if moved.is_finite() {
        format!("{}{}", if moved > 0.0 { "+" } else { "-" }, words::percent(moved.abs()))
    } else {
        "up from nothing".to_owned()
    }
}

fn bound_in_words(bound: Bound, kind: MetricKind) -> String {
    let quantity_in_words = |value| quantity_in_words(value, kind);
    match bound {
        Bound::Between(low, high) => format!("{} to {}", quantity_in_words(low), quantity_in_words(high)),
        Bound::Compare(comparison, value) => {
            let word = match comparison {
                Comparison::Less => "less than",
                Comparison::AtMost => "at most",
                Comparison::Greater => "more than",
                Comparison::AtLeast => "at least",
                Comparison::Equal => "exactly",
                Comparison::NotEqual => "anything but",
            };
            format!("{word} {}", quantity_in_words(value))
        }
    }
}

fn quantity_in_words(value: Quantity, kind: MetricKind) -> String {
    match value {
        Quantity::Number(share) if kind.measure() == Measure::Share => format!("{}%", words::number(share * 100.0)),
        Quantity::Number(number) if number.fract() == 0.0 && number.abs() < 1e15 => words::count(number as i64),
        Quantity::Number(number) => words::number(number),
        Quantity::Percent(hundredths) => format!("{}%", words::number(hundredths)),
        Quantity::Span(span) => words::span(span.duration()),
        Quantity::Size(size) => size.to_string(),
    }
}
