//! Where the items of a Map come from.

use crate::command::ReadId;
use crate::execution::Limits;
use crate::frame::{FrameId, MapRun, Reading, Source};
use crate::outstanding::read_items;
use crate::step::Step;
use crate::{Failure, Value};

impl MapRun {
    pub(super) fn next_item(&mut self) -> Option<Value> {
        match &mut self.source {
            Source::List { items, next } => {
                let item = items.get(*next)?.clone();
                *next += 1;
                Some(item)
            }
            Source::Reader(reading) if reading.taken < self.limits.max_items => {
                let item = reading.ready.pop_front()?;
                reading.taken += 1;
                Some(item)
            }
            Source::Reader(_) => None,
        }
    }

    /// Takes an item back that was taken too early; it is the next one again.
    pub(super) fn put_back(&mut self, item: Value) {
        match &mut self.source {
            Source::List { next, .. } => *next -= 1,
            Source::Reader(reading) => {
                reading.taken -= 1;
                reading.ready.push_front(item);
            }
        }
    }

    /// Whether more children failed than the Map tolerates, as far as that is known before the end.
    pub(super) fn exceeds_tolerance(&self) -> bool {
        match (&self.source, self.limits.tolerated_count, self.limits.tolerated_percentage) {
            (_, None, None) => self.failed > 0,
            (_, Some(count), _) if self.failed > count => true,
            (Source::List { items, .. }, _, Some(percentage)) if self.limits.batch.is_none() => {
                self.is_over(percentage, items.len() as u64)
            }
            _ => false,
        }
    }

    /// Whether more children failed than the Map tolerates, when all have ended.
    pub(crate) fn exceeds_final_tolerance(&self) -> bool {
        let over = self.limits.tolerated_percentage.is_some_and(|percentage| self.is_over(percentage, self.started));
        self.failed > 0 && (over || self.exceeds_tolerance())
    }

    #[expect(clippy::cast_precision_loss, reason = "a percentage of fewer than 2^53 items")]
    fn is_over(&self, percentage: f64, of: u64) -> bool {
        of > 0 && self.failed as f64 * 100.0 / of as f64 > percentage
    }
}

impl Source {
    /// Whether every item was taken.
    pub(super) fn is_exhausted(&self, max_items: u64) -> bool {
        match self {
            Source::List { items, next } => *next >= items.len(),
            Source::Reader(reading) => {
                reading.asked.is_none() && (reading.taken >= max_items || (reading.ready.is_empty() && !reading.more))
            }
        }
    }
}

/// How many items the next request asks for.
pub(crate) fn items_wanted(limits: &Limits, run: &MapRun, reading: &Reading) -> u64 {
    run.limits.max_items.saturating_sub(reading.delivered).min(limits.items_per_read).max(1)
}

impl Step<'_> {
    /// Asks for items while few are left, so that children do not wait for a read.
    pub(super) fn ask_for_items(&mut self, id: FrameId) {
        let limits = self.core.start.limits;
        let Some((_, run)) = self.map_run(id) else { return };
        let wanted = match &run.source {
            Source::Reader(reading) => items_wanted(&limits, run, reading),
            Source::List { .. } => return,
        };
        let Source::Reader(reading) = &mut run.source else { return };
        let enough = reading.ready.len() as u64 > limits.items_per_read / 4;
        let all = !reading.more || reading.delivered >= run.limits.max_items;
        if reading.asked.is_some() || enough || all {
            return;
        }
        let read = ReadId(self.core.next_id());
        self.core.reads.insert(read, id);
        let machine = self.machine;
        let state = machine.state(self.frame(id).state);
        let Some((map, run)) = self.map_run(id) else { return };
        if let Source::Reader(reading) = &mut run.source {
            reading.asked = Some(read);
        }
        let run = &*run;
        let command = match &run.source {
            Source::Reader(reading) => read_items(state, map, run, reading, read, wanted),
            Source::List { .. } => None,
        };
        self.out.extend(command);
    }

    pub(crate) fn items_read(&mut self, read: ReadId, items: Vec<Value>, more: bool) -> bool {
        let Some(id) = self.core.reads.remove(&read) else { return false };
        let Some((_, run)) = self.map_run(id) else { return false };
        let Source::Reader(reading) = &mut run.source else { return false };
        reading.asked = None;
        reading.delivered += items.len() as u64;
        // An answer without items ends the list: asking again at the same place would never end.
        reading.more = more && !items.is_empty();
        reading.ready.extend(items);
        self.core.work.push(crate::core::Work::Feed(id));
        true
    }

    pub(crate) fn items_failed(&mut self, read: ReadId, failure: Failure) -> bool {
        let Some(id) = self.core.reads.remove(&read) else { return false };
        if let Some((_, run)) = self.map_run(id)
            && let Source::Reader(reading) = &mut run.source
        {
            reading.asked = None;
        }
        self.fail_map(id, failure);
        true
    }

    /// No more items are wanted.
    pub(super) fn stop_reading(&mut self, id: FrameId) {
        let Some((_, run)) = self.map_run(id) else { return };
        if let Source::Reader(reading) = &mut run.source {
            reading.more = false;
            reading.ready.clear();
            if let Some(read) = reading.asked.take() {
                self.core.reads.remove(&read);
            }
        }
    }
}
