//! Reading the items of a Map out of a file, as the language says: what a host does with the bytes that it fetched.

use std::io::Cursor;
use std::sync::Arc;

use csv::{ReaderBuilder, StringRecordsIntoIter};

use crate::fault::names;
use crate::{Failure, Map, ReaderConfig, Value};

/// The items of a file, one after another. Only a JSON file is held as values; the others are read as they are
/// asked for.
///
/// ```
/// use asl::{ItemFile, ReaderConfig, Value};
///
/// let config = ReaderConfig { input_type: Some("JSONL".into()), ..ReaderConfig::default() };
/// let mut items = ItemFile::open(&config, b"{\"id\": 1}\n{\"id\": 2}\n".to_vec()).expect("it is JSON Lines");
/// let first = items.next().expect("an item").expect("JSON");
/// assert_eq!(first.get("id"), Some(&Value::from(1_i64)));
/// assert_eq!(items.count(), 1);
/// ```
pub struct ItemFile(Kind);

enum Kind {
    Json(std::vec::IntoIter<Value>),
    Lines { bytes: Vec<u8>, at: usize },
    Csv { names: Vec<Arc<str>>, records: Box<StringRecordsIntoIter<Cursor<Vec<u8>>>> },
}

impl ItemFile {
    /// Begins to read a file of the type that the reader's configuration names.
    ///
    /// # Errors
    /// `States.ItemReaderFailed` where the file is not of that type, or the type is none that is read from one file.
    pub fn open(config: &ReaderConfig, bytes: Vec<u8>) -> Result<ItemFile, Failure> {
        let kind = match config.input_type.as_deref() {
            Some("JSON") => Kind::Json(json(config, &bytes)?.into_iter()),
            Some("JSONL") => Kind::Lines { bytes, at: 0 },
            Some("CSV") => csv(config, bytes)?,
            Some(other) => return Err(failed(format!("items of the type {other} cannot be read from a file"))),
            None => return Err(failed("the reader's configuration names no type of file")),
        };
        Ok(ItemFile(kind))
    }
}

impl Iterator for ItemFile {
    type Item = Result<Value, Failure>;

    fn next(&mut self) -> Option<Result<Value, Failure>> {
        match &mut self.0 {
            Kind::Json(items) => items.next().map(Ok),
            Kind::Lines { bytes, at } => next_line(bytes, at),
            Kind::Csv { names, records } => {
                let record = match records.next()? {
                    Ok(record) => record,
                    Err(error) => return Some(Err(failed(format!("a row of the CSV file cannot be read: {error}")))),
                };
                let column = |(at, name): (usize, &Arc<str>)| (Arc::clone(name), record.get(at).unwrap_or_default());
                Some(Ok(names.iter().enumerate().map(column).collect::<Map>().into()))
            }
        }
    }
}

fn failed(cause: impl Into<Arc<str>>) -> Failure {
    Failure::new(names::ITEM_READER_FAILED, cause)
}

