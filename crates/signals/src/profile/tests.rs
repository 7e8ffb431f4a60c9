use std::io::{ErrorKind, Read};

use jiff::Timestamp;
use proptest::prelude::*;

use super::{BLOCK, in_blocks, profile};
use crate::document::{DistinctMethod, Document, Origin, Profile, RepeatMethod, Scope};
use crate::finding::{Code, Finding};
use crate::options::{Format, Limits, Options};

fn now() -> Timestamp {
    "2026-03-02T12:00:00Z".parse().unwrap()
}

fn read(name: &str, bytes: &[u8]) -> Profile {
    profile(bytes, name, &Options::default(), now())
}

fn codes(profile: &Profile) -> Vec<Code> {
    profile.findings.iter().map(|finding| finding.code).collect()
}

fn finding(profile: &Profile, code: Code) -> &Finding {
    profile.findings.iter().find(|finding| finding.code == code).unwrap_or_else(|| panic!("{:?}", profile.findings))
}

fn number(finding: &Finding, detail: &str) -> Option<f64> {
    finding.details.get(detail)?.as_f64()
}

/// A reader that gives a few bytes at a time, and is interrupted now and then.
struct Drip<'a> {
    rest: &'a [u8],
    sizes: Vec<usize>,
    turn: usize,
}

impl Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.turn += 1;
        let size = self.sizes.get(self.turn % self.sizes.len().max(1)).copied().unwrap_or(1);
        if size == 0 && self.turn.is_multiple_of(3) {
            return Err(ErrorKind::Interrupted.into());
        }
        let length = size.max(1).min(buffer.len()).min(self.rest.len());
        let (now, rest) = self.rest.split_at(length);
        buffer[..length].copy_from_slice(now);
        self.rest = rest;
        Ok(length)
    }
}

/// What must be true whatever the bytes were.
fn assert_sound(profile: &Profile, bytes: &[u8]) {
    assert_eq!(profile.artifact.bytes, bytes.len() as u64);
    let rows = profile.table.as_ref().map_or(0, |table| table.rows);
    for column in &profile.columns {
        assert!(column.nulls <= rows && column.distinct.value <= rows - column.nulls, "{column:?}");
        assert_eq!(column.nulls == rows, column.distinct.value == 0, "{column:?}");
        assert!(column.null_share.is_none_or(|share| (0.0..=1.0).contains(&share)));
    }
    if let Some(table) = &profile.table {
        assert!(table.duplicate_rows.value.is_some_and(|repeats| repeats <= rows.saturating_sub(1)));
    }
    let document = Document::new(profile.clone(), Origin::default());
    let text = serde_json::to_string(&document).unwrap();
    assert!(serde_json::from_str::<Document>(&text).unwrap() == document, "{text}");
}

fn any_format() -> impl Strategy<Value = Format> {
    prop::sample::select(vec![Format::Auto, Format::Csv, Format::Tsv, Format::Jsonl])
}

/// Bytes that look like data, so that the deeper paths are reached.
fn likely_bytes() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&[u8]> = vec![
        b"a",
        b"\xff",
        b"\0",
        b",",
        b";",
        b"\t",
        b"\"",
        b"\n",
        b"\r\n",
        b"\r",
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b"\"k\":",
        b"\"k\\u00e9\":",
        b"null",
        b"true",
        b"1",
        b"-1.5e3",
        b"007",
        b"99999999999999999999",
        b"1e999",
        b"NaN",
        b"2026-01-02",
        b"2026-01-02T03:04:05Z",
        b"\xEF\xBB\xBF",
        b"{\"a\":{\"b\":1}}\n",
        b"\\",
        b"NA",
        "東".as_bytes(),
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..80).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), format in any_format()) {
        let options = Options { format, ..Options::default() };
        assert_sound(&profile(bytes.as_slice(), "x", &options, now()), &bytes);
    }

    #[test]
    fn no_likely_bytes_make_it_panic_whatever_the_block(bytes in likely_bytes(), format in any_format(), block in 1_usize..64) {
        let limits = Limits { row_bytes: 40, columns: 4, depth: 3, name_bytes: 3, ..Limits::default() };
        let options = Options { format, key: vec!["a".into()], freshness: Some("k".into()), limits, ..Options::default() };
        assert_sound(&in_blocks(block, bytes.as_slice(), "x.csv", &options, now()), &bytes);
    }

    #[test]
    fn the_same_bytes_give_the_same_document_however_they_come(
        bytes in likely_bytes(),
        sizes in prop::collection::vec(0_usize..9, 1..5),
        format in any_format(),
    ) {
        let options = Options { format, ..Options::default() };
        let whole = profile(bytes.as_slice(), "x", &options, now());
        let dripped = profile(Drip { rest: &bytes, sizes, turn: 0 }, "x", &options, now());
        prop_assert_eq!(whole, dripped);
    }

    #[test]
    fn rows_may_be_cut_anywhere(bytes in likely_bytes(), format in prop::sample::select(vec![Format::Tsv, Format::Jsonl]), block in 1_usize..64) {
        // Carriage returns alone end rows only when the first block says so.
        let bytes: Vec<u8> = bytes.into_iter().filter(|byte| *byte != b'\r').collect();
        let options = Options { format, ..Options::default() };
        // The first bytes decide whether this is one of the forms that are not read, or has a byte order mark.
        let bytes = [b"x", bytes.as_slice()].concat();
        let whole = in_blocks(BLOCK, bytes.as_slice(), "x", &options, now());
        prop_assert_eq!(whole, in_blocks(block, bytes.as_slice(), "x", &options, now()));
    }
}

