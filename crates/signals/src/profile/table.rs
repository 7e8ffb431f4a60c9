//! What is kept of a table while its rows pass.

use super::cell::{self, Value};
use super::column::Column;
use super::hash;
use super::repeats::Repeats;
use crate::document::KeyCounts;
use crate::options::Options;

/// The running counts of a table.
pub(super) struct Table<'a> {
    pub(super) options: &'a Options,
    pub(super) columns: Vec<Column>,
    pub(super) rows: u64,
    pub(super) repeats: Repeats,
    /// The declared key.
    pub(super) key: Option<Key>,
    /// Further sets of columns.
    pub(super) unique: Vec<Key>,
    pub(super) oddities: Oddities,
    /// Names of the limits that were reached.
    pub(super) limits: Vec<&'static str>,
    /// Microseconds of Unix time against which the future is told.
    now: i64,
    /// Memory left for exact distinct counts.
    memory: usize,
    /// Hash of each cell of this row, kept only when keys need them.
    cells: Vec<u64>,
}

/// Rows and lines that are not as they should be.
#[derive(Debug, Default)]
pub(super) struct Oddities {
    pub(super) short: Tally,
    pub(super) long: Tally,
    pub(super) bad_json: Tally,
    pub(super) too_long: Tally,
    pub(super) blank: Tally,
    pub(super) truncated: Tally,
    pub(super) unclosed: Tally,
    /// Columns in the file, when it has more than are measured.
    pub(super) columns: Option<u64>,
}

/// How often, and where first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) count: u64,
    pub(super) first_line: Option<u64>,
}

impl Tally {
    pub(super) fn add(&mut self, line: u64) {
        self.count += 1;
        self.first_line.get_or_insert(line);
    }
}

/// A set of columns whose repeats are counted.
pub(super) struct Key {
    pub(super) names: Vec<String>,
    /// Where the columns are; shorter than the names while one is unknown.
    places: Vec<usize>,
    repeats: Repeats,
    null_rows: u64,
}

impl Key {
    fn is_found(&self) -> bool {
        self.places.len() == self.names.len()
    }

    fn add_row(&mut self, cells: &[u64]) {
        let mut joined = 0;
        for place in &self.places {
            match cells.get(*place) {
                Some(cell) if *cell != hash::NULL => joined = hash::join(joined, *cell),
                Some(_) | None => return self.null_rows += 1,
            }
        }
        if self.is_found() { self.repeats.add(joined) } else { self.null_rows += 1 }
    }

    pub(super) fn finish(self) -> KeyCounts {
        let found = self.is_found();
        KeyCounts {
            columns: self.names,
            duplicate_rows: self.repeats.count().filter(|_| found),
            null_rows: found.then_some(self.null_rows),
        }
    }
}

impl<'a> Table<'a> {
    pub(super) fn new(options: &'a Options, now: jiff::Timestamp) -> Self {
        let limit = options.limits.repeat_rows;
        let key =
            |names: &Vec<String>| Key { names: names.clone(), places: Vec::new(), repeats: Repeats::new(limit), null_rows: 0 };
        Self {
            options,
            columns: Vec::new(),
            rows: 0,
            repeats: Repeats::new(limit),
            key: (!options.key.is_empty()).then(|| key(&options.key)),
            unique: options.unique.iter().map(key).collect(),
            oddities: Oddities::default(),
            limits: Vec::new(),
            now: now.as_microsecond(),
            memory: options.limits.distinct_bytes,
            cells: Vec::new(),
        }
    }

    /// Adds a column and returns its place; `None` when there are as many as the limit allows.
    pub(super) fn add_column(&mut self, name: String, key: String) -> Option<usize> {
        let place = self.columns.len();
        if place >= self.options.limits.columns {
            self.reach("columns");
            return None;
        }
        let timed = self.options.freshness.as_ref().is_some_and(|declared| *declared == key || *declared == name);
        self.columns.push(Column::new(name, key, place, timed, self.now));
        for declared in self.key.iter_mut().chain(&mut self.unique).filter(|declared| !declared.is_found()) {
            let find = |name: &String| self.columns.iter().position(|column| column.key == *name || column.name == *name);
            declared.places = declared.names.iter().filter_map(find).collect();
        }
        Some(place)
    }

    /// Takes back all but the first columns; nothing may have been counted in the others.
    pub(super) fn forget_columns(&mut self, keep: usize) {
        self.columns.truncate(keep);
        for declared in self.key.iter_mut().chain(&mut self.unique) {
            declared.places.retain(|place| *place < keep);
        }
    }

    /// Notes that a limit was reached.
    pub(super) fn reach(&mut self, limit: &'static str) {
        if !self.limits.contains(&limit) {
            self.limits.push(limit);
        }
    }

    /// Counts a row of texts in the order of the columns; missing ones are null, those beyond are ignored.
    pub(super) fn add_texts<'b>(&mut self, texts: impl Iterator<Item = &'b [u8]>) {
        let mut joined = 0_u64;
        let mut texts = texts.fuse();
        for place in 0..self.columns.len() {
            let cell = self.add_text(place, texts.next().unwrap_or_default());
            joined = hash::join(joined, cell);
            self.remember(place, cell);
        }
        self.end_row(joined);
    }

    #[inline]
    fn add_text(&mut self, place: usize, text: &[u8]) -> u64 {
        if text.is_empty() || self.is_null(text) {
            self.columns[place].add_null();
            return hash::NULL;
        }
        let hash = hash::bytes(text);
        let column = &mut self.columns[place];
        column.distinct.add(hash, &mut self.memory);
        column.add_length(text);
        column.add(cell::classify(text), text);
        hash
    }

    /// Whether a text is declared to mean "no value".
    #[inline]
    pub(super) fn is_null(&self, text: &[u8]) -> bool {
        !self.options.null_values.is_empty() && self.options.null_values.iter().any(|null| null.as_bytes() == text)
    }

    /// Counts a value in a column and remembers its hash for the keys.
    pub(super) fn add_value(&mut self, place: usize, value: Value, text: &[u8], hash: u64) {
        let column = &mut self.columns[place];
        column.distinct.add(hash, &mut self.memory);
        column.add(value, text);
        self.remember(place, hash);
    }

    /// Keeps the hash of a cell for the keys, if there are any.
    #[inline]
    fn remember(&mut self, place: usize, hash: u64) {
        if self.key.is_none() && self.unique.is_empty() {
            return;
        }
        if self.cells.len() <= place {
            self.cells.resize(place + 1, hash::NULL);
        }
        self.cells[place] = hash;
    }

    /// Ends a row whose cells have been counted.
    pub(super) fn end_row(&mut self, hash: u64) {
        self.rows += 1;
        self.repeats.add(hash);
        for key in self.key.iter_mut().chain(&mut self.unique) {
            key.add_row(&self.cells);
        }
        self.cells.clear();
    }
}
