//! What the manifest promises about an artifact.

use model::{ArtifactRule, EmptyPolicy, Freshness, Verdict};

use crate::check::{Assertion, Check, CheckProblem, MetricKind};
use crate::options::Format;

/// The promises of one manifest entry. `Rules::default()` holds the built-in rules only.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// How to read the artifact.
    pub format: Format,
    /// Declared checks, all evaluated.
    pub checks: Vec<Check>,
    /// Columns that must be there.
    pub required: Vec<String>,
    /// Columns that together name a row: no null in them, no repeat.
    pub key: Vec<String>,
    /// How new the newest row must be.
    pub freshness: Option<Freshness>,
    /// What no rows mean. A table of zero bytes is worse than one with a header: it fails unless no rows are fine.
    pub empty: EmptyPolicy,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            format: Format::Auto,
            checks: Vec::new(),
            required: Vec::new(),
            key: Vec::new(),
            freshness: None,
            empty: EmptyPolicy::Warn,
        }
    }
}

/// A check of a manifest that is not one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("check {} cannot be understood", .index + 1)]
pub struct BadCheck {
    /// Which of the checks, from 0.
    pub index: usize,
    /// What is wrong with it.
    #[source]
    pub problem: CheckProblem,
}

impl TryFrom<&ArtifactRule> for Rules {
    type Error = Vec<BadCheck>;

    /// The rules of a manifest entry, or every check of it that is not one.
    fn try_from(rule: &ArtifactRule) -> Result<Self, Self::Error> {
        let mut checks = Vec::new();
        let mut problems = Vec::new();
        for (index, text) in rule.checks.iter().enumerate() {
            match Check::parse(text) {
                Ok(check) => checks.push(check),
                Err(problem) => problems.push(BadCheck { index, problem }),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Self {
            format: rule.format.into(),
            checks,
            required: rule.columns.clone(),
            key: rule.key.clone(),
            freshness: rule.freshness.clone(),
            empty: rule.empty,
        })
    }
}

impl Rules {
    /// The column sets of the checks whose repeats the profile has to count, beside the key.
    #[must_use]
    pub fn unique_sets(&self) -> Vec<Vec<String>> {
        let checked = self.checks.iter().filter_map(|check| match &check.assertion {
            Assertion::Unique(columns) => Some(columns),
            Assertion::Measure { .. } | Assertion::Change { .. } | Assertion::Has(_) => None,
        });
        let mut sets: Vec<Vec<String>> = Vec::new();
        for set in checked {
            if *set != self.key && !sets.contains(set) {
                sets.push(set.clone());
            }
        }
        sets
    }

    /// The column that tells the time: the declared one, else that of the first freshness check.
    #[must_use]
    pub fn time_column(&self) -> Option<&str> {
        let checked = || {
            self.checks.iter().find_map(|check| match &check.assertion {
                Assertion::Measure { metric, .. } if metric.kind == MetricKind::Freshness => metric.column.as_deref(),
                Assertion::Measure { .. } | Assertion::Change { .. } | Assertion::Unique(_) | Assertion::Has(_) => None,
            })
        };
        self.freshness.as_ref().map(|rule| rule.column.as_str()).or_else(checked)
    }
}

/// The worst of many verdicts; `Pass` when nothing was evaluated, for what is skipped or still learning lowers nothing.
pub fn worst(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
    verdicts.into_iter().fold(Verdict::Pass, Verdict::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_evaluated_never_lowers_the_whole() {
        assert_eq!(worst([Verdict::Skipped, Verdict::Learning]), Verdict::Pass);
        assert_eq!(worst([]), Verdict::Pass);
        assert_eq!(worst([Verdict::Pass, Verdict::Warn, Verdict::Skipped]), Verdict::Warn);
        assert_eq!(worst([Verdict::Error, Verdict::Fail]), Verdict::Error);
    }
}
