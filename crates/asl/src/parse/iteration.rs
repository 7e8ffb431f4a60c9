//! Reading a Map state.

use std::sync::Arc;

use super::Parser;
use super::fields::Fields;
use super::state::{arguments_field, nested, resource};
use crate::definition::{Batcher, Items, Kind, Language, MapState, Mode, Reader, StateId, Writer};
use crate::path::Root;
use crate::resource::{ReaderConfig, WriterConfig};

pub(super) fn read(parser: &mut Parser, fields: &Fields<'_>, language: Language) -> Option<Kind> {
    fields.at_most_one(parser, &["ItemProcessor", "Iterator"]);
    fields.at_most_one(parser, &["ItemSelector", "Parameters"]);
    let (start, mode) = processor(parser, fields, language)?;
    let selector_field = if fields.has("ItemSelector") { "ItemSelector" } else { "Parameters" };
    let reader = match fields.object(parser, "ItemReader") {
        Some(reader) => Some(item_reader(parser, &reader, language)?),
        None => None,
    };
    let count = 0.0..=f64::MAX;
    let map = MapState {
        start,
        mode,
        items: items(parser, fields, language, reader.is_some()),
        selector: fields.template(parser, selector_field, language),
        reader,
        batcher: fields.object(parser, "ItemBatcher").map(|batcher| item_batcher(parser, &batcher, language)),
        writer: fields.object(parser, "ResultWriter").map(|writer| result_writer(parser, &writer, language)),
        max_concurrency: fields.amount(parser, "MaxConcurrency", language, count.clone()),
        tolerated_count: fields.amount(parser, "ToleratedFailureCount", language, count),
        tolerated_percentage: fields.amount(parser, "ToleratedFailurePercentage", language, 0.0..=100.0),
    };
    Some(Kind::Map(Box::new(map)))
}

fn processor(parser: &mut Parser, fields: &Fields<'_>, language: Language) -> Option<(StateId, Mode)> {
    let field = if fields.has("Iterator") { "Iterator" } else { "ItemProcessor" };
    if !fields.has(field) {
        parser.invalid(fields.at(), "the field `ItemProcessor` is missing");
    }
    let processor = fields.object(parser, field)?;
    let mut mode = Mode::Inline;
    if let Some(config) = processor.object(parser, "ProcessorConfig") {
        config.only(parser, &["Mode", "ExecutionType"]);
        match config.text(parser, "Mode").as_deref() {
            Some("DISTRIBUTED") => mode = Mode::Distributed,
            Some("INLINE") | None => {}
            Some(other) => {
                let message = format!("`Mode` is `INLINE` or `DISTRIBUTED`, not `{other}`");
                parser.invalid(config.pointer("Mode"), message);
            }
        }
        if let Some(other) = config.text(parser, "ExecutionType").filter(|kind| !matches!(&**kind, "STANDARD" | "EXPRESS")) {
            let message = format!("`ExecutionType` is `STANDARD` or `EXPRESS`, not `{other}`");
            parser.invalid(config.pointer("ExecutionType"), message);
        }
    }
    let value = fields.get(field)?;
    let start = nested(parser, value, &fields.pointer(field), language, &["ProcessorConfig"])?;
    Some((start, mode))
}

fn items(parser: &mut Parser, fields: &Fields<'_>, language: Language, read: bool) -> Items {
    if language == Language::Jsonata {
        return fields.template(parser, "Items", language).map_or(Items::Whole, Items::Template);
    }
    // The items come from the reader, so that the path is read by nobody and may be anything.
    if read || !fields.has("ItemsPath") {
        return Items::Whole;
    }
    match fields.path(parser, "ItemsPath") {
        Some(path) if path.steps().is_empty() && *path.root() == Root::Input => Items::Whole,
        Some(path) => Items::Path(path),
        None => Items::Whole,
    }
}

fn item_reader(parser: &mut Parser, reader: &Fields<'_>, language: Language) -> Option<Reader> {
    let arguments = arguments_field(language);
    reader.only(parser, &["Resource", "ReaderConfig", arguments]);
    let mut config = ReaderConfig::default();
    let mut max_items = None;
    if let Some(fields) = reader.object(parser, "ReaderConfig") {
        fields.only(
            parser,
            &[
                "InputType",
                "CSVHeaderLocation",
                "CSVHeaders",
                "CSVDelimiter",
                "MaxItems",
                "MaxItemsPath",
                "ItemsPointer",
                "ManifestType",
                "Transformation",
            ],
        );
        config = ReaderConfig {
            input_type: fields.text(parser, "InputType"),
            csv_header_location: fields.text(parser, "CSVHeaderLocation"),
            csv_headers: headers(parser, &fields),
            csv_delimiter: fields.text(parser, "CSVDelimiter"),
            items_pointer: fields.text(parser, "ItemsPointer"),
            manifest_type: fields.text(parser, "ManifestType"),
            transformation: fields.text(parser, "Transformation"),
        };
        max_items = fields.amount(parser, "MaxItems", language, 0.0..=100_000_000.0);
    }
    let arguments = reader.template(parser, arguments, language);
    Some(Reader { resource: resource(parser, reader)?, arguments, config, max_items })
}

fn headers(parser: &mut Parser, fields: &Fields<'_>) -> Vec<Arc<str>> {
    let mut headers = Vec::new();
    for (at, header) in fields.list(parser, "CSVHeaders").unwrap_or_default().iter().enumerate() {
        match header.as_str() {
            Some(name) => headers.push(Arc::from(name)),
            None => parser.invalid(format!("{}/{at}", fields.pointer("CSVHeaders")), "the name of a column is a text"),
        }
    }
    headers
}

fn item_batcher(parser: &mut Parser, batcher: &Fields<'_>, language: Language) -> Batcher {
    batcher.only(
        parser,
        &["BatchInput", "MaxItemsPerBatch", "MaxItemsPerBatchPath", "MaxInputBytesPerBatch", "MaxInputBytesPerBatchPath"],
    );
    Batcher {
        input: batcher.template(parser, "BatchInput", language),
        max_items: batcher.amount(parser, "MaxItemsPerBatch", language, 1.0..=f64::MAX),
        max_bytes: batcher.amount(parser, "MaxInputBytesPerBatch", language, 1.0..=262_144.0),
    }
}

fn result_writer(parser: &mut Parser, writer: &Fields<'_>, language: Language) -> Writer {
    let arguments = arguments_field(language);
    writer.only(parser, &["Resource", "WriterConfig", arguments]);
    let mut config = WriterConfig::default();
    if let Some(fields) = writer.object(parser, "WriterConfig") {
        fields.only(parser, &["OutputType", "Transformation"]);
        config.output_type = fields.text(parser, "OutputType");
        config.transformation = fields.text(parser, "Transformation");
    }
    let resource = if writer.has("Resource") { resource(parser, writer) } else { None };
    Writer { resource, arguments: writer.template(parser, arguments, language), config }
}
