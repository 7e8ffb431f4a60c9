//! What a check can measure.

/// A measure of the table or of one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// What is measured.
    pub kind: MetricKind,
    /// Of which column; `None` for the whole table.
    pub column: Option<String>,
}

/// Everything a check can measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MetricKind {
    /// Rows.
    Rows,
    /// Columns.
    Columns,
    /// Size as published.
    Bytes,
    /// Rows that repeat an earlier row.
    DuplicateRows,
    /// Lines that are not a row.
    BadRows,
    /// Rows with too few or too many fields.
    RaggedRows,
    /// Share of cells with a value.
    Completeness,
    /// Cells without a value.
    Nulls,
    /// Different values.
    Distinct,
    /// Age of the newest time.
    Freshness,
    /// Least number.
    Min,
    /// Greatest number.
    Max,
    /// Mean.
    Mean,
    /// Standard deviation.
    Stddev,
    /// Number that 5 % lie below.
    P05,
    /// Median.
    P50,
    /// Number that 95 % lie below.
    P95,
}

/// Whether a metric names a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Table,
    Either,
    Column,
}

/// What a metric is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// A whole number.
    Count,
    /// A whole number, or its share of the rows.
    CountOrShare,
    /// A share: 0 to 1, or a percentage.
    Share,
    /// Any number.
    Number,
    /// A number of bytes.
    Size,
    /// An age.
    Span,
}

/// How a metric may be compared with the last accepted run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeMeasure {
    /// By its share of the old value.
    Relative,
    /// By the difference of two shares.
    Points,
    /// Not at all.
    None,
}

impl MetricKind {
    /// All of them, in the order of the reference.
    pub const ALL: [MetricKind; 17] = [
        MetricKind::Rows,
        MetricKind::Columns,
        MetricKind::Bytes,
        MetricKind::DuplicateRows,
        MetricKind::BadRows,
        MetricKind::RaggedRows,
        MetricKind::Completeness,
        MetricKind::Nulls,
        MetricKind::Distinct,
        MetricKind::Freshness,
        MetricKind::Min,
        MetricKind::Max,
        MetricKind::Mean,
        MetricKind::Stddev,
        MetricKind::P05,
        MetricKind::P50,
        MetricKind::P95,
    ];

    /// The word in a check and in the document.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            MetricKind::Rows => "rows",
            MetricKind::Columns => "columns",
            MetricKind::Bytes => "bytes",
            MetricKind::DuplicateRows => "duplicate_rows",
            MetricKind::BadRows => "bad_rows",
            MetricKind::RaggedRows => "ragged_rows",
            MetricKind::Completeness => "completeness",
            MetricKind::Nulls => "nulls",
            MetricKind::Distinct => "distinct",
            MetricKind::Freshness => "freshness",
            MetricKind::Min => "min",
            MetricKind::Max => "max",
            MetricKind::Mean => "mean",
            MetricKind::Stddev => "stddev",
            MetricKind::P05 => "p05",
            MetricKind::P50 => "p50",
            MetricKind::P95 => "p95",
        }
    }

    pub(crate) fn subject(self) -> Subject {
        match self {
            MetricKind::Rows
            | MetricKind::Columns
            | MetricKind::Bytes
            | MetricKind::DuplicateRows
            | MetricKind::BadRows
            | MetricKind::RaggedRows => Subject::Table,
            MetricKind::Completeness | MetricKind::Freshness => Subject::Either,
            MetricKind::Nulls
            | MetricKind::Distinct
            | MetricKind::Min
            | MetricKind::Max
            | MetricKind::Mean
            | MetricKind::Stddev
            | MetricKind::P05
            | MetricKind::P50
            | MetricKind::P95 => Subject::Column,
        }
    }

    pub(crate) fn measure(self) -> Measure {
        match self {
            MetricKind::Rows | MetricKind::Columns => Measure::Count,
            MetricKind::DuplicateRows
            | MetricKind::BadRows
            | MetricKind::RaggedRows
            | MetricKind::Nulls
            | MetricKind::Distinct => Measure::CountOrShare,
            MetricKind::Bytes => Measure::Size,
            MetricKind::Completeness => Measure::Share,
            MetricKind::Freshness => Measure::Span,
            MetricKind::Min
            | MetricKind::Max
            | MetricKind::Mean
            | MetricKind::Stddev
            | MetricKind::P05
            | MetricKind::P50
            | MetricKind::P95 => Measure::Number,
        }
    }

    pub(crate) fn change(self) -> ChangeMeasure {
        match self {
            MetricKind::Rows | MetricKind::Columns | MetricKind::Bytes | MetricKind::Distinct | MetricKind::Mean => {
                ChangeMeasure::Relative
            }
            MetricKind::Completeness => ChangeMeasure::Points,
            MetricKind::DuplicateRows
            | MetricKind::BadRows
            | MetricKind::RaggedRows
            | MetricKind::Nulls
            | MetricKind::Freshness
            | MetricKind::Min
            | MetricKind::Max
            | MetricKind::Stddev
            | MetricKind::P05
            | MetricKind::P50
            | MetricKind::P95 => ChangeMeasure::None,
        }
    }
}
