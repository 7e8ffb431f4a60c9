//! What a command answers, in the format that was asked for.

use clap::ValueEnum;
use serde::Serialize;
use serde_json::Value;

use crate::{
    table::{self, Cell, Look, Table},
    yaml,
};

/// How data is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Columns for people
    Table,
    /// The same with every column
    Wide,
    /// One JSON value
    Json,
    /// One JSON value a line
    Jsonl,
    /// YAML
    Yaml,
}

impl Format {
    /// True where a program reads it.
    pub(crate) fn is_data(self) -> bool {
        match self {
            Format::Table | Format::Wide => false,
            Format::Json | Format::Jsonl | Format::Yaml => true,
        }
    }
}

/// An answer: ids, data and text of the same facts.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    /// For `--quiet`.
    pub ids: Vec<String>,
    pub data: Data,
    pub text: Vec<Block>,
}

#[derive(Debug, Clone)]
pub(crate) enum Data {
    /// `[]` where there is nothing.
    List(Vec<Value>),
    One(Value),
    /// One thing, in the format asked for already.
    Written(String),
}

/// A part of the text.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    Table(Table),
    Fields(Vec<(&'static str, Cell)>),
    Line(String),
}

/// The JSON form of a record.
pub(crate) fn data_of(record: &impl Serialize) -> Value {
    serde_json::to_value(record).expect("every record is JSON: its maps have text keys")
}

impl Reply {
    /// A list of things of one kind.
    pub(crate) fn list(ids: Vec<String>, data: Vec<Value>, table: Table) -> Reply {
        Reply { ids, data: Data::List(data), text: vec![Block::Table(table)] }
    }

    /// One thing.
    pub(crate) fn one(id: impl Into<String>, data: Value, text: Vec<Block>) -> Reply {
        Reply { ids: vec![id.into()], data: Data::One(data), text }
    }

    /// The text in `format`.
    pub(crate) fn write(&self, format: Format, look: Look) -> String {
        match (format, &self.data) {
            (Format::Table | Format::Wide, _) => self.text(Look { wide: format == Format::Wide, ..look }),
            (Format::Json, Data::List(items)) if items.is_empty() => "[]\n".to_owned(),
            (Format::Json, Data::List(items)) => lines(&format!("{:#}", Value::from(items.clone()))),
            (Format::Json, Data::One(item)) => lines(&format!("{item:#}")),
            (Format::Jsonl, Data::List(items)) => items.iter().map(|item| format!("{item}\n")).collect(),
            (Format::Jsonl, Data::One(item)) => format!("{item}\n"),
            (Format::Json | Format::Jsonl | Format::Yaml, Data::Written(text)) => lines(text),
            (Format::Yaml, Data::List(items)) => yaml::write(&Value::from(items.clone())),
            (Format::Yaml, Data::One(item)) => yaml::write(item),
        }
    }

    fn text(&self, look: Look) -> String {
        let mut text = String::new();
        for block in &self.text {
            match block {
                // Headers over nothing would look like a list that was cut off.
                Block::Table(table) if table.rows.is_empty() => {}
                Block::Table(table) => text.push_str(&table::write(table, look)),
                Block::Fields(fields) => text.push_str(&table::write_fields(fields, look)),
                Block::Line(line) => text.push_str(&lines(line)),
            }
        }
        text
    }
}

fn lines(text: &str) -> String {
    format!("{text}\n")
}
