//! The quality document: what is stored beside an artifact.
//!
//! The order of the fields is the order of the keys in the file. Counts are integers, shares run from 0 to 1 and are rounded
//! to six digits, 0/0 is `null`, integers beyond 2^53 are strings, times are RFC 3339 in UTC, and there is no NaN. No cell
//! value of a text column appears.

use jiff::Timestamp;
use model::Verdict;
use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::options::Format;

mod column;
mod judgement;
mod scalar;

pub use column::{CellType, Column, ColumnType, Distinct, DistinctMethod, Histogram, Length, NullLike, Quantiles, TopValue};
pub use judgement::{
    Baseline, BaselineState, Change, Changes, CheckResult, CheckSource, RetypeClass, Retyped, Shift, StructureChange,
};
pub use scalar::Scalar;

/// Everything the platform knows about the content of one artifact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// The version of this form.
    pub schema: Schema,
    /// The unit that published the artifact.
    pub unit: Option<String>,
    /// The run it belongs to.
    pub run: Option<String>,
    /// The attempt, from 1.
    pub attempt: Option<u32>,
    /// The nominal time of the run.
    pub slot: Option<Timestamp>,
    /// The file itself.
    pub artifact: Artifact,
    /// How it was read.
    pub profile: Scan,
    /// Counts of the whole table; `None` when the artifact was not read as a table.
    pub table: Option<Table>,
    /// How new the data is.
    pub freshness: Freshness,
    /// Hashes that tell whether the structure changed; `None` without a table.
    pub structure: Option<Structure>,
    /// One entry a column, in the order of the file.
    pub columns: Vec<Column>,
    /// Facts worth knowing.
    pub findings: Vec<Finding>,
    /// What it was compared with.
    pub baseline: Baseline,
    /// Differences from the last accepted run; `None` when there is none.
    pub changes: Option<Changes>,
    /// Every rule that was looked at.
    pub checks: Vec<CheckResult>,
    /// The worst of the checks.
    pub verdict: Verdict,
}

/// Versions of the document's form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Schema {
    /// The first.
    #[default]
    #[serde(rename = "artifact-quality/1")]
    V1,
}

/// Where a document comes from; the profile does not know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The unit that published the artifact.
    pub unit: Option<String>,
    /// The run it belongs to.
    pub run: Option<String>,
    /// The attempt, from 1.
    pub attempt: Option<u32>,
    /// The nominal time of the run.
    pub slot: Option<Timestamp>,
    /// When the unit finished writing the file.
    pub written_at: Option<Timestamp>,
}

/// What one reading of an artifact found: the document without its origin and without judgement.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The file itself.
    pub artifact: Artifact,
    /// How it was read.
    pub scan: Scan,
    /// Counts of the whole table, if it is one.
    pub table: Option<Table>,
    /// How new the data is.
    pub freshness: Freshness,
    /// Hashes of the structure, if there is a table.
    pub structure: Option<Structure>,
    /// One entry a column.
    pub columns: Vec<Column>,
    /// Facts worth knowing.
    pub findings: Vec<Finding>,
}

/// The file itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// Path below the folder of artifacts, with `/`.
    pub name: String,
    /// The form it was read as.
    pub format: Format,
    /// Who said so.
    pub format_source: FormatSource,
    /// Compression around it.
    pub compression: Option<Compression>,
    /// Encoding of the text; `None` for bytes and for text that is not UTF-8.
    pub encoding: Option<String>,
    /// How fields are parted; `None` when there are none.
    pub dialect: Option<Dialect>,
    /// Size as published.
    pub bytes: u64,
    /// Size after decompression; `None` when it was not decompressed.
    pub bytes_decoded: Option<u64>,
    /// Lines of a text that is not a table (line feeds, plus one for a last line without).
    pub lines: Option<u64>,
    /// SHA-256 of the bytes as published, in lower-case hex.
    pub sha256: String,
    /// When the unit finished writing it.
    pub written_at: Option<Timestamp>,
}

/// Who decided the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FormatSource {
    /// The manifest.
    Declared,
    /// The ending of the file's name.
    Name,
    /// The first bytes.
    Content,
}

/// Compression around an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// gzip, one or many members.
    Gzip,
    /// Zstandard.
    Zstd,
}

/// How the fields of a CSV are parted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dialect {
    /// One character.
    pub delimiter: char,
    /// Whether the first row holds the names.
    pub header: bool,
}

