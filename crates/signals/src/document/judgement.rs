//! What a document says about the past and about the rules.

use jiff::Timestamp;
use model::Verdict;
use serde::{Deserialize, Serialize};

use super::{ColumnType, Scalar};

/// What a document was compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// Whether there is enough history.
    pub state: BaselineState,
    /// Accepted runs before this one.
    pub runs: u32,
    /// Runs after which learned bounds are used.
    pub needed: u32,
    /// Oldest run of the baseline.
    pub from: Option<Timestamp>,
    /// Newest run of the baseline.
    pub to: Option<Timestamp>,
    /// Season that splits the history.
    pub season: Option<String>,
    /// Runs of this season.
    pub season_runs: Option<u32>,
    /// The last accepted run.
    pub previous_run: Option<String>,
    /// Runs left out because they were flagged.
    pub excluded_runs: u32,
}

/// Whether there is enough history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BaselineState {
    /// No accepted run.
    None,
    /// Fewer than needed.
    Learning,
    /// Enough.
    Ready,
}

/// Differences from the last accepted run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Changes {
    /// Of the rows; `None` when one of the two is not a table.
    pub rows: Option<Change>,
    /// Of the share of cells with a value.
    pub completeness: Option<Change>,
    /// Of the columns; `None` when one of the two is not a table.
    pub structure: Option<StructureChange>,
    /// Of the values; not computed yet.
    pub distribution: Vec<Shift>,
}

/// A number then and now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Then.
    pub previous: Scalar,
    /// Now minus then.
    pub delta: Scalar,
    /// Now by then; `None` when then was 0.
    pub ratio: Option<f64>,
}

/// Columns then and now, by key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StructureChange {
    /// New columns.
    pub added: Vec<String>,
    /// Columns that are gone.
    pub removed: Vec<String>,
    /// Columns of another type.
    pub retyped: Vec<Retyped>,
    /// Whether the columns that stayed are in another order.
    pub reordered: bool,
}

/// A column of another type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retyped {
    /// Its key.
    pub column: String,
    /// Then.
    pub from: ColumnType,
    /// Now.
    pub to: ColumnType,
    /// Whether old readers can live with it.
    pub class: RetypeClass,
}

/// What a change of type means to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RetypeClass {
    /// Nothing became something, or int became float.
    Widened,
    /// Something became nothing, or float became int: all that is there still reads as before.
    Narrowed,
    /// Anything else.
    Changed,
}

/// A change of a column's distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shift {
    /// Key of the column.
    pub column: String,
    /// `psi` or `ks`.
    pub measure: String,
    /// Its value.
    pub value: f64,
}

/// The answer of one rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    /// Names the rule within the document: the text of a declared check, else the kind and the column.
    pub id: String,
    /// What was looked at.
    pub kind: String,
    /// Key of the column, if it is about one.
    pub column: Option<String>,
    /// Who made the rule.
    pub source: CheckSource,
    /// The answer.
    pub verdict: Verdict,
    /// What was seen.
    pub observed: Option<Scalar>,
    /// What was wanted, in words.
    pub expected: String,
    /// One sentence.
    pub message: String,
}

impl CheckResult {
    /// Whether the manifest made the rule.
    #[must_use]
    pub fn is_declared(&self) -> bool {
        self.source == CheckSource::Manifest
    }
}

/// Who made a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckSource {
    /// The manifest.
    Manifest,
    /// Built in.
    Default,
    /// Learned from earlier runs.
    Learned,
}

impl Default for Baseline {
    fn default() -> Self {
        Self {
            state: BaselineState::None,
            runs: 0,
            needed: Baseline::NEEDED,
            from: None,
            to: None,
            season: None,
            season_runs: None,
            previous_run: None,
            excluded_runs: 0,
        }
    }
}

impl Baseline {
    /// Accepted runs before learned bounds are used.
    pub const NEEDED: u32 = 5;
}
