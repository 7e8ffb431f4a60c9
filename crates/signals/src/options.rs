//! How an artifact is read.

use model::ArtifactFormat;
use serde::{Deserialize, Serialize};

use crate::rules::Rules;

/// The form of an artifact's content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Decided from the name, then from the first bytes. Never the format in a document.
    #[default]
    Auto,
    /// Rows of fields; the delimiter is the most frequent of `,` `;` tab and `|` in the header unless declared.
    Csv,
    /// Rows of fields parted by tabs.
    Tsv,
    /// One JSON object a line.
    Jsonl,
    /// Text that is not read as a table.
    Text,
    /// Bytes that are not read as a table.
    Binary,
}

impl From<ArtifactFormat> for Format {
    fn from(declared: ArtifactFormat) -> Self {
        match declared {
            ArtifactFormat::Auto => Format::Auto,
            ArtifactFormat::Csv => Format::Csv,
            ArtifactFormat::Tsv => Format::Tsv,
            ArtifactFormat::Jsonl => Format::Jsonl,
        }
    }
}

/// What to measure and how to read it. `Options::default()` decides everything from the artifact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The declared form, or [`Format::Auto`].
    pub format: Format,
    /// The declared delimiter of CSV, one byte.
    pub delimiter: Option<u8>,
    /// Columns that together name a row. Counting their repeats costs 8 bytes a row.
    pub key: Vec<String>,
    /// Further column sets whose repeats are counted, at the same cost each.
    pub unique: Vec<Vec<String>>,
    /// The column whose newest time is the freshness. Numbers in it are read as Unix time.
    pub freshness: Option<String>,
    /// Texts that mean "no value", beside the empty field.
    pub null_values: Vec<String>,
    /// Bounds on memory and on odd input.
    pub limits: Limits,
}

impl Options {
    /// Options that measure all that the rules ask about.
    #[must_use]
    pub fn for_rules(rules: &Rules) -> Self {
        Self {
            format: rules.format,
            key: rules.key.clone(),
            unique: rules.unique_sets(),
            freshness: rules.time_column().map(str::to_owned),
            ..Self::default()
        }
    }
}

/// Bounds that keep the profile small whatever the artifact holds. Reaching one is a finding, never an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest row in bytes; a longer one is a bad row.
    pub row_bytes: usize,
    /// Most columns that are measured; the others are only counted as present.
    pub columns: usize,
    /// Deepest nesting of a JSON value; a deeper one is a bad row.
    pub depth: usize,
    /// Most bytes of a column name (of JSON: of a path) that are kept.
    pub name_bytes: usize,
    /// Most rows whose repeats are counted (8 bytes each, for the rows and for every key).
    pub repeat_rows: usize,
    /// Memory for exact distinct counts over all columns, in bytes; columns beyond it are estimated.
    pub distinct_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { row_bytes: 16 << 20, columns: 2000, depth: 64, name_bytes: 256, repeat_rows: 64 << 20, distinct_bytes: 20 << 20 }
    }
}
