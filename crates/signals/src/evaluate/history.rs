//! Default rules on the changes since the last accepted run. They never fail a run.

use model::{EmptyPolicy, Verdict};

use super::answer::Rule;
use super::declared::run;
use super::promised::listed;
use crate::check::{Assertion, MetricKind};
use crate::compare::compare;
use crate::document::{CheckResult, ColumnType, Document, RetypeClass, Scope, StructureChange};
use crate::rules::Rules;
use crate::words;

/// Rows may fall to half of what they were.
const DROP: f64 = 0.5;
/// Rows may rise by twice what they were.
const RISE: f64 = 2.0;

pub(super) fn all(document: &Document, rules: &Rules, previous: Option<&Document>) -> Vec<CheckResult> {
    let readable = document.table.is_some() && document.profile.scope == Scope::Full;
    if !readable {
        return Vec::new();
    }
    let Some(previous) = previous else {
        let rule = Rule::default("change", "like the last accepted run");
        return vec![rule.answer(Verdict::Learning, "there is no accepted run to compare with yet")];
    };
    let changes = compare(document, previous);
    let Some(structure) = changes.structure else {
        let rule = Rule::default("change", "like the last accepted run");
        return vec![rule.answer(Verdict::Skipped, format!("{} had no table", run(previous)))];
    };
    let mut answers = Vec::new();
    let declared = rules.checks.iter().any(|check| match &check.assertion {
        Assertion::Change { metric, .. } => metric.kind == MetricKind::Rows,
        Assertion::Measure { .. } | Assertion::Unique(_) | Assertion::Has(_) => false,
    });
    if !declared {
        answers.extend(rows(document, previous, rules.empty));
    }
    answers.push(columns(&structure, previous));
    answers.extend(values(document, previous));
    answers
}

fn rows(document: &Document, previous: &Document, empty: EmptyPolicy) -> Option<CheckResult> {
    let (now, then) = document.rows().zip(previous.rows())?;
    let rule = Rule::default("change.rows", "a drop of at most 50%, a rise of at most 200%").saw(now);
    let before = run(previous);
    if now == 0 && then > 0 {
        let verdict = match empty {
            EmptyPolicy::Ok => Verdict::Pass,
            EmptyPolicy::Warn | EmptyPolicy::Fail => Verdict::Warn,
        };
        return Some(rule.answer(verdict, format!("no rows at all, where {before} had {}", words::count(then))));
    }
    let moved = if then == 0 { 0.0 } else { (now as f64 - then as f64) / then as f64 };
    let (counts, share) = (format!("to {} from {} in {before}", words::count(now), words::count(then)), moved.abs());
    Some(if moved < -DROP {
        rule.answer(Verdict::Warn, format!("rows fell {counts}: {} fewer", words::percent(share)))
    } else if moved > RISE {
        rule.answer(Verdict::Warn, format!("rows rose {counts}: {} more", words::percent(share)))
    } else {
        rule.answer(Verdict::Pass, format!("{}, {} in {before}", words::counted(now, "row"), words::count(then)))
    })
}

fn columns(structure: &StructureChange, previous: &Document) -> CheckResult {
    let rule = Rule::default("change.structure", "no column gone, no type changed");
    let since = format!("since {}", run(previous));
    let mut faults = Vec::new();
    if !structure.removed.is_empty() {
        let (noun, verb) = if structure.removed.len() == 1 { ("column", "is") } else { ("columns", "are") };
        faults.push(format!("{noun} {} {verb} gone", listed(&structure.removed)));
    }
    for retyped in &structure.retyped {
        if retyped.class == RetypeClass::Changed {
            let (from, to) = (retyped.from.name(), retyped.to.name());
            faults.push(format!("`{}` changed from {from} to {to}", retyped.column));
        }
    }
    if !faults.is_empty() {
        return rule.answer(Verdict::Warn, format!("{} {since}", faults.join(", ")));
    }
    let message = match (structure.added.as_slice(), structure.reordered) {
        ([], false) => "the columns are the same".to_owned(),
        ([], true) => format!("the columns are in another order {since}"),
        (added, _) => format!("new {since}: {}", listed(added)),
    };
    rule.answer(Verdict::Pass, message)
}

/// Columns that have no value at all and had some before.
fn values(document: &Document, previous: &Document) -> Option<CheckResult> {
    let rows = document.rows().filter(|rows| *rows > 0)?;
    let emptied = document.columns.iter().filter(|column| {
        let before = previous.column(&column.key);
        column.nulls == rows && before.is_some_and(|before| before.column_type != ColumnType::Null)
    });
    let emptied: Vec<String> = emptied.map(|column| column.key.clone()).collect();
    let rule = Rule::default("change.nulls", "no column without any value that had some").saw(emptied.len() as u64);
    Some(match emptied.as_slice() {
        [] => rule.answer(Verdict::Pass, "every column that had values has some"),
        [one] => {
            let message = format!("`{one}` has no value any more; it had some in {}", run(previous));
            rule.on(Some(one)).answer(Verdict::Warn, message)
        }
        many => {
            rule.answer(Verdict::Warn, format!("{} have no value any more; they had some in {}", listed(many), run(previous)))
        }
    })
}