fn json(config: &ReaderConfig, bytes: &[u8]) -> Result<Vec<Value>, Failure> {
    let not_a_list = || failed("Attempting to map over non-iterable node.");
    let mut value: Value = serde_json::from_slice(bytes).map_err(|error| failed(format!("the file is not JSON: {error}")))?;
    for token in config.items_pointer.iter().flat_map(|pointer| pointer.split('/').skip(1)) {
        let token = token.replace("~1", "/").replace("~0", "~");
        let below = match &value {
            Value::Array(list) => token.parse::<usize>().ok().and_then(|at| list.get(at)),
            other => other.get(&token),
        };
        value = below.cloned().ok_or_else(not_a_list)?;
    }
    match value {
        Value::Array(list) => Ok(Arc::unwrap_or_clone(list)),
        Value::Object(object) => Ok(object
            .iter()
            .map(|(name, value)| Value::from(Map::from_iter([("Key", Value::from(Arc::clone(name))), ("Value", value.clone())])))
            .collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Err(not_a_list()),
    }
}

fn next_line(bytes: &[u8], at: &mut usize) -> Option<Result<Value, Failure>> {
    loop {
        let rest = bytes.get(*at..).filter(|rest| !rest.is_empty())?;
        let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        *at += end + 1;
        let line = rest[..end].trim_ascii();
        if !line.is_empty() {
            let item = serde_json::from_slice(line);
            return Some(item.map_err(|error| failed(format!("a line of the file is not JSON: {error}"))));
        }
    }
}

fn csv(config: &ReaderConfig, bytes: Vec<u8>) -> Result<Kind, Failure> {
    let delimiter = match config.csv_delimiter.as_deref() {
        None | Some("COMMA") => b',',
        Some("PIPE") => b'|',
        Some("SEMICOLON") => b';',
        Some("SPACE") => b' ',
        Some("TAB") => b'\t',
        Some(other) => return Err(failed(format!("there is no delimiter `{other}`"))),
    };
    let mut records = Box::new(
        ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .from_reader(Cursor::new(bytes))
            .into_records(),
    );
    let names: Vec<Arc<str>> = match config.csv_header_location.as_deref() {
        Some("GIVEN") => config.csv_headers.clone(),
        Some(_) | None => match records.next() {
            Some(Ok(first)) => first.iter().map(Arc::from).collect(),
            Some(Err(error)) => return Err(failed(format!("the first row of the CSV file cannot be read: {error}"))),
            None => Vec::new(),
        },
    };
    let mut known = names.clone();
    known.sort_unstable();
    known.dedup();
    if known.len() < names.len() {
        return Err(failed("CSV headers cannot contain duplicates."));
    }
    Ok(Kind::Csv { names, records })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(config: ReaderConfig, text: &str) -> Result<String, Failure> {
        let items: Vec<Value> = ItemFile::open(&config, text.as_bytes().to_vec())?.collect::<Result<_, _>>()?;
        Ok(Value::from(items).to_string())
    }

    fn of_type(input_type: &str) -> ReaderConfig {
        ReaderConfig { input_type: Some(Arc::from(input_type)), ..ReaderConfig::default() }
    }

    #[test]
    fn a_table_becomes_objects_of_texts() {
        let text = "a,b\n1,\"x, y\"\n2\n3,4,5\n";
        let expected = r#"[{"a":"1","b":"x, y"},{"a":"2","b":""},{"a":"3","b":"4"}]"#;
        assert_eq!(read(of_type("CSV"), text).unwrap(), expected);
        let given = ReaderConfig {
            csv_header_location: Some(Arc::from("GIVEN")),
            csv_headers: vec![Arc::from("x")],
            csv_delimiter: Some(Arc::from("PIPE")),
            ..of_type("CSV")
        };
        assert_eq!(read(given, "1|2\n3|4").unwrap(), r#"[{"x":"1"},{"x":"3"}]"#);
        let twice = read(of_type("CSV"), "a,a\n1,2\n").unwrap_err();
        assert_eq!(twice.cause.as_deref(), Some("CSV headers cannot contain duplicates."));
    }

    #[test]
    fn json_files_and_lines_become_their_values() {
        assert_eq!(read(of_type("JSON"), "[1, [2]]").unwrap(), "[1,[2]]");
        let pointed = ReaderConfig { items_pointer: Some(Arc::from("/a~1b/1")), ..of_type("JSON") };
        assert_eq!(read(pointed, r#"{"a/b": [0, [7]]}"#).unwrap(), "[7]");
        assert_eq!(read(of_type("JSONL"), "1\n\n{\"a\": 2}\r\n").unwrap(), r#"[1,{"a":2}]"#);
        for (kind, text) in [("JSON", "3"), ("JSON", "["), ("JSONL", "{"), ("PARQUET", "")] {
            let failure = read(of_type(kind), text).unwrap_err();
            assert_eq!(failure.error.as_deref(), Some("States.ItemReaderFailed"), "{kind} {text}");
        }
    }
}
