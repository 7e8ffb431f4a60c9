//! One reading of an artifact: everything that is counted is counted on the way.
//!
//! [`feed`] hands out bytes that [`source`] has counted and hashed; [`delimited`] (over [`records`]) and [`json`] turn them into
//! cells of a [`table`] of [`column`]s; [`report`] turns what these kept into the document.

mod cell;
mod column;
mod delimited;
mod detect;
mod distinct;
mod feed;
mod hash;
mod json;
mod marks;
mod moments;
mod records;
#[cfg(test)]
mod records_tests;
mod repeats;
mod report;
mod sample;
mod source;
mod table;
#[cfg(test)]
mod tests;
mod time;

use std::io::Read;

use jiff::Timestamp;

use self::detect::{Content, Unread};
use self::feed::Feed;
use self::report::Report;
use self::table::Table;
use crate::document::{Artifact, Compression, Dialect, FormatSource, Freshness, FreshnessSource, Profile, Scan, Scope};
use crate::finding::{Code, Finding};
use crate::options::{Format, Options};

/// Bytes asked for at once. The first of these blocks decides what the artifact is.
const BLOCK: usize = 128 << 10;
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Reads an artifact once, to its end, and measures it.
///
/// `name` is its path below the folder of artifacts; its ending decides the format unless the options do. `now` is what ages
/// are measured against. Bad data never stops the reading: it becomes a finding, and so does an error of the reader. Memory
/// is bounded by [`crate::Limits`] plus 8 bytes a row for the repeats and for every key. The same bytes give the same profile,
/// however they come in.
pub fn profile(reader: impl Read, name: &str, options: &Options, now: Timestamp) -> Profile {
    in_blocks(BLOCK, reader, name, options, now)
}

fn in_blocks(block: usize, reader: impl Read, name: &str, options: &Options, now: Timestamp) -> Profile {
    let mut feed = Feed::new(reader, block);
    let (content, format_source) = detect::detect(name, options.format, feed.rest());
    let mut findings = Vec::new();
    if feed.rest().starts_with(BOM) {
        feed.advance(BOM.len(), 0);
        findings.push(Finding::new(Code::Bom).detail("encoding", "utf-8"));
    }
    let read = match content {
        Content::Table(format) => read_table(&mut feed, format, options, now),
        Content::Opaque => Reading::opaque(feed.drain()),
        Content::Unread(unread) => {
            feed.drain();
            Reading::unread(unread)
        }
    };
    assemble(feed, name, format_source, read, findings)
}

/// What the reading of the content gave.
struct Reading {
    format: Option<Format>,
    dialect: Option<Dialect>,
    compression: Option<Compression>,
    /// Lines of what is not a table.
    lines: Option<u64>,
    report: Option<Report>,
    findings: Vec<Finding>,
}

impl Reading {
    fn opaque(lines: u64) -> Self {
        Self { format: None, dialect: None, compression: None, lines: Some(lines), report: None, findings: Vec::new() }
    }

    fn unread(unread: Unread) -> Self {
        let (format, compression) = match unread {
            Unread::Compressed(compression) => (Format::Binary, Some(compression)),
            Unread::Parquet => (Format::Binary, None),
            Unread::Utf16 | Unread::Json => (Format::Text, None),
        };
        let findings = vec![Finding::new(Code::NotProfiled).detail("form", unread.name())];
        Self { format: Some(format), dialect: None, compression, lines: None, report: None, findings }
    }
}

fn read_table<R: Read>(feed: &mut Feed<R>, format: Format, options: &Options, now: Timestamp) -> Reading {
    let mut table = Table::new(options, now);
    let empty = feed.rest().is_empty();
    let (dialect, mut findings) = if format == Format::Jsonl {
        json::read(feed, &mut table);
        (None, Vec::new())
    } else {
        let delimiter = options.delimiter.or_else(|| (format == Format::Tsv).then_some(b'\t'));
        let (dialect, findings) = delimited::read(feed, &mut table, delimiter);
        (Some(dialect), findings)
    };
    let mut report = report::report(table, format, now);
    if empty {
        findings.push(Finding::new(Code::EmptyFile));
    } else if report.table.rows == 0 {
        findings.push(Finding::new(Code::NoRows));
    }
    findings.append(&mut report.findings);
    Reading { format: Some(format), dialect, compression: None, lines: None, report: Some(report), findings }
}

fn assemble<R: Read>(
    feed: Feed<R>,
    name: &str,
    format_source: FormatSource,
    read: Reading,
    mut findings: Vec<Finding>,
) -> Profile {
    let nul_line = feed.nul_line();
    let source = feed.source;
    let text = &source.text;
    let opaque = if text.not_utf8.is_none() && text.nuls == 0 { Format::Text } else { Format::Binary };
    let format = read.format.unwrap_or(opaque);
    let table = read.report.is_some();
    if let Some(error) = &source.error {
        findings.insert(0, Finding::new(Code::Unreadable).detail("error", error.to_string()));
    }
    if let Some(offset) = text.not_utf8.filter(|_| table) {
        let finding = Finding::new(Code::NotUtf8).detail("first_byte_offset", offset);
        findings.push(finding.detail("guess", "windows-1252"));
    }
    if table && text.nuls > 0 {
        findings.push(Finding::new(Code::NulByte).times(text.nuls).at_line(nul_line));
    }
    findings.extend(read.findings);
    let scope = match (table, &source.error) {
        (false, _) => Scope::BytesOnly,
        (true, None) => Scope::Full,
        (true, Some(_)) => Scope::Partial,
    };
    let textual = table || format == Format::Text;
    let artifact = Artifact {
        name: name.to_owned(),
        format,
        format_source,
        compression: read.compression,
        encoding: (textual && text.not_utf8.is_none()).then(|| "utf-8".to_owned()),
        dialect: read.dialect,
        bytes: source.bytes,
        bytes_decoded: None,
        lines: read.lines.filter(|_| format == Format::Text),
        sha256: source.sha256(),
        written_at: None,
    };
    let engine = concat!("muster/", env!("CARGO_PKG_VERSION")).to_owned();
    let rows_profiled = read.report.as_ref().map_or(0, |report| report.table.rows);
    let scan = |limits| Scan { engine, scope, rows_profiled, ms: None, limits };
    match read.report {
        Some(report) => Profile {
            artifact,
            scan: scan(report.limits),
            table: Some(report.table),
            freshness: report.freshness,
            structure: Some(report.structure),
            columns: report.columns,
            findings,
        },
        None => Profile {
            artifact,
            scan: scan(Vec::new()),
            table: None,
            freshness: untimed(),
            structure: None,
            columns: Vec::new(),
            findings,
        },
    }
}

/// The freshness of what has no columns.
fn untimed() -> Freshness {
    Freshness {
        column: None,
        source: FreshnessSource::None,
        newest: None,
        oldest: None,
        age_s: None,
        future_rows: 0,
        artifact_age_s: None,
        assumed_zone_rows: 0,
    }
}
