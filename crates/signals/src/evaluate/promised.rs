//! The promises of a manifest that are not written as checks: columns, key, freshness.

use jiff::Timestamp;
use model::{Freshness, Verdict};

use super::answer::Rule;
use super::measure::{self, Unmeasured};
use crate::check::{Assertion, Check, Level};
use crate::document::{CheckResult, Document, Scope};
use crate::rules::Rules;
use crate::words;

pub(super) fn all(document: &Document, rules: &Rules, now: Timestamp) -> Vec<CheckResult> {
    let mut answers = Vec::new();
    if !rules.required.is_empty() {
        answers.push(columns(document, "columns", &rules.required, Verdict::Fail));
    }
    if !rules.key.is_empty() {
        answers.push(key(document, &rules.key));
    }
    answers.extend(rules.freshness.as_ref().map(|rule| freshness(document, rule, now)));
    answers
}

/// Whether all these columns are there.
pub(super) fn columns(document: &Document, id: &str, wanted: &[String], broken: Verdict) -> CheckResult {
    let rule = Rule::manifest(id, "columns", &listed(wanted));
    if document.table.is_none() {
        return rule.answer(Verdict::Error, measure::NOT_A_TABLE);
    }
    let missing: Vec<String> = wanted.iter().filter(|name| document.column(name).is_none()).cloned().collect();
    let rule = rule.saw((wanted.len() - missing.len()) as u64);
    match missing.as_slice() {
        [] => rule.answer(Verdict::Pass, format!("has {}", listed(wanted))),
        [one] => rule.answer(broken, format!("column `{one}` is missing")),
        _ => rule.answer(broken, format!("columns {} are missing", listed(&missing))),
    }
}

/// Whether the key names each row: nothing repeated, nothing null.
fn key(document: &Document, names: &[String]) -> CheckResult {
    let rule = Rule::manifest("key", "key", &format!("one row for each {}", listed(names)));
    let Some(table) = document.table.as_ref() else { return rule.answer(Verdict::Error, measure::NOT_A_TABLE) };
    if document.profile.scope == Scope::Partial {
        return rule.answer(Verdict::Error, measure::PARTIAL);
    }
    if let Some(absent) = names.iter().find(|name| document.column(name).is_none()) {
        return rule.answer(Verdict::Fail, format!("column `{absent}` of the key is missing"));
    }
    if table.rows == 0 {
        return rule.answer(Verdict::Skipped, "there are no rows");
    }
    let counts = table.key.as_ref().filter(|key| key.columns == names);
    let (Some(repeats), Some(nulls)) = (counts.and_then(|key| key.duplicate_rows), counts.and_then(|key| key.null_rows)) else {
        return rule.answer(Verdict::Error, "repeats of the key were not counted");
    };
    let rule = rule.saw(repeats);
    let mut faults = Vec::new();
    if repeats > 0 {
        let verb = if repeats == 1 { "repeats" } else { "repeat" };
        faults.push(format!("{} {verb} the key of an earlier one", words::counted(repeats, "row")));
    }
    if nulls > 0 {
        let verb = if nulls == 1 { "has" } else { "have" };
        faults.push(format!("{} {verb} a null in the key", words::counted(nulls, "row")));
    }
    if faults.is_empty() {
        return rule.answer(Verdict::Pass, format!("{} names every row", listed(names)));
    }
    rule.answer(Verdict::Fail, faults.join(" and "))
}

fn freshness(document: &Document, promise: &Freshness, now: Timestamp) -> CheckResult {
    let rule = Rule::manifest("freshness", "freshness", &format!("at most {}", words::span(promise.max_age.duration())));
    let rule = rule.on(Some(&promise.column));
    match measure::age(document, Some(&promise.column), now) {
        Ok(age) => {
            let message = measure::age_in_words(&promise.column, age);
            let late = age > promise.max_age.duration().as_secs_f64();
            let verdict = if late { Verdict::Fail } else { Verdict::Pass };
            let limit =
                if late { format!(", at most {} wanted", words::span(promise.max_age.duration())) } else { String::new() };
            rule.saw(age.round() as i64).answer(verdict, format!("{message}{limit}"))
        }
        Err(Unmeasured::Absent(column)) => rule.answer(Verdict::Fail, format!("column `{column}` is missing")),
        Err(Unmeasured::Nothing(reason)) => rule.answer(Verdict::Skipped, reason),
        Err(Unmeasured::Unfit(reason)) => rule.answer(Verdict::Fail, reason),
        Err(Unmeasured::Fault(reason)) => rule.answer(Verdict::Error, reason),
    }
}

/// Whether a manifest counts on a column, so that its absence is a failure.
pub(super) fn counts_on(rules: &Rules, column: &str) -> bool {
    let named = |names: &[String]| names.iter().any(|name| name == column);
    let in_has = |check: &Check| match &check.assertion {
        Assertion::Has(names) => check.level == Level::Fail && named(names),
        Assertion::Measure { .. } | Assertion::Change { .. } | Assertion::Unique(_) => false,
    };
    named(&rules.required)
        || named(&rules.key)
        || rules.freshness.as_ref().is_some_and(|rule| rule.column == column)
        || rules.checks.iter().any(in_has)
}

/// `` `a`, `b` ``
pub(super) fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
