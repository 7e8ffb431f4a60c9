//! Rules that hold for every artifact.

use model::{EmptyPolicy, Verdict};

use super::answer::Rule;
use crate::check::{Assertion, MetricKind};
use crate::document::{CheckResult, Document, Scope, Table};
use crate::finding::{Code, Finding};
use crate::rules::Rules;
use crate::words;

/// Whether the artifact could be read to its end, and ends where it should.
pub(super) fn readable(document: &Document) -> CheckResult {
    let rule = Rule::default("readable", "readable to its end");
    let find = |code| document.findings.iter().find(|finding| finding.code == code);
    let near = |finding: &Finding| finding.first_line.map(|line| format!(" in line {line}")).unwrap_or_default();
    if let Some(broken) = find(Code::Unreadable) {
        let cause = broken.details.get("error").map(|error| format!(": {error}")).unwrap_or_default();
        rule.answer(Verdict::Error, format!("the artifact could not be read to its end{cause}"))
    } else if let Some(open) = find(Code::UnclosedQuote) {
        rule.answer(Verdict::Fail, format!("a quote is opened in the row{} and never closed", near(open)))
    } else if let Some(cut) = find(Code::TruncatedTail) {
        rule.answer(Verdict::Fail, format!("the last value{} is cut off", near(cut)))
    } else if let Some(unread) = find(Code::NotProfiled) {
        let form = unread.details.get("form").map(ToString::to_string).unwrap_or_default();
        rule.answer(Verdict::Pass, format!("read as bytes; the content of {form} files is not looked at"))
    } else {
        rule.answer(Verdict::Pass, "read to its end")
    }
}

/// The rules on a table: that it has rows, and that all of its lines are rows.
pub(super) fn table(document: &Document, rules: &Rules) -> Vec<CheckResult> {
    let Some(table) = document.table.as_ref().filter(|_| document.profile.scope == Scope::Full) else {
        return Vec::new();
    };
    let declared = |kind: MetricKind| {
        rules.checks.iter().any(|check| match &check.assertion {
            Assertion::Measure { metric, .. } => metric.kind == kind,
            Assertion::Change { .. } | Assertion::Unique(_) | Assertion::Has(_) => false,
        })
    };
    let mut answers = vec![rows(document, table, rules.empty)];
    if !declared(MetricKind::BadRows) {
        answers.push(bad_rows(document, table));
    }
    if !declared(MetricKind::RaggedRows) {
        answers.push(ragged_rows(document, table));
    }
    answers
}

fn rows(document: &Document, table: &Table, empty: EmptyPolicy) -> CheckResult {
    let nothing = document.findings.iter().any(|finding| finding.code == Code::EmptyFile);
    let message = if nothing {
        "the file is empty, without even a header".to_owned()
    } else if table.rows == 0 {
        "there are no rows".to_owned()
    } else {
        words::counted(table.rows, "row")
    };
    let verdict = match empty {
        _ if table.rows > 0 => Verdict::Pass,
        EmptyPolicy::Ok => Verdict::Pass,
        EmptyPolicy::Warn if nothing => Verdict::Fail,
        EmptyPolicy::Warn => Verdict::Warn,
        EmptyPolicy::Fail => Verdict::Fail,
    };
    let expected = if empty == EmptyPolicy::Ok { "any number" } else { "at least one" };
    let rule = match empty {
        EmptyPolicy::Warn => Rule::default("rows", expected),
        EmptyPolicy::Ok | EmptyPolicy::Fail => Rule::manifest("rows", "rows", expected),
    };
    rule.saw(table.rows).answer(verdict, message)
}

fn bad_rows(document: &Document, table: &Table) -> CheckResult {
    let rule = Rule::default("bad_rows", "none").saw(table.bad_rows);
    if table.bad_rows == 0 {
        return rule.answer(Verdict::Pass, "every line is a row");
    }
    let first = first_line(document, &[Code::BadJson, Code::BadRows]);
    rule.answer(Verdict::Fail, format!("{} cannot be read as a row{first}", words::counted(table.bad_rows, "line")))
}

fn ragged_rows(document: &Document, table: &Table) -> CheckResult {
    let rule = Rule::default("ragged_rows", "none").saw(table.ragged_rows);
    if table.ragged_rows == 0 {
        return rule.answer(Verdict::Pass, "every row has all columns");
    }
    let first = first_line(document, &[Code::ShortRow, Code::LongRow]);
    let have = if table.ragged_rows == 1 { "has" } else { "have" };
    let rows = words::counted(table.ragged_rows, "row");
    rule.answer(Verdict::Fail, format!("{rows} {have} too few or too many fields{first}"))
}

/// `, the first in line 7`, when it is known.
fn first_line(document: &Document, codes: &[Code]) -> String {
    let findings = document.findings.iter().filter(|finding| codes.contains(&finding.code));
    findings.filter_map(|finding| finding.first_line).min().map_or_else(String::new, |line| format!(", the first in line {line}"))
}
