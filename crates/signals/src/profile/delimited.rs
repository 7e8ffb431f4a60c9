//! CSV and TSV to a table.

use std::collections::HashSet;
use std::io::Read;

use super::feed::Feed;
use super::records::{Records, Step};
use super::table::Table;
use crate::document::Dialect;
use crate::finding::{Code, Finding};
use crate::options::Options;

/// Delimiters that are looked for; the comma first, which wins a draw.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Reads the header and all rows into the table. Returns how fields are parted and what the header is like.
pub(super) fn read<R: Read>(feed: &mut Feed<R>, table: &mut Table<'_>, delimiter: Option<u8>) -> (Dialect, Vec<Finding>) {
    let newline = newline(feed.rest());
    let delimiter = delimiter.unwrap_or_else(|| sniff(feed.rest(), newline));
    let limits = &table.options.limits;
    let mut records = Records::new(delimiter, newline, limits.row_bytes, limits.columns);
    records.restart(feed.at);
    let mut findings = Vec::new();
    let mut width = None;
    loop {
        let step = records.next(feed);
        let line = records.line;
        match step {
            Step::End => break,
            Step::Blank => table.oddities.blank.add(line),
            Step::TooLong => {
                table.oddities.too_long.add(line);
                table.reach("row_bytes");
            }
            Step::Row | Step::Unclosed => {
                if step == Step::Unclosed {
                    table.oddities.unclosed.add(line);
                }
                match width {
                    None => {
                        width = Some(records.len());
                        findings = add_header(table, records.fields(feed), records.len());
                    }
                    Some(width) => {
                        let length = records.len();
                        if length < width {
                            table.oddities.short.add(line);
                        } else if length > width {
                            table.oddities.long.add(line);
                        }
                        table.add_texts(records.fields(feed));
                    }
                }
            }
        }
    }
    (Dialect { delimiter: char::from(delimiter), header: true }, findings)
}

fn add_header<'a>(table: &mut Table<'_>, names: impl Iterator<Item = &'a [u8]>, width: u64) -> Vec<Finding> {
    let names: Vec<String> = names.map(|name| shortened(name, table.options)).collect();
    if width > names.len() as u64 {
        table.reach("columns");
        table.oddities.columns = Some(width);
    }
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let mut seen: Vec<(&str, u64)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    let mut findings = Vec::new();
    for (index, name) in names.iter().enumerate() {
        if name.is_empty() {
            findings.push(Finding::new(Code::EmptyColumnName).at_line(Some(1)).detail("index", index as u64));
            let key = free(&mut taken, "", index as u64);
            table.add_column(name.clone(), key);
            continue;
        }
        let place = *places.entry(name.as_str()).or_insert_with(|| {
            seen.push((name, 0));
            seen.len() - 1
        });
        seen[place].1 += 1;
        let key = if seen[place].1 == 1 { name.clone() } else { free(&mut taken, name, seen[place].1) };
        table.add_column(name.clone(), key);
    }
    for (name, count) in seen.into_iter().filter(|(_, count)| *count > 1) {
        findings.push(Finding::new(Code::DuplicateColumnName).times(count).at_line(Some(1)).detail("name", name));
    }
    findings
}

/// The key `name#number`, with the next number that is free.
fn free(taken: &mut HashSet<String>, name: &str, number: u64) -> String {
    let mut candidates = (number..).map(|number| format!("{name}#{number}"));
    let key = candidates.find(|key| !taken.contains(key)).expect("numbers do not run out");
    taken.insert(key.clone());
    key
}

/// A name as text, cut to the limit.
pub(super) fn shortened(name: &[u8], options: &Options) -> String {
    let text = String::from_utf8_lossy(name);
    let end = text.floor_char_boundary(options.limits.name_bytes);
    text[..end].to_owned()
}

/// The byte that ends a row: a line feed, unless the first block has carriage returns and no line feed.
fn newline(start: &[u8]) -> u8 {
    let old = memchr::memchr(b'\n', start).is_none() && memchr::memchr(b'\r', start).is_some();
    if old { b'\r' } else { b'\n' }
}

/// The most frequent delimiter outside quotes on the first line that has anything on it.
fn sniff(start: &[u8], newline: u8) -> u8 {
    let mut counts = [0_usize; DELIMITERS.len()];
    let mut quoted = false;
    let mut any = false;
    for byte in start {
        if *byte == b'"' {
            quoted = !quoted;
        } else if !quoted {
            if *byte == newline && any {
                break;
            }
            if let Some(place) = DELIMITERS.iter().position(|delimiter| delimiter == byte) {
                counts[place] += 1;
            }
        }
        any |= !byte.is_ascii_whitespace();
    }
    let best = (0..DELIMITERS.len()).rev().max_by_key(|place| counts[*place]).unwrap_or(0);
    DELIMITERS[best]
}
