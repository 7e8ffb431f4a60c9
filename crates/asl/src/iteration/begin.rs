//! Entering a Map: what its fields say for this run.

use std::collections::{BTreeSet, VecDeque};

use crate::MapRunId;
use crate::Value;
use crate::core::Work;
use crate::definition::{Amount, Items, Language, MapState, Mode, State};
use crate::fault::Fault;
use crate::frame::{Batch, Doing, FrameId, MapLimits, MapRun, Reading, Results, Source, Writing};
use crate::step::{Given, Step};

impl Step<'_> {
    pub(crate) fn begin_map(&mut self, id: FrameId, state: &State, map: &MapState) -> Result<(), Fault> {
        let input = self.effective_input(id, state)?;
        let source = self.source(id, map, &input)?;
        let limits = self.map_limits(id, map, &input)?;
        let results = match &map.writer {
            Some(writer) if writer.resource.is_some() => {
                let arguments = match &writer.arguments {
                    Some(arguments) => self.fill(id, arguments, Given::input(&input))?,
                    None => Value::empty_object(),
                };
                Results::Written(Writing::to(arguments))
            }
            Some(_) | None => Results::Kept(Vec::new()),
        };
        let run = MapRun {
            id: MapRunId(self.core.next_id()),
            input,
            source,
            limits,
            children: BTreeSet::new(),
            started: 0,
            selected: 0,
            current: Value::Null,
            succeeded: 0,
            failed: 0,
            results,
            failure: None,
        };
        self.record(id, if map.mode == Mode::Distributed { 2 } else { 1 });
        self.frame_mut(id).doing = Doing::Map(Box::new(run));
        self.core.work.push(Work::Feed(id));
        Ok(())
    }

    fn source(&mut self, id: FrameId, map: &MapState, input: &Value) -> Result<Source, Fault> {
        if let Some(reader) = &map.reader {
            let arguments = match &reader.arguments {
                Some(arguments) => self.fill(id, arguments, Given::input(input))?,
                None => Value::empty_object(),
            };
            return Ok(Source::Reader(Reading {
                arguments,
                ready: VecDeque::new(),
                asked: None,
                delivered: 0,
                taken: 0,
                more: true,
            }));
        }
        let list = match &map.items {
            Items::Whole => input.clone(),
            Items::Path(path) => self.with_scope(id, Given::input(input), |scope| {
                let found = path.find(scope.input, scope.around);
                found.map_err(|missing| Fault::invalid_path(path.text(), &path.explain(&missing)))
            })?,
            Items::Template(template) => self.fill(id, template, Given::input(input))?,
        };
        match list {
            Value::Array(items) => Ok(Source::List { items, next: 0 }),
            other => Err(not_a_list(self.state_of(id), &map.items, &other)),
        }
    }

    fn map_limits(&mut self, id: FrameId, map: &MapState, input: &Value) -> Result<MapLimits, Fault> {
        let defaults = self.core.start.limits;
        let most = match map.mode {
            Mode::Inline => defaults.inline_concurrency,
            Mode::Distributed => defaults.distributed_concurrency,
        };
        let concurrency = self.count(id, "MaxConcurrency", map.max_concurrency.as_ref(), input)?;
        let concurrency = concurrency.filter(|count| *count > 0).and_then(|count| usize::try_from(count).ok());
        let max_items = match map.reader.as_ref().and_then(|reader| reader.max_items.as_ref()) {
            Some(amount) => self.max_items(id, amount, input)?,
            None => u64::MAX,
        };
        let batch = match &map.batcher {
            Some(batcher) => Some(Batch {
                max_items: self.count(id, "MaxItemsPerBatch", batcher.max_items.as_ref(), input)?,
                max_bytes: self.count(id, "MaxInputBytesPerBatch", batcher.max_bytes.as_ref(), input)?,
                input: match &batcher.input {
                    Some(template) => Some(self.fill(id, template, Given::input(input))?),
                    None => None,
                },
            }),
            None => None,
        };
        Ok(MapLimits {
            concurrency: concurrency.unwrap_or(most).max(1),
            max_items,
            tolerated_count: self.count(id, "ToleratedFailureCount", map.tolerated_count.as_ref(), input)?,
            tolerated_percentage: self.percentage(id, map.tolerated_percentage.as_ref(), input)?,
            batch,
        })
    }

    /// A whole number that is not negative.
    fn count(&mut self, id: FrameId, field: &str, amount: Option<&Amount>, input: &Value) -> Result<Option<u64>, Fault> {
        let Some(amount) = amount else { return Ok(None) };
        let value = self.amount(id, amount, field, input)?;
        let number = integer(amount, &value);
        let count = number.and_then(|count| u64::try_from(count).ok());
        count.map(Some).ok_or_else(|| match (amount, number) {
            (Amount::Path(path), None) => Fault::runtime(format!(
                "The {field}Path field refers to value \"{}\" which is not a valid integer: {}",
                value.as_str().map_or_else(|| value.to_string(), str::to_owned),
                path.text()
            )),
            (_, Some(_)) => Fault::runtime(format!("{field} cannot be negative.")),
            (Amount::Expression(expression), None) => expression.unexpected("number", &value),
            (Amount::Fixed(_), None) => Fault::runtime(format!("{field} must be a whole number.")),
        })
    }

    fn max_items(&mut self, id: FrameId, amount: &Amount, input: &Value) -> Result<u64, Fault> {
        let value = self.amount(id, amount, "MaxItems", input)?;
        match integer(amount, &value) {
            Some(0) => Ok(u64::MAX),
            Some(count) if count > 0 => Ok(count.unsigned_abs()),
            Some(_) => Err(Fault::bare(crate::fault::names::ITEM_READER_FAILED, "field MaxItems must be positive")),
            None => Err(Fault::runtime(format!("MaxItems must be a whole number but was: {value}"))),
        }
    }

    fn percentage(&mut self, id: FrameId, amount: Option<&Amount>, input: &Value) -> Result<Option<f64>, Fault> {
        let Some(amount) = amount else { return Ok(None) };
        let value = self.amount(id, amount, "ToleratedFailurePercentage", input)?;
        let number = match (amount, value.as_str()) {
            (Amount::Path(_), Some(text)) => text.parse().ok(),
            _ => value.as_f64(),
        };
        match number {
            Some(percentage) if (0.0..=100.0).contains(&percentage) => Ok(Some(percentage)),
            Some(_) => Err(Fault::runtime("ToleratedFailurePercentage must be between 0 and 100.")),
            None => Err(match amount {
                Amount::Path(path) => Fault::runtime(format!(
                    "The ToleratedFailurePercentagePath field refers to value \"{}\" which is not a valid float: {}",
                    value.as_str().map_or_else(|| value.to_string(), str::to_owned),
                    path.text()
                )),
                Amount::Expression(expression) => expression.unexpected("number", &value),
                Amount::Fixed(_) => Fault::runtime("ToleratedFailurePercentage must be between 0 and 100."),
            }),
        }
    }
}

/// A whole number; what a path leads to may also be the text of one.
fn integer(amount: &Amount, value: &Value) -> Option<i64> {
    match (amount, value.as_str()) {
        (Amount::Path(_), Some(text)) => text.parse().ok(),
        _ => value.as_i64(),
    }
}

fn not_a_list(state: &State, items: &Items, found: &Value) -> Fault {
    let path = match items {
        Items::Whole if state.language == Language::Jsonata => return no_array(found),
        Items::Whole => "$",
        // The words name the path with one `$`, be it of the context object or not.
        Items::Path(path) => path.text().strip_prefix("$$").map_or(&**path.text(), |_| &path.text()[1..]),
        Items::Template(crate::template::Template::Expression(expression)) => {
            return expression.unexpected("array", found);
        }
        Items::Template(_) => return no_array(found),
    };
    Fault::bare(crate::fault::names::RUNTIME, format!("Reference path \"{path}\" must point to array."))
}

fn no_array(found: &Value) -> Fault {
    Fault::query(format!("Map state input must be an array but was: {found}"))
}
