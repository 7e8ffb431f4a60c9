//! The quality document: what is stored beside an artifact.
//!
//! The order of the fields is the order of the keys in the file. Counts are integers, shares run from 0 to 1 and are rounded
//! to six digits, 0/0 is `null`, integers beyond 2^53 are strings, times are RFC 3339 in UTC, and there is no NaN. No cell
//! value of a text column appears.

use std::collections::BTreeMap;

use jiff::Timestamp;
use model::Verdict;
use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::options::Format;

mod scalar;
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

/// The narrowest type that every value of a column has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnType {
    /// No value at all.
    Null,
    /// Whole numbers of any width, without leading zeros or plus.
    Int,
    /// Numbers, NaN and infinity.
    Float,
    /// `true` and `false`.
    Bool,
    /// `YYYY-MM-DD`.
    Date,
    /// A date with a time of day.
    Timestamp,
    /// Text, or cells of different types.
    String,
    /// JSON arrays.
    List,
    /// JSON objects.
    Struct,
    /// JSON values of different types.
    Mixed,
}

/// What one cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CellType {
    /// A whole number.
    Int,
    /// A number.
    Float,
    /// `true` or `false`.
    Bool,
    /// A date.
    Date,
    /// A date with a time of day.
    Timestamp,
    /// Text.
    String,
    /// A JSON array.
    List,
    /// A JSON object.
    Struct,
    /// A JSON `null`.
    Null,
    /// A JSON key that the row does not have.
    Missing,
}

/// Counts of one column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// The name as written.
    pub name: String,
    /// The name made unique: `name#2` for a second `name`, `#3` for the nameless fourth; for JSON the dotted path.
    pub key: String,
    /// The narrowest type of all values.
    #[serde(rename = "type")]
    pub column_type: ColumnType,
    /// Cells by type; nulls are counted here for JSON only.
    pub type_counts: BTreeMap<CellType, u64>,
    /// Cells without a value.
    pub nulls: u64,
    /// Their share of the rows.
    pub null_share: Option<f64>,
    /// Cells of a text column that look like a missing value.
    pub null_like: NullLike,
    /// Different values.
    pub distinct: Distinct,
    /// Different values by values.
    pub distinct_ratio: Option<f64>,
    /// Least number or oldest time.
    pub min: Option<Scalar>,
    /// Greatest number or newest time.
    pub max: Option<Scalar>,
    /// Mean of the finite numbers.
    pub mean: Option<f64>,
    /// Standard deviation of the finite numbers, of a sample (n − 1).
    pub stddev: Option<f64>,
    /// Values below which a share of the finite numbers lies.
    pub quantiles: Option<Quantiles>,
    /// Characters of the values as written; for JSON of the texts only.
    pub length: Option<Length>,
    /// NaN and infinite numbers.
    pub non_finite: u64,
    /// Not computed yet.
    pub histogram: Option<Histogram>,
    /// Not computed yet; holds cell values, so a manifest has to ask for it.
    pub top: Option<Vec<TopValue>>,
}

/// Values that look like a missing one and are not declared as such.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NullLike {
    /// Nothing but blanks.
    pub blank: u64,
    /// `NA`, `N/A`, `NULL`, `None`, `NaN`, `-` and their kin.
    pub token: u64,
}

/// Different values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distinct {
    /// The count or its estimate, never above the number of values.
    pub value: u64,
    /// How it was counted.
    pub method: DistinctMethod,
    /// Standard error of an estimate, as a share; 0 for a count.
    pub rel_error: f64,
}

/// How different values are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DistinctMethod {
    /// All of them were kept as 64-bit hashes.
    Exact,
    /// HyperLogLog of 2^14 registers.
    Hll14,
}

/// Values below which 5, 50 and 95 of a hundred lie; from an even sample of a large column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    /// 5 %.
    pub p05: Scalar,
    /// Median.
    pub p50: Scalar,
    /// 95 %.
    pub p95: Scalar,
}

/// Least and greatest number of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Length {
    /// Shortest.
    pub min: u64,
    /// Longest.
    pub max: u64,
}

/// Numbers by range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Bounds, one more than counts.
    pub edges: Vec<f64>,
    /// Values between two bounds.
    pub counts: Vec<u64>,
}

/// A frequent value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopValue {
    /// The value.
    pub value: Scalar,
    /// How often.
    pub count: u64,
}

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
    /// Nothing became something, something became nothing, or int became float.
    Widened,
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
