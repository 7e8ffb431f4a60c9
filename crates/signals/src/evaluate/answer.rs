//! A rule on its way to its answer.

use model::Verdict;

use crate::document::{CheckResult, CheckSource, Scalar};

/// A rule that has no answer yet.
pub(super) struct Rule {
    id: String,
    kind: String,
    column: Option<String>,
    source: CheckSource,
    expected: String,
    observed: Option<Scalar>,
}

impl Rule {
    /// A built-in rule named after what it looks at.
    pub(super) fn default(kind: &str, expected: &str) -> Self {
        Self::new(kind, kind, CheckSource::Default, expected)
    }

    /// A rule of the manifest.
    pub(super) fn manifest(id: &str, kind: &str, expected: &str) -> Self {
        Self::new(id, kind, CheckSource::Manifest, expected)
    }

    fn new(id: &str, kind: &str, source: CheckSource, expected: &str) -> Self {
        let (id, kind, expected) = (id.to_owned(), kind.to_owned(), expected.to_owned());
        Self { id, kind, column: None, source, expected, observed: None }
    }

    pub(super) fn on(mut self, column: Option<&str>) -> Self {
        self.column = column.map(str::to_owned);
        self
    }

    pub(super) fn saw(mut self, observed: impl Into<Scalar>) -> Self {
        self.observed = Some(observed.into());
        self
    }

    pub(super) fn answer(self, verdict: Verdict, message: impl Into<String>) -> CheckResult {
        let Self { id, kind, column, source, expected, observed } = self;
        CheckResult { id, kind, column, source, verdict, observed, expected, message: message.into() }
    }
}
