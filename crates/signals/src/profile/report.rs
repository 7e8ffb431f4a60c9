//! From running counts to the document.

use std::collections::BTreeMap;

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::column::{Column, compare_integers};
use super::table::{Key, Oddities, Table, Tally};
use crate::document::{
    CellType, Column as ColumnCounts, ColumnType, DuplicateRows, Freshness, FreshnessSource, KeyCounts, Length, NullLike,
    Quantiles, RepeatMethod, Scalar, Structure, Table as TableCounts,
};
use crate::finding::{Code, Finding};
use crate::options::Format;
use crate::words::rounded;

/// What a table gives to the document.
pub(super) struct Report {
    pub(super) table: TableCounts,
    pub(super) freshness: Freshness,
    pub(super) structure: Structure,
    pub(super) columns: Vec<ColumnCounts>,
    pub(super) findings: Vec<Finding>,
    pub(super) limits: Vec<String>,
}

/// Closes a table that was read to its end.
pub(super) fn report(table: Table<'_>, format: Format, now: Timestamp) -> Report {
    let rows = table.rows;
    let mut findings = oddity_findings(&table.oddities);
    let freshness = freshness(&table, now);
    let key = table.key.map(Key::finish);
    let unique = table.unique.into_iter().map(Key::finish).collect();
    let columns: Vec<ColumnCounts> = table
        .columns
        .into_iter()
        .map(|column| {
            let (counts, found) = close(column, rows, format);
            findings.extend(found);
            counts
        })
        .collect();
    let cells = rows * columns.len() as u64;
    let null_cells = columns.iter().map(|column| column.nulls).sum();
    let duplicates = table.repeats.count();
    let mut limits = table.limits;
    if duplicates.is_none() {
        limits.push("repeat_rows");
    }
    findings.extend(limits.iter().map(|limit| Finding::new(Code::LimitReached).detail("limit", *limit)));
    findings.extend(key.iter().flat_map(key_findings));
    let counts = TableCounts {
        rows,
        columns: table.oddities.columns.unwrap_or(columns.len() as u64),
        cells,
        null_cells,
        completeness: share(cells - null_cells, cells),
        duplicate_rows: DuplicateRows {
            value: duplicates,
            method: if duplicates.is_some() { RepeatMethod::Exact } else { RepeatMethod::None },
        },
        key,
        unique,
        bad_rows: table.oddities.bad_json.count + table.oddities.too_long.count,
        ragged_rows: table.oddities.short.count + table.oddities.long.count,
        blank_lines: table.oddities.blank.count,
    };
    let limits = limits.into_iter().map(str::to_owned).collect();
    Report { table: counts, freshness, structure: structure(&columns), columns, findings, limits }
}

fn oddity_findings(oddities: &Oddities) -> Vec<Finding> {
    let Oddities { short, long, bad_json, too_long, blank, truncated, unclosed, columns: _ } = oddities;
    let tallies: [(Code, &Tally); 7] = [
        (Code::UnclosedQuote, unclosed),
        (Code::TruncatedTail, truncated),
        (Code::BadJson, bad_json),
        (Code::BadRows, too_long),
        (Code::ShortRow, short),
        (Code::LongRow, long),
        (Code::BlankLine, blank),
    ];
    let found = tallies.into_iter().filter(|(_, tally)| tally.count > 0);
    found.map(|(code, tally)| Finding::new(code).times(tally.count).at_line(tally.first_line)).collect()
}

fn key_findings(key: &KeyCounts) -> impl Iterator<Item = Finding> + use<> {
    let counts = [(Code::DuplicateKey, key.duplicate_rows), (Code::NullInKey, key.null_rows)];
    counts.into_iter().filter_map(|(code, count)| count.filter(|count| *count > 0).map(|count| Finding::new(code).times(count)))
}

/// A share of a whole, rounded to six digits; `None` for a share of nothing.
pub(super) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| rounded(part as f64 / whole as f64))
}

/// The counts of one column, and what is odd about it.
fn close(column: Column, rows: u64, format: Format) -> (ColumnCounts, Vec<Finding>) {
    let json = format == Format::Jsonl;
    let column_type = if json { json_type(&column) } else { text_type(&column) };
    let missing = rows - column.counts.iter().sum::<u64>();
    let nulls = column.count(CellType::Null) + missing;
    let values = column.values();
    let findings = column_findings(&column, column_type, rows, json);
    let numeric = matches!(column_type, ColumnType::Int | ColumnType::Float);
    let text = matches!(column_type, ColumnType::String);
    let (min, max) = range(&column, column_type);
    let distinct = column.distinct.count(values);
    let (mean, stddev) = column.moments.finish();
    let sample = if numeric { column.sample.quantiles([0.05, 0.5, 0.95]) } else { None };
    let whole = column_type == ColumnType::Int;
    let counts = ColumnCounts {
        type_counts: type_counts(&column.counts, missing, json),
        name: column.name,
        key: column.key,
        column_type,
        nulls,
        null_share: share(nulls, rows),
        null_like: NullLike {
            blank: if text { column.looks.blank } else { 0 },
            token: if text { column.looks.token + column.non_finite.nan } else { 0 },
        },
        distinct,
        distinct_ratio: share(distinct.value, values),
        min,
        max,
        mean: mean.filter(|_| numeric),
        stddev: stddev.filter(|_| numeric),
        quantiles: sample.map(|found| {
            let [p05, p50, p95] = found.map(|value| number(value, whole));
            Quantiles { p05, p50, p95 }
        }),
        length: column.length.map(|(min, max)| Length { min, max }),
        non_finite: column.non_finite.total(),
        histogram: None,
        top: None,
    };
    (counts, findings)
}

