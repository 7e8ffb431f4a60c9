//! The value of a metric in a document.

use std::time::Duration;

use jiff::Timestamp;

use crate::check::{Metric, MetricKind};
use crate::document::{Column, ColumnType, DistinctMethod, Document, Scalar, Scope, Table};
use crate::words;

pub(super) const NOT_A_TABLE: &str = "the artifact was not read as a table";
pub(super) const PARTIAL: &str = "the artifact could not be read to its end";
const NO_ROWS: &str = "there are no rows";

/// What was measured.
pub(super) struct Measured {
    /// In the unit of bounds: counts, shares from 0 to 1, seconds, bytes.
    pub(super) value: f64,
    /// As the document shows it.
    pub(super) shown: Scalar,
    /// As a person says it, with what it is a measure of.
    pub(super) words: String,
}

/// Why nothing was measured.
pub(super) enum Unmeasured {
    /// There is no such column.
    Absent(String),
    /// There is nothing to measure, such as a share of no rows.
    Nothing(String),
    /// The column does not hold what the metric needs.
    Unfit(String),
    /// It is not known because of a fault.
    Fault(String),
}

type Answer<T> = Result<T, Unmeasured>;

/// Measures a metric; `share` asks for a count as a share of the rows.
pub(super) fn measure(document: &Document, metric: &Metric, share: bool, now: Timestamp) -> Answer<Measured> {
    if metric.kind == MetricKind::Bytes {
        return Ok(count(document.artifact.bytes, words::bytes(document.artifact.bytes)));
    }
    let table = whole_table(document)?;
    let column = match &metric.column {
        Some(name) => Some(document.column(name).ok_or_else(|| Unmeasured::Absent(name.clone()))?),
        None => None,
    };
    match (metric.kind, column) {
        (MetricKind::Freshness, column) => {
            let age = age(document, column.map(|column| column.key.as_str()), now)?;
            let words = age_in_words(time_column(document, column), age);
            Ok(Measured { value: age, shown: Scalar::from(age.round() as i64), words })
        }
        (MetricKind::Completeness, None) => {
            let complete = part(table.cells - table.null_cells, table.cells)?;
            Ok(as_share(complete, format!("{} complete", words::percent(complete))))
        }
        (kind, Some(column)) => of_column(kind, column, table.rows, share),
        (kind, None) => of_table(kind, table, share),
    }
}

fn of_table(kind: MetricKind, table: &Table, share: bool) -> Answer<Measured> {
    let (value, noun) = match kind {
        MetricKind::Rows => (table.rows, "row"),
        MetricKind::Columns => (table.columns, "column"),
        MetricKind::BadRows => (table.bad_rows, "bad row"),
        MetricKind::RaggedRows => (table.ragged_rows, "ragged row"),
        MetricKind::DuplicateRows => {
            let counted = table.duplicate_rows.value;
            (counted.ok_or_else(|| Unmeasured::Fault("duplicate rows were not counted".to_owned()))?, "duplicate row")
        }
        MetricKind::Bytes
        | MetricKind::Completeness
        | MetricKind::Nulls
        | MetricKind::Distinct
        | MetricKind::Freshness
        | MetricKind::Min
        | MetricKind::Max
        | MetricKind::Mean
        | MetricKind::Stddev
        | MetricKind::P05
        | MetricKind::P50
        | MetricKind::P95 => return Err(Unmeasured::Fault(format!("`{}` needs a column", kind.name()))),
    };
    if share {
        let of_rows = part(value, table.rows)?;
        return Ok(as_share(of_rows, format!("{} of the rows are {noun}s", words::percent(of_rows))));
    }
    Ok(count(value, words::counted(value, noun)))
}

fn of_column(kind: MetricKind, column: &Column, rows: u64, share: bool) -> Answer<Measured> {
    let name = &column.key;
    match kind {
        MetricKind::Completeness => {
            let complete = part(rows - column.nulls, rows)?;
            Ok(as_share(complete, format!("`{name}` is {} complete", words::percent(complete))))
        }
        MetricKind::Nulls if share => {
            let nulls = part(column.nulls, rows)?;
            Ok(as_share(nulls, format!("`{name}` is null in {} of the rows", words::percent(nulls))))
        }
        MetricKind::Nulls => Ok(count(column.nulls, format!("`{name}` has {}", words::counted(column.nulls, "null")))),
        MetricKind::Distinct => distinct(column, rows, share),
        MetricKind::Min => number(column, column.min.as_ref(), "smallest"),
        MetricKind::Max => number(column, column.max.as_ref(), "largest"),
        MetricKind::Mean => number(column, column.mean.map(Scalar::from).as_ref(), "mean of"),
        MetricKind::Stddev => number(column, column.stddev.map(Scalar::from).as_ref(), "standard deviation of"),
        MetricKind::P05 => number(column, column.quantiles.as_ref().map(|found| &found.p05), "5% quantile of"),
        MetricKind::P50 => number(column, column.quantiles.as_ref().map(|found| &found.p50), "median of"),
        MetricKind::P95 => number(column, column.quantiles.as_ref().map(|found| &found.p95), "95% quantile of"),
        MetricKind::Rows
        | MetricKind::Columns
        | MetricKind::Bytes
        | MetricKind::DuplicateRows
        | MetricKind::BadRows
        | MetricKind::RaggedRows
        | MetricKind::Freshness => Err(Unmeasured::Fault(format!("`{}` takes no column", kind.name()))),
    }
}

