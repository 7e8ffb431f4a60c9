//! The Map state: starting the children, and what becomes of their results.

mod begin;
mod items;
mod results;

use std::sync::Arc;

use crate::definition::{Kind, MapState, Mode};
use crate::fault::{Fault, names};
use crate::frame::{Doing, Frame, FrameId, Item, MapRun, Results, Source};
use crate::step::{Given, Step, Thread};
use crate::{Failure, Map, Value};

pub(crate) use items::items_wanted;

pub(crate) const THRESHOLD: &str = "The specified tolerated failure threshold was exceeded";

impl<'x> Step<'x> {
    /// The run of a Map state that a frame is in, if it is in one.
    fn map_run(&mut self, id: FrameId) -> Option<(&'x MapState, &mut MapRun)> {
        let state = self.core.frames.get(id)?.state;
        let Kind::Map(map) = &self.machine.state(state).kind else { return None };
        match &mut self.core.frames.get_mut(id)?.doing {
            Doing::Map(run) => Some((map, run)),
            Doing::Working | Doing::Task(_) | Doing::Waiting { .. } | Doing::Retrying { .. } | Doing::Parallel(_) => None,
        }
    }

    /// Starts the next child if there is an item for it and room, else sees whether the Map is done.
    pub(crate) fn feed(&mut self, id: FrameId) {
        let Some((map, run)) = self.map_run(id) else { return };
        if run.failure.is_some() {
            return;
        }
        let has_room = run.children.len() < run.limits.concurrency;
        let next = if has_room { run.next_item() } else { None };
        self.ask_for_items(id);
        match next {
            Some(item) => {
                // Comes after the child in the stack of work: the child goes as far as it can before the next starts.
                self.core.work.push(crate::core::Work::Feed(id));
                if let Err(fault) = self.start_child(id, map, item) {
                    let failure = self.failure_of(id, fault);
                    self.fail_map(id, failure);
                }
            }
            None => self.settle(id),
        }
    }

    fn start_child(&mut self, id: FrameId, map: &MapState, first: Value) -> Result<(), Fault> {
        let input = match self.next_batch(id, map, first)? {
            Batched::Single(item) => self.select_item(id, map, &item)?,
            Batched::Batch(input) => input,
        };
        let Some((_, run)) = self.map_run(id) else { return Ok(()) };
        let (index, run_id) = (run.started, run.id.0);
        run.started += 1;
        let frame = self.frame(id);
        let (variables, home, child) = match map.mode {
            Mode::Inline => (Arc::clone(&frame.variables), Some(frame.home), None),
            Mode::Distributed => (Arc::default(), None, Some(crate::random::mix(run_id) ^ index)),
        };
        let item = match map.mode {
            Mode::Inline => Some(Arc::new(Item { index, value: self.raw_item(id) })),
            Mode::Distributed => None,
        };
        if map.mode == Mode::Inline {
            self.record(id, 1);
        }
        let thread = Thread { parent: Some(id), index, state: map.start, input, variables, item, home, child };
        let child = self.spawn(thread);
        if let Some((_, run)) = self.map_run(id) {
            run.children.insert(child);
        }
        Ok(())
    }

    /// The item that the next child is for, as it was before any selector.
    fn raw_item(&mut self, id: FrameId) -> Value {
        match self.map_run(id) {
            Some((_, run)) => run.current.clone(),
            None => Value::Null,
        }
    }

    /// `ItemSelector` applied to an item.
    fn select_item(&mut self, id: FrameId, map: &MapState, value: &Value) -> Result<Value, Fault> {
        let Some((_, run)) = self.map_run(id) else { return Ok(Value::Null) };
        let item = Item { index: run.selected, value: value.clone() };
        run.selected += 1;
        run.current = value.clone();
        let Some(selector) = &map.selector else { return Ok(item.value) };
        let input = run.input.clone();
        self.fill(id, selector, Given { item: Some(&item), ..Given::input(&input) })
    }

