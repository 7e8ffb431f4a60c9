//! Facts that the profile noticed, whether or not a rule asks about them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::document::Scalar;

/// One fact about the artifact. It never holds cell values of text columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What was found.
    pub code: Code,
    /// How much it matters when no rule says otherwise.
    pub severity: Severity,
    /// Key of the column it is about, if it is about one.
    pub column: Option<String>,
    /// How often: rows, cells or bytes, as the code says.
    pub count: Option<u64>,
    /// Line of the first occurrence, from 1.
    pub first_line: Option<u64>,
    /// Further numbers and names, by the code.
    pub details: BTreeMap<String, Scalar>,
}

impl Finding {
    /// A finding of the code's own severity, about the whole artifact.
    #[must_use]
    pub fn new(code: Code) -> Self {
        Self { code, severity: code.severity(), column: None, count: None, first_line: None, details: BTreeMap::new() }
    }

    pub(crate) fn in_column(mut self, key: &str) -> Self {
        self.column = Some(key.to_owned());
        self
    }

    pub(crate) fn times(mut self, count: u64) -> Self {
        self.count = Some(count);
        self
    }

    pub(crate) fn at_line(mut self, line: Option<u64>) -> Self {
        self.first_line = line;
        self
    }

    pub(crate) fn detail(mut self, name: &str, value: impl Into<Scalar>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }
}

/// How much a finding matters by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Info,
    /// A person should look.
    Warn,
    /// The artifact is broken.
    Fail,
}

/// Every fact the profile can report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// Reading stopped with an error of the reader; counts cover what came before.
    Unreadable,
    /// A table of zero bytes (or nothing but a byte order mark).
    EmptyFile,
    /// A header, or only blank lines, and no row.
    NoRows,
    /// A quoted field was still open at the end; the rest of the file is inside it.
    UnclosedQuote,
    /// The last JSON value is cut off.
    TruncatedTail,
    /// Lines that are not a JSON object.
    BadJson,
    /// Rows that were left out because they exceed a limit.
    BadRows,
    /// Rows with fewer fields than the header; padded with nulls.
    ShortRow,
    /// Rows with more fields than the header; the excess is ignored.
    LongRow,
    /// A column of which every cell is null.
    AllNullColumn,
    /// The declared key occurs more than once.
    DuplicateKey,
    /// Rows in which a column of the declared key is null.
    NullInKey,
    /// The content was not profiled: a form that is not read yet, such as a compressed file.
    NotProfiled,
    /// Bytes that are not UTF-8; counts are exact by bytes.
    NotUtf8,
    /// A bound of the profiler was reached; what is missing is in `details`.
    LimitReached,
    /// The file starts with a byte order mark.
    Bom,
    /// Lines without anything on them.
    BlankLine,
    /// NUL bytes in the text.
    NulByte,
    /// Several columns have the same name.
    DuplicateColumnName,
    /// A column without a name.
    EmptyColumnName,
    /// A JSON key that holds a dot, so that it could be mistaken for a path.
    DottedKey,
    /// Cells of different types in one column.
    MixedTypes,
    /// Cells of a text column that look like a missing value.
    NullLike,
    /// NaN and infinite numbers; left out of min, max and mean.
    NonFinite,
    /// Integers that need more than 64 bits.
    IntBeyondI64,
    /// Numbers with leading zeros, kept as text.
    LeadingZeros,
    /// Times with and without an offset in one column; those without are read as UTC.
    MixedTimeZones,
}

impl Code {
    /// How much it matters when no rule says otherwise.
    #[must_use]
    pub fn severity(self) -> Severity {
        match self {
            Code::Unreadable
            | Code::EmptyFile
            | Code::UnclosedQuote
            | Code::TruncatedTail
            | Code::BadJson
            | Code::BadRows
            | Code::ShortRow
            | Code::LongRow
            | Code::DuplicateKey
            | Code::NullInKey => Severity::Fail,
            Code::NoRows => Severity::Warn,
            Code::NotUtf8
            | Code::LimitReached
            | Code::AllNullColumn
            | Code::NotProfiled
            | Code::Bom
            | Code::BlankLine
            | Code::NulByte
            | Code::DuplicateColumnName
            | Code::EmptyColumnName
            | Code::DottedKey
            | Code::MixedTypes
            | Code::NullLike
            | Code::NonFinite
            | Code::IntBeyondI64
            | Code::LeadingZeros
            | Code::MixedTimeZones => Severity::Info,
        }
    }

    /// The code as the document spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Code::Unreadable => "unreadable",
            Code::EmptyFile => "empty_file",
            Code::NoRows => "no_rows",
            Code::UnclosedQuote => "unclosed_quote",
            Code::TruncatedTail => "truncated_tail",
            Code::BadJson => "bad_json",
            Code::BadRows => "bad_rows",
            Code::ShortRow => "short_row",
            Code::LongRow => "long_row",
            Code::AllNullColumn => "all_null_column",
            Code::DuplicateKey => "duplicate_key",
            Code::NullInKey => "null_in_key",
            Code::NotProfiled => "not_profiled",
            Code::NotUtf8 => "not_utf8",
            Code::LimitReached => "limit_reached",
            Code::Bom => "bom",
            Code::BlankLine => "blank_line",
            Code::NulByte => "nul_byte",
            Code::DuplicateColumnName => "duplicate_column_name",
            Code::EmptyColumnName => "empty_column_name",
            Code::DottedKey => "dotted_key",
            Code::MixedTypes => "mixed_types",
            Code::NullLike => "null_like",
            Code::NonFinite => "non_finite",
            Code::IntBeyondI64 => "int_beyond_i64",
            Code::LeadingZeros => "leading_zeros",
            Code::MixedTimeZones => "mixed_time_zones",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