/// How the artifact was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scan {
    /// Name and version of the profiler.
    pub engine: String,
    /// How much of the artifact the counts cover.
    pub scope: Scope,
    /// Rows that were measured.
    pub rows_profiled: u64,
    /// Milliseconds it took; the profiler has no clock, the caller may fill it in.
    pub ms: Option<u64>,
    /// Names of the limits that were reached.
    pub limits: Vec<String>,
}

/// How much of the artifact the counts cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// All of it.
    Full,
    /// What was read before reading failed.
    Partial,
    /// Bytes and checksum; the content was not read as a table.
    BytesOnly,
}

/// Counts of the whole table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Rows without the header, bad rows and blank lines.
    pub rows: u64,
    /// Columns, including those beyond the limit.
    pub columns: u64,
    /// Rows times measured columns.
    pub cells: u64,
    /// Cells without a value.
    pub null_cells: u64,
    /// Share of cells with a value; `None` without cells.
    pub completeness: Option<f64>,
    /// Rows that repeat an earlier row.
    pub duplicate_rows: DuplicateRows,
    /// The declared key.
    pub key: Option<KeyCounts>,
    /// Other column sets that a check asks about.
    pub unique: Vec<KeyCounts>,
    /// Lines that are not a row.
    pub bad_rows: u64,
    /// Rows with too few or too many fields.
    pub ragged_rows: u64,
    /// Lines without anything on them.
    pub blank_lines: u64,
}

/// Rows minus distinct rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DuplicateRows {
    /// The count; `None` when the table has more rows than the limit.
    pub value: Option<u64>,
    /// How it was counted.
    pub method: RepeatMethod,
}

/// How repeats are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepeatMethod {
    /// By a 64-bit hash of every row, sorted.
    Exact,
    /// Not counted.
    None,
}

/// Repeats of a set of columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyCounts {
    /// The columns.
    pub columns: Vec<String>,
    /// Rows whose values repeat an earlier row's; rows with a null among them are left out. `None` when a column is absent or
    /// the table has more rows than the limit.
    pub duplicate_rows: Option<u64>,
    /// Rows with a null among them. `None` when a column is absent.
    pub null_rows: Option<u64>,
}

/// How new the data is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Freshness {
    /// The column that tells the time.
    pub column: Option<String>,
    /// Who chose it.
    pub source: FreshnessSource,
    /// Newest time.
    pub newest: Option<Timestamp>,
    /// Oldest time.
    pub oldest: Option<Timestamp>,
    /// Seconds from the newest time to the profile; negative when it lies in the future.
    pub age_s: Option<i64>,
    /// Rows whose time lies after the profile.
    pub future_rows: u64,
    /// Seconds from the end of writing to the profile.
    pub artifact_age_s: Option<i64>,
    /// Rows whose time has no offset and was read as UTC.
    pub assumed_zone_rows: u64,
}

/// Who chose the column of the freshness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FreshnessSource {
    /// The manifest.
    Declared,
    /// The first column of times, else of dates.
    Detected,
    /// There is none.
    None,
}

/// Hashes that tell whether the structure changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Structure {
    /// SHA-256 of the ordered (name, type).
    pub fingerprint: String,
    /// SHA-256 of the sorted names.
    pub names: String,
}

impl Document {
    /// A document that is not judged yet: no history, no checks, verdict `pass`.
    #[must_use]
    pub fn new(profile: Profile, origin: Origin) -> Self {
        let mut artifact = profile.artifact;
        artifact.written_at = origin.written_at;
        Self {
            schema: Schema::V1,
            unit: origin.unit,
            run: origin.run,
            attempt: origin.attempt,
            slot: origin.slot,
            artifact,
            profile: profile.scan,
            table: profile.table,
            freshness: profile.freshness,
            structure: profile.structure,
            columns: profile.columns,
            findings: profile.findings,
            baseline: Baseline::default(),
            changes: None,
            checks: Vec::new(),
            verdict: Verdict::Pass,
        }
    }

    /// The column of a key, else of a name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.key == name).or_else(|| self.columns.iter().find(|column| column.name == name))
    }

    /// Rows, when the artifact was read as a table.
    #[must_use]
    pub fn rows(&self) -> Option<u64> {
        self.table.as_ref().map(|table| table.rows)
    }
}