    /// Items until the batch is full, where the Map has a batcher.
    fn next_batch(&mut self, id: FrameId, map: &MapState, first: Value) -> Result<Batched, Fault> {
        let Some((_, run)) = self.map_run(id) else { return Ok(Batched::Single(first)) };
        let Some(batch) = &run.limits.batch else { return Ok(Batched::Single(first)) };
        let (max_items, max_bytes, extra) = (batch.max_items, batch.max_bytes, batch.input.clone());
        let mut items: Vec<Value> = Vec::new();
        let mut bytes = 0_u64;
        let mut next = Some(first);
        while let Some(item) = next {
            let selected = self.select_item(id, map, &item)?;
            let size = crate::size::measure(&selected, usize::MAX).unwrap_or(usize::MAX) as u64;
            let full = max_items.is_some_and(|most| items.len() as u64 >= most)
                || max_bytes.is_some_and(|most| bytes.saturating_add(size) > most && !items.is_empty());
            let Some((_, run)) = self.map_run(id) else { break };
            if full {
                run.selected -= 1;
                run.put_back(item);
                break;
            }
            bytes = bytes.saturating_add(size);
            items.push(selected);
            let room = max_items.is_none_or(|most| (items.len() as u64) < most);
            next = if room { run.next_item() } else { None };
        }
        let mut input = Map::new();
        if let Some(extra) = extra {
            input.insert("BatchInput", extra);
        }
        input.insert("Items", items);
        Ok(Batched::Batch(input.into()))
    }

    /// A child of a Map ended.
    pub(crate) fn item_ended(&mut self, id: FrameId, child_id: FrameId, child: Frame, outcome: Result<Value, Failure>) {
        let now = self.now;
        let Some((map, run)) = self.map_run(id) else { return };
        run.children.remove(&child_id);
        let inline = map.mode == Mode::Inline;
        match &outcome {
            Ok(_) => run.succeeded += 1,
            Err(_) => run.failed += 1,
        }
        let failure = outcome.as_ref().err().cloned();
        run.results.take(child, now, outcome);
        let exceeded = run.exceeds_tolerance();
        if inline {
            self.record(id, 1);
        }
        match failure {
            Some(failure) if inline => self.fail_map(id, failure),
            Some(_) if exceeded => {
                self.fail_map(id, Failure::new(names::EXCEED_TOLERATED_FAILURE_THRESHOLD, THRESHOLD));
            }
            Some(_) | None => {
                self.write_full_parts(id);
                self.core.work.push(crate::core::Work::Feed(id));
            }
        }
    }

    /// Stops the children; the state fails, once the results so far are written where a writer is set.
    pub(crate) fn fail_map(&mut self, id: FrameId, failure: Failure) {
        let Some((_, run)) = self.map_run(id) else { return };
        for child in std::mem::take(&mut run.children).into_iter().rev() {
            self.cancel(child);
        }
        let Some((_, run)) = self.map_run(id) else { return };
        if let Results::Written(_) = &run.results
            && run.started > 0
        {
            run.failure = Some(failure);
            self.stop_reading(id);
            return self.settle(id);
        }
        self.stop_reading(id);
        self.fail(id, failure);
    }

    /// Ends the Map if everything has ended.
    fn settle(&mut self, id: FrameId) {
        let Some((_, run)) = self.map_run(id) else { return };
        let done = run.children.is_empty() && (run.failure.is_some() || run.source.is_exhausted(run.limits.max_items));
        if !done {
            return;
        }
        if run.failure.is_none() && run.exceeds_final_tolerance() {
            run.failure = Some(Failure::new(names::EXCEED_TOLERATED_FAILURE_THRESHOLD, THRESHOLD));
        }
        if let Results::Written(_) = &run.results {
            return self.write_last_part(id);
        }
        self.conclude(id);
    }

    /// Leaves the state with the results, or with the failure that was kept back.
    fn conclude(&mut self, id: FrameId) {
        let Some((map, run)) = self.map_run(id) else { return };
        if let Some(failure) = run.failure.take() {
            return self.fail(id, failure);
        }
        let mut result = run.results.output();
        let transformation = map.writer.as_ref().filter(|writer| writer.resource.is_none());
        if transformation.and_then(|writer| writer.config.transformation.as_deref()) == Some("FLATTEN") {
            result = results::flattened(&result);
        }
        self.record(id, 1);
        self.frame_mut(id).doing = Doing::Working;
        if let Err(fault) = self.complete(id, result) {
            self.fault(id, fault);
        }
    }

    /// Drops what a Map that is cancelled waits for.
    pub(crate) fn forget(&mut self, run: &MapRun) {
        if let Source::Reader(reading) = &run.source
            && let Some(read) = reading.asked
        {
            self.core.reads.remove(&read);
        }
        if let Results::Written(writing) = &run.results {
            for write in writing.pending.keys() {
                self.core.writes.remove(write);
            }
        }
    }
}

enum Batched {
    Single(Value),
    Batch(Value),
}