const CELL_TYPES: [CellType; 9] = [
    CellType::Int,
    CellType::Float,
    CellType::Bool,
    CellType::Date,
    CellType::Timestamp,
    CellType::String,
    CellType::List,
    CellType::Struct,
    CellType::Null,
];

/// Cells by type, without zeros; nulls and missing keys only where the format can tell them apart.
fn type_counts(counts: &[u64; 9], missing: u64, json: bool) -> BTreeMap<CellType, u64> {
    let all = CELL_TYPES.into_iter().zip(counts.iter().copied()).chain([(CellType::Missing, missing)]);
    let told = |kind: &CellType| json || !matches!(kind, CellType::Null | CellType::Missing);
    all.filter(|(kind, count)| *count > 0 && told(kind)).collect()
}

/// The narrowest type of all values of a column of texts.
fn text_type(column: &Column) -> ColumnType {
    let all = column.values();
    let only = |kinds: &[CellType]| kinds.iter().map(|kind| column.count(*kind)).sum::<u64>() == all;
    let narrow = [
        (ColumnType::Null, &[] as &[CellType]),
        (ColumnType::Int, &[CellType::Int]),
        (ColumnType::Float, &[CellType::Int, CellType::Float]),
        (ColumnType::Bool, &[CellType::Bool]),
        (ColumnType::Date, &[CellType::Date]),
        (ColumnType::Timestamp, &[CellType::Date, CellType::Timestamp]),
    ];
    narrow.into_iter().find(|(_, kinds)| only(kinds)).map_or(ColumnType::String, |(found, _)| found)
}

/// The same for JSON, where a text is never a number.
fn json_type(column: &Column) -> ColumnType {
    let texts = column.count(CellType::String) + column.count(CellType::Date) + column.count(CellType::Timestamp);
    let all = column.values();
    if column.count(CellType::List) == all && all > 0 {
        ColumnType::List
    } else if column.count(CellType::Struct) == all && all > 0 {
        ColumnType::Struct
    } else {
        match text_type(column) {
            ColumnType::String if texts < all => ColumnType::Mixed,
            other => other,
        }
    }
}

/// Least and greatest value of a column of numbers or times.
fn range(column: &Column, column_type: ColumnType) -> (Option<Scalar>, Option<Scalar>) {
    match column_type {
        ColumnType::Int => whole_range(column),
        ColumnType::Float => {
            let ints = column.ints.map(|(low, high)| (low as f64, high as f64));
            let both = [ints, column.floats].into_iter().flatten().reduce(|(low, high), (a, b)| (low.min(a), high.max(b)));
            both.map(|(low, high)| (Scalar::from(low), Scalar::from(high))).unzip()
        }
        ColumnType::Date => column.times.range.map(|(low, high)| (day(low), day(high))).unzip(),
        ColumnType::Timestamp => {
            let scalar = |micros| instant(micros).map(Scalar::from);
            column.times.range.map_or((None, None), |(low, high)| (scalar(low), scalar(high)))
        }
        ColumnType::Null | ColumnType::Bool | ColumnType::String | ColumnType::List | ColumnType::Struct | ColumnType::Mixed => {
            (None, None)
        }
    }
}

fn whole_range(column: &Column) -> (Option<Scalar>, Option<Scalar>) {
    let Some(big) = &column.big else {
        return column.ints.map(|(low, high)| (Scalar::from(low), Scalar::from(high))).unzip();
    };
    let (mut low, mut high) = (big.min.clone(), big.max.clone());
    if let Some((small_low, small_high)) = column.ints {
        let by_size = |left: &String, right: &String| compare_integers(left, right);
        low = [low, small_low.to_string()].into_iter().min_by(by_size).unwrap_or_default();
        high = [high, small_high.to_string()].into_iter().max_by(by_size).unwrap_or_default();
    }
    let scalar = |text: String| text.parse::<i64>().map_or_else(|_| Scalar::Text(text.clone()), Scalar::from);
    (Some(scalar(low)), Some(scalar(high)))
}

fn number(value: f64, whole: bool) -> Scalar {
    if whole && value.abs() <= (1_u64 << 53) as f64 { Scalar::Integer(value as i64) } else { Scalar::from(value) }
}

