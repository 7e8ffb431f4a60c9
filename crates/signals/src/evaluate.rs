//! Rules and a document in, answers out.

mod answer;
mod builtin;
mod declared;
mod history;
mod measure;
mod promised;
#[cfg(test)]
mod tests;

use jiff::Timestamp;

use crate::compare::compare;
use crate::document::{Baseline, BaselineState, CheckResult, Document};
use crate::rules::{Rules, worst};

/// Evaluates every rule: what the manifest promises, the declared checks, the built-in rules, and the default rules on the
/// changes since `previous`, the document of the last accepted run.
///
/// All are evaluated, in this order; nothing stops at the first that does not hold. A declared check takes the place of the
/// built-in rule on the same measure.
#[must_use]
pub fn evaluate(document: &Document, rules: &Rules, previous: Option<&Document>, now: Timestamp) -> Vec<CheckResult> {
    let mut answers = vec![builtin::readable(document)];
    answers.extend(promised::all(document, rules, now));
    answers.extend(rules.checks.iter().map(|check| declared::answer(document, rules, previous, check, now)));
    answers.extend(builtin::table(document, rules));
    answers.extend(history::all(document, rules, previous));
    answers
}

impl Document {
    /// Compares the document with that of the last accepted run, evaluates the rules and sets the verdict.
    #[must_use]
    pub fn judge(mut self, rules: &Rules, previous: Option<&Document>, now: Timestamp) -> Self {
        self.freshness.artifact_age_s = self.artifact.written_at.map(|written| now.duration_since(written).as_secs());
        self.baseline = previous.map(baseline).unwrap_or_default();
        self.changes = previous.map(|previous| compare(&self, previous));
        self.checks = evaluate(&self, rules, previous, now);
        self.verdict = worst(self.checks.iter().map(|check| check.verdict));
        self
    }
}

/// The history that ends with an accepted run: its own, and itself.
fn baseline(previous: &Document) -> Baseline {
    let runs = previous.baseline.runs + 1;
    let state = if runs < Baseline::NEEDED { BaselineState::Learning } else { BaselineState::Ready };
    Baseline {
        state,
        runs,
        from: previous.baseline.from.or(previous.slot),
        to: previous.slot.or(previous.baseline.to),
        previous_run: previous.run.clone(),
        ..Baseline::default()
    }
}
