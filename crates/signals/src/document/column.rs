//! What a document says about one column.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Scalar;

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

impl ColumnType {
    /// The word in the document.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ColumnType::Null => "null",
            ColumnType::Int => "int",
            ColumnType::Float => "float",
            ColumnType::Bool => "bool",
            ColumnType::Date => "date",
            ColumnType::Timestamp => "timestamp",
            ColumnType::String => "string",
            ColumnType::List => "list",
            ColumnType::Struct => "struct",
            ColumnType::Mixed => "mixed",
        }
    }
}