#[test]
fn the_delimiter_is_the_most_frequent_of_the_header() {
    for (bytes, delimiter, columns) in
        [("a;b;c\n1,5;2;3\n", ';', 3), ("a|b\n", '|', 2), ("\"x;y;z\",b\n", ',', 2), ("a\tb\n", '\t', 2), ("a\n1;2\n", ',', 1)]
    {
        let profile = read("a.csv", bytes.as_bytes());
        assert_eq!(profile.artifact.dialect.unwrap().delimiter, delimiter, "{bytes}");
        assert_eq!(profile.table.unwrap().columns, columns, "{bytes}");
    }
    let declared = Options { delimiter: Some(b';'), ..Options::default() };
    assert_eq!(profile(b"a,b;c\n".as_slice(), "a.csv", &declared, now()).columns[0].name, "a,b");
}

#[test]
fn rows_that_end_in_carriage_returns_alone_are_rows() {
    assert_eq!(read("a.csv", b"a,b\r1,2\r3,4\r").table.unwrap().rows, 2);
}

#[test]
fn declared_nulls_are_nulls() {
    let options = Options { null_values: vec!["NA".into(), "-".into()], ..Options::default() };
    let profile = profile(b"x,y\n1,NA\n-,na\n".as_slice(), "a.csv", &options, now());
    assert_eq!(profile.columns.iter().map(|column| column.nulls).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(profile.columns[0].column_type.name(), "int");
    assert_eq!(finding(&profile, Code::NullLike).count, Some(1));
}

#[test]
fn a_column_that_is_nearly_all_numbers_is_called_mixed() {
    let mixed = read("a.csv", b"x,note\n1,call 5\n2,7\n3,x\noops,y\n");
    let found = finding(&mixed, Code::MixedTypes);
    assert_eq!((found.column.as_deref(), found.count), (Some("x"), Some(1)));
    assert_eq!(codes(&read("a.csv", b"x\n1\n2\nNA\n")), [Code::NullLike]);
    assert_eq!(codes(&read("a.csv", b"x\n1\ntrue\n")), [Code::MixedTypes]);
}

#[test]
fn text_and_bytes_are_measured_as_what_they_are() {
    let text = read("notes.txt", "one\ntwo\nthrée".as_bytes());
    assert_eq!((text.artifact.format, text.artifact.lines, text.scan.scope), (Format::Text, Some(3), Scope::BytesOnly));
    let binary = read("model.bin", b"\x00\x01\n\xfe");
    assert_eq!((binary.artifact.format, binary.artifact.lines, binary.artifact.encoding), (Format::Binary, None, None));
    assert_eq!(binary.artifact.sha256, "b41e2315d3396485b822f8ffbf33732ef1227d25204117ddd37597cc22ad9dc0");
    assert!(text.findings.is_empty() && text.table.is_none());
    let utf16 = read("a.csv", b"\xff\xfea\0,\0b\0\n\0");
    assert_eq!(codes(&utf16), [Code::NotProfiled]);
}

#[test]
fn a_repeated_json_key_counts_its_last_value_only() {
    let profile =
        read("a.jsonl", b"{\"a\":{\"x\":1,\"y\":2},\"b\":1,\"a\":{\"y\":3}}\n{\"a\":{\"y\":3},\"b\":1}\n{\"a\":null,\"a\":5}\n");
    let nulls: Vec<(&str, u64)> = profile.columns.iter().map(|column| (column.key.as_str(), column.nulls)).collect();
    assert_eq!(nulls, [("a", 0), ("a.x", 3), ("a.y", 1), ("b", 1)]);
    assert_eq!(profile.table.unwrap().duplicate_rows.value, Some(1));
}

#[test]
fn the_same_key_in_another_object_is_another_column() {
    let found = read("a.jsonl", b"{\"a\":{\"b\":1},\"b\":2}\n{\"a\":{},\"b\":2}\n{\"b\":1,\"a\":{\"b\":1}}\n");
    let nulls: Vec<(&str, u64)> = found.columns.iter().map(|column| (column.key.as_str(), column.nulls)).collect();
    assert_eq!(nulls, [("a", 0), ("a.b", 1), ("b", 0)]);
}

#[test]
fn a_bad_line_leaves_no_trace_but_its_count() {
    let bad = read("a.jsonl", b"{\"a\":1}\n{\"b\":1,\"c\":{\"d\":2}\n{\"b\":oops}\n{\"e\":1,\"a\":2}\n");
    let keys: Vec<&str> = bad.columns.iter().map(|column| column.key.as_str()).collect();
    assert_eq!((keys.as_slice(), bad.table.as_ref().unwrap().bad_rows), (["a", "e"].as_slice(), 2));

    let limits = Limits { columns: 2, ..Limits::default() };
    let line = format!("{{{}\"a\":1}}\n", "\"a\":1,".repeat(100));
    let many = profile(line.as_bytes(), "a.jsonl", &Options { limits, ..Options::default() }, now());
    assert_eq!((many.scan.limits.as_slice(), many.table.unwrap().bad_rows), (["row_values".to_owned()].as_slice(), 1));
}

#[test]
fn json_strings_keep_their_type_and_their_escapes() {
    let profile =
        read("a.jsonl", b"{\"s\":\"12\",\"e\":\"\\u00e9\",\"t\":\"2026-01-02T00:00:00Z\"}\n{\"s\":\"\",\"e\":\"\xc3\xa9\"}\n");
    let types: Vec<&str> = profile.columns.iter().map(|column| column.column_type.name()).collect();
    assert_eq!(types, ["string", "string", "timestamp"]);
    assert_eq!(profile.columns[1].distinct.value, 1);
    assert_eq!(profile.columns[1].length.map(|length| (length.min, length.max)), Some((1, 1)));
    assert_eq!((profile.columns[0].null_like.blank, profile.columns[0].nulls), (1, 0));
}

#[test]
fn limits_are_kept_and_told() {
    let limits = Limits { columns: 2, repeat_rows: 1, depth: 2, name_bytes: 4, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let csv = profile(b"aaaaaaaa,b,c\n1,2,3\n4,5,6\n".as_slice(), "a.csv", &options, now());
    let table = csv.table.as_ref().unwrap();
    assert_eq!((table.columns, csv.columns.len(), csv.columns[0].name.as_str()), (3, 2, "aaaa"));
    assert_eq!((table.duplicate_rows.value, table.duplicate_rows.method), (None, RepeatMethod::None));
    assert_eq!((csv.scan.limits.as_slice(), table.ragged_rows), (["columns".to_owned(), "repeat_rows".to_owned()].as_slice(), 0));

    let json = profile(b"{\"a\":{\"b\":{\"c\":1}}}\n{\"a\":1,\"b\":2,\"c\":3}\n".as_slice(), "a.jsonl", &options, now());
    assert_eq!((json.scan.limits.as_slice(), json.columns.len()), (["depth".to_owned(), "columns".to_owned()].as_slice(), 2));
    assert_eq!(json.table.unwrap().bad_rows, 1);
}

#[test]
fn memory_for_distinct_values_is_shared_by_all_columns() {
    let rows: Vec<String> = (0..2000).map(|n| format!("{n},{},{}\n", n + 10_000, n % 5)).collect();
    let limits = Limits { distinct_bytes: 48 << 10, ..Limits::default() };
    let bytes = format!("a,b,c\n{}", rows.concat());
    let found = profile(bytes.as_bytes(), "a.csv", &Options { limits, ..Options::default() }, now());
    let methods: Vec<DistinctMethod> = found.columns.iter().map(|column| column.distinct.method).collect();
    assert_eq!(methods, [DistinctMethod::Hll14, DistinctMethod::Exact, DistinctMethod::Exact]);
    assert!((1950..2050).contains(&found.columns[0].distinct.value));
}

#[test]
fn rows_in_the_future_are_counted() {
    let options = Options { freshness: Some("at".into()), ..Options::default() };
    let found = profile(b"at\n2026-03-02T13:00:00Z\n2026-03-01\n".as_slice(), "a.csv", &options, now());
    assert_eq!((found.freshness.future_rows, found.freshness.age_s, found.freshness.assumed_zone_rows), (1, Some(-3600), 1));
}

#[test]
fn what_is_odd_has_its_place() {
    let found = read("a.csv", b"a,b\n\n1\n1,2,3\n\n\"x\ny\",\0\n");
    assert_eq!(finding(&found, Code::ShortRow).first_line, Some(3));
    assert_eq!(finding(&found, Code::LongRow).first_line, Some(4));
    assert_eq!(finding(&found, Code::NulByte).first_line, Some(6));
    assert_eq!(finding(&found, Code::BlankLine).count, Some(2));
    let latin = read("a.csv", b"a\n\xe1\n");
    assert_eq!(number(finding(&latin, Code::NotUtf8), "first_byte_offset"), Some(2.0));
}