fn distinct(column: &Column, rows: u64, share: bool) -> Answer<Measured> {
    let (name, value) = (&column.key, column.distinct.value);
    if share {
        let ratio = part(value, rows - column.nulls)?;
        return Ok(as_share(ratio, format!("{} of the values of `{name}` differ", words::percent(ratio))));
    }
    let about = match column.distinct.method {
        DistinctMethod::Exact => "",
        DistinctMethod::Hll14 => "about ",
    };
    Ok(count(value, format!("`{name}` has {about}{}", words::counted(value, "different value"))))
}

fn number(column: &Column, value: Option<&Scalar>, what: &str) -> Answer<Measured> {
    let name = &column.key;
    match (column.column_type, value.and_then(Scalar::as_f64)) {
        (ColumnType::Null, _) => Err(Unmeasured::Nothing(format!("`{name}` has no value"))),
        (ColumnType::Int | ColumnType::Float, Some(number)) => {
            let shown = value.cloned().unwrap_or_else(|| Scalar::from(number));
            let words = format!("the {what} `{name}` is {shown}");
            Ok(Measured { value: number, shown, words })
        }
        (ColumnType::Int | ColumnType::Float, None) => Err(Unmeasured::Nothing(format!("the {what} `{name}` is not defined"))),
        (
            ColumnType::Bool
            | ColumnType::Date
            | ColumnType::Timestamp
            | ColumnType::String
            | ColumnType::List
            | ColumnType::Struct
            | ColumnType::Mixed,
            _,
        ) => Err(Unmeasured::Unfit(format!("`{name}` does not hold numbers"))),
    }
}

/// Seconds since the newest time of a column, or of the column that tells the time; negative for one in the future.
pub(super) fn age(document: &Document, column: Option<&str>, now: Timestamp) -> Answer<f64> {
    let table = whole_table(document)?;
    let column = match column {
        Some(name) => Some(document.column(name).ok_or_else(|| Unmeasured::Absent(name.to_owned()))?),
        None => document.freshness.column.as_deref().and_then(|name| document.column(name)),
    };
    if table.rows == 0 {
        return Err(Unmeasured::Nothing(NO_ROWS.to_owned()));
    }
    let column = column.ok_or_else(|| Unmeasured::Unfit("no column holds times".to_owned()))?;
    let told = document.freshness.column.as_ref() == Some(&column.key);
    let newest = if told { document.freshness.newest } else { newest(column) };
    let newest = newest.ok_or_else(|| Unmeasured::Unfit(format!("`{}` does not hold times", column.key)))?;
    Ok(now.duration_since(newest).as_secs_f64())
}

/// The newest time of a column of times.
fn newest(column: &Column) -> Option<Timestamp> {
    let Some(Scalar::Text(text)) = &column.max else { return None };
    match column.column_type {
        ColumnType::Date => format!("{text}T00:00:00Z").parse().ok(),
        ColumnType::Timestamp => text.parse().ok(),
        ColumnType::Null
        | ColumnType::Int
        | ColumnType::Float
        | ColumnType::Bool
        | ColumnType::String
        | ColumnType::List
        | ColumnType::Struct
        | ColumnType::Mixed => None,
    }
}

fn time_column<'a>(document: &'a Document, column: Option<&'a Column>) -> &'a str {
    column.map(|column| column.key.as_str()).or(document.freshness.column.as_deref()).unwrap_or("time")
}

/// `` the newest `ts` is 30h old ``
pub(super) fn age_in_words(column: &str, seconds: f64) -> String {
    let span = words::span(Duration::from_secs_f64(seconds.abs()));
    if seconds < 0.0 {
        format!("the newest `{column}` lies {span} in the future")
    } else {
        format!("the newest `{column}` is {span} old")
    }
}

fn whole_table(document: &Document) -> Answer<&Table> {
    match (&document.table, document.profile.scope) {
        (_, Scope::Partial) => Err(Unmeasured::Fault(PARTIAL.to_owned())),
        (Some(table), Scope::Full | Scope::BytesOnly) => Ok(table),
        (None, Scope::Full | Scope::BytesOnly) => Err(Unmeasured::Fault(NOT_A_TABLE.to_owned())),
    }
}

fn part(part: u64, whole: u64) -> Answer<f64> {
    if whole == 0 { Err(Unmeasured::Nothing(NO_ROWS.to_owned())) } else { Ok(part as f64 / whole as f64) }
}

fn count(value: u64, words: String) -> Measured {
    Measured { value: value as f64, shown: value.into(), words }
}

fn as_share(value: f64, words: String) -> Measured {
    Measured { value, shown: words::rounded(value).into(), words }
}
