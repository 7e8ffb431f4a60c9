//! What an artifact is, from its name and its first bytes.

use crate::document::{Compression, FormatSource};
use crate::options::Format;

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// It is read as a table of this format.
    Table(Format),
    /// It is text or bytes; which of them is known at the end.
    Opaque,
    /// It is something that is not read yet.
    Unread(Unread),
}

/// Forms that are known but not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    Compressed(Compression),
    Parquet,
    Utf16,
    Json,
}

impl Unread {
    pub(super) fn name(self) -> &'static str {
        match self {
            Unread::Compressed(Compression::Gzip) => "gzip",
            Unread::Compressed(Compression::Zstd) => "zstd",
            Unread::Parquet => "parquet",
            Unread::Utf16 => "utf-16",
            Unread::Json => "json",
        }
    }
}

const MAGICS: [(&[u8], Unread); 5] = [
    (&[0x1F, 0x8B], Unread::Compressed(Compression::Gzip)),
    (&[0x28, 0xB5, 0x2F, 0xFD], Unread::Compressed(Compression::Zstd)),
    (b"PAR1", Unread::Parquet),
    (&[0xFF, 0xFE], Unread::Utf16),
    (&[0xFE, 0xFF], Unread::Utf16),
];

/// Decides what an artifact is. What its first bytes prove comes first, then what is declared, then the ending of the name.
pub(super) fn detect(name: &str, declared: Format, start: &[u8]) -> (Content, FormatSource) {
    if let Some((_, unread)) = MAGICS.into_iter().find(|(magic, _)| start.starts_with(magic)) {
        return (Content::Unread(unread), FormatSource::Content);
    }
    match declared {
        Format::Csv | Format::Tsv | Format::Jsonl => return (Content::Table(declared), FormatSource::Declared),
        Format::Text | Format::Binary => return (Content::Opaque, FormatSource::Declared),
        Format::Auto => {}
    }
    let ending = name.rsplit('/').next().unwrap_or(name).rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    match ending.as_deref() {
        Some("csv") => (Content::Table(Format::Csv), FormatSource::Name),
        Some("tsv" | "tab") => (Content::Table(Format::Tsv), FormatSource::Name),
        Some("jsonl" | "ndjson") => (Content::Table(Format::Jsonl), FormatSource::Name),
        Some("json") if !holds_lines_of_objects(start) => (Content::Unread(Unread::Json), FormatSource::Name),
        Some("json") | None if holds_lines_of_objects(start) => (Content::Table(Format::Jsonl), FormatSource::Content),
        Some(_) | None => (Content::Opaque, FormatSource::Content),
    }
}

/// Whether the first two lines each begin and end as a JSON object does, or the only line does.
fn holds_lines_of_objects(start: &[u8]) -> bool {
    let lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let mut count = 0;
    let all = lines.take(2).inspect(|_| count += 1).all(|line| line.starts_with(b"{") && line.ends_with(b"}"));
    all && count > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, start: &[u8]) -> Content {
        detect(name, Format::Auto, start).0
    }

    #[test]
    fn the_ending_decides_unless_the_bytes_prove_something_else() {
        assert_eq!(of("out/a.csv", b"x"), Content::Table(Format::Csv));
        assert_eq!(of("a.TSV", b""), Content::Table(Format::Tsv));
        assert_eq!(of("a.ndjson", b"not json"), Content::Table(Format::Jsonl));
        assert_eq!(of("a.csv.gz", b"\x1f\x8b\x08"), Content::Unread(Unread::Compressed(Compression::Gzip)));
        assert_eq!(of("a.csv", b"PAR1"), Content::Unread(Unread::Parquet));
        assert_eq!(of("notes.txt", b"a,b\n1,2\n"), Content::Opaque);
        assert_eq!(of("a.b/c", b"a,b\n1,2\n"), Content::Opaque);
    }

    #[test]
    fn json_is_told_apart_from_lines_of_json() {
        assert_eq!(of("a.json", b"{\"a\":1}\n{\"a\":2}\n"), Content::Table(Format::Jsonl));
        assert_eq!(of("records", b"{\"a\":1}\n"), Content::Table(Format::Jsonl));
        assert_eq!(of("a.json", b"[1,2]"), Content::Unread(Unread::Json));
        assert_eq!(of("a.json", b"{\n \"a\": 1\n}"), Content::Unread(Unread::Json));
        assert_eq!(of("a.json", b""), Content::Unread(Unread::Json));
    }

    #[test]
    fn what_is_declared_beats_the_name() {
        let declared = detect("a.txt", Format::Csv, b"a\n1");
        assert_eq!(declared, (Content::Table(Format::Csv), FormatSource::Declared));
    }
}