fn instant(micros: i64) -> Option<Timestamp> {
    Timestamp::from_microsecond(micros).ok()
}

fn day(micros: i64) -> Scalar {
    let text = instant(micros).map(|time| time.to_string()).unwrap_or_default();
    Scalar::Text(text.chars().take(10).collect())
}

fn column_findings(column: &Column, column_type: ColumnType, rows: u64, json: bool) -> Vec<Finding> {
    let values = column.values();
    let found = |code| Finding::new(code).in_column(&column.key);
    let mut findings = Vec::new();
    if values == 0 && rows > 0 {
        findings.push(found(Code::AllNullColumn).times(rows));
    }
    if json && column.key.contains("\\.") {
        findings.push(found(Code::DottedKey).detail("name", column.key.replace("\\.", ".").as_str()));
    }
    let numeric = matches!(column_type, ColumnType::Int | ColumnType::Float);
    let strange = column.non_finite;
    if numeric && strange.total() > 0 {
        let counts = [("nan", strange.nan), ("infinite", strange.infinite), ("overflow", strange.overflow)];
        let finding = found(Code::NonFinite).times(strange.total());
        findings.push(counts.into_iter().fold(finding, |finding, (name, count)| finding.detail(name, count)));
    }
    if let Some(big) = column.big.as_ref().filter(|_| numeric) {
        findings.push(found(Code::IntBeyondI64).times(big.count));
    }
    if column_type == ColumnType::String {
        findings.extend(text_findings(column, values, json).into_iter().map(|finding| finding.in_column(&column.key)));
    }
    if column_type == ColumnType::Mixed {
        findings.push(found(Code::MixedTypes));
    }
    let times = &column.times;
    if column_type == ColumnType::Timestamp && times.zoned > 0 && times.naive > 0 {
        findings.push(found(Code::MixedTimeZones).detail("with_offset", times.zoned).detail("naive", times.naive));
    }
    findings
}

/// What is odd about a column that is text only because not all of its values are something narrower.
fn text_findings(column: &Column, values: u64, json: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    let looks = column.looks;
    let null_like = looks.blank + looks.token + column.non_finite.nan;
    let texts = column.count(CellType::String);
    let typed = values - texts;
    if null_like > 0 {
        findings.push(Finding::new(Code::NullLike).times(null_like));
    }
    let codes = looks.leading_zeros > 0 && column.count(CellType::Int) + looks.leading_zeros == values;
    if codes {
        findings.push(Finding::new(Code::LeadingZeros).times(looks.leading_zeros));
    }
    // Numbers are common within text; a column is called mixed when most of it is something narrower, and the rest is
    // neither a code nor a stand-in for "no value".
    let plain = texts - looks.leading_zeros - looks.blank - looks.token;
    if !json && !codes && typed * 2 >= values && (plain > 0 || texts == 0) {
        let least = [typed, texts].into_iter().filter(|count| *count > 0).min();
        findings.push(Finding::new(Code::MixedTypes).times(least.unwrap_or(0)));
    }
    findings
}

/// The column that tells the time, and what it tells.
fn freshness(table: &Table<'_>, now: Timestamp) -> Freshness {
    let declared = table.options.freshness.as_deref();
    let (column, source) = match declared {
        Some(name) => {
            let by_key = table.columns.iter().find(|column| column.key == name);
            (by_key.or_else(|| table.columns.iter().find(|column| column.name == name)), FreshnessSource::Declared)
        }
        None => {
            let of = |wanted| table.columns.iter().find(move |column| text_type(column) == wanted);
            (of(ColumnType::Timestamp).or_else(|| of(ColumnType::Date)), FreshnessSource::Detected)
        }
    };
    let times = column.map(|column| &column.times);
    let (oldest, newest) = times.and_then(|times| times.range).map_or((None, None), |(low, high)| (instant(low), instant(high)));
    Freshness {
        column: column.map(|column| column.key.clone()).or_else(|| declared.map(str::to_owned)),
        source: if column.is_none() && declared.is_none() { FreshnessSource::None } else { source },
        newest,
        oldest,
        age_s: newest.map(|newest| now.duration_since(newest).as_secs()),
        future_rows: times.map_or(0, |times| times.future),
        artifact_age_s: None,
        assumed_zone_rows: times.map_or(0, |times| times.naive),
    }
}

fn structure(columns: &[ColumnCounts]) -> Structure {
    let mut fingerprint = Sha256::new();
    for column in columns {
        let word = column.column_type.name();
        fingerprint.update(format!("{}\0{word}\n", column.key));
    }
    let mut keys: Vec<&str> = columns.iter().map(|column| column.key.as_str()).collect();
    keys.sort_unstable();
    Structure { fingerprint: hex(fingerprint), names: hex(Sha256::new_with_prefix(keys.join("\0"))) }
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
