//! One JSON object, read whole before anything of it counts.

use super::super::cell::{self, Value};
use super::super::hash;
use super::super::table::Table;
use super::paths::Paths;
use super::text::{Cursor, Family, Fault, Raw, Read, Start, number_hash, resolve, tagged};

/// Values of a row for each column that it may have.
const REPEATS: usize = 16;

/// The values of one object in the order of the text; reused from row to row.
#[derive(Debug, Default)]
pub(super) struct Row {
    entries: Vec<Entry>,
    /// Strings whose escapes were resolved.
    resolved: Vec<u8>,
    scratch: Vec<u8>,
    /// Of each column: the entry it has in this row.
    latest: Vec<Option<usize>>,
    /// The column read last.
    after: Option<usize>,
    /// Most values; only repeated keys can make more than there are columns.
    most: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The column; `None` once a later value took its place.
    place: Option<usize>,
    content: Content,
    /// One beyond the last entry that lies within this one.
    end: usize,
}

#[derive(Clone, Copy, Debug)]
enum Content {
    Null,
    Bool(bool),
    Number(Raw),
    String(Raw),
    /// With its hash.
    List(u64),
    Struct,
}

impl Row {
    /// Reads one object. Until [`Row::count`] nothing is counted.
    pub(super) fn read(&mut self, line: &[u8], table: &mut Table<'_>, paths: &mut Paths) -> Read<()> {
        self.clear();
        self.most = table.options.limits.columns.saturating_mul(REPEATS);
        let mut cursor = Cursor::new(line);
        cursor.expect(b'{')?;
        let depth = table.options.limits.depth;
        self.object(&mut cursor, None, depth.saturating_sub(1), table, paths)?;
        cursor.end()
    }

    fn clear(&mut self) {
        for entry in &self.entries {
            if let Some(place) = entry.place {
                self.latest[place] = None;
            }
        }
        self.entries.clear();
        self.resolved.clear();
        self.after = None;
    }

    /// The members of an object whose opening brace was passed.
    fn object(
        &mut self,
        cursor: &mut Cursor<'_>,
        parent: Option<usize>,
        depth: usize,
        table: &mut Table<'_>,
        paths: &mut Paths,
    ) -> Read<()> {
        let mut more = !cursor.is_empty(b'}')?;
        while more {
            cursor.expect(b'"')?;
            let key = cursor.string()?;
            cursor.expect(b':')?;
            match self.column(cursor, key, parent, table, paths) {
                Some(place) => self.value(cursor, place, depth, table, paths)?,
                None => {
                    cursor.skip(depth, &mut self.scratch)?;
                }
            }
            more = cursor.another(b'}')?;
        }
        Ok(())
    }

    fn column(
        &mut self,
        cursor: &Cursor<'_>,
        key: Raw,
        parent: Option<usize>,
        table: &mut Table<'_>,
        paths: &mut Paths,
    ) -> Option<usize> {
        let mut text = &cursor.text[key.start..key.end];
        if key.escaped {
            self.scratch.clear();
            resolve(text, &mut self.scratch);
            text = &self.scratch;
        }
        let place = paths.find(parent, text, self.after, table)?;
        self.after = Some(place);
        Some(place)
    }

    fn value(
        &mut self,
        cursor: &mut Cursor<'_>,
        place: usize,
        depth: usize,
        table: &mut Table<'_>,
        paths: &mut Paths,
    ) -> Read<()> {
        let content = match cursor.start()? {
            Start::Null => Content::Null,
            Start::True => Content::Bool(true),
            Start::False => Content::Bool(false),
            Start::Number => Content::Number(cursor.number()?),
            Start::String => Content::String(self.string(cursor)?),
            Start::List => {
                cursor.at -= 1;
                Content::List(cursor.skip(depth, &mut self.scratch)?)
            }
            Start::Object => {
                let depth = depth.checked_sub(1).ok_or(Fault::TooDeep)?;
                let entry = self.add(place, Content::Struct)?;
                self.object(cursor, Some(place), depth, table, paths)?;
                self.entries[entry].end = self.entries.len();
                return Ok(());
            }
        };
        self.add(place, content)?;
        Ok(())
    }

    /// A string; one with escapes moves, resolved, into this row's own memory.
    fn string(&mut self, cursor: &mut Cursor<'_>) -> Read<Raw> {
        let raw = cursor.string()?;
        if !raw.escaped {
            return Ok(raw);
        }
        let start = self.resolved.len();
        resolve(&cursor.text[raw.start..raw.end], &mut self.resolved);
        Ok(Raw { start, end: self.resolved.len(), escaped: true })
    }

    /// Adds an entry; an earlier one of the same column, and all within it, no longer counts.
    fn add(&mut self, place: usize, content: Content) -> Read<usize> {
        if self.latest.len() <= place {
            self.latest.resize(place + 1, None);
        }
        if let Some(earlier) = self.latest[place] {
            for at in earlier..self.entries[earlier].end {
                if let Some(place) = self.entries[at].place.take() {
                    self.latest[place] = None;
                }
            }
        }
        let entry = self.entries.len();
        if entry >= self.most {
            return Err(Fault::TooMany);
        }
        self.latest[place] = Some(entry);
        self.entries.push(Entry { place: Some(place), content, end: entry + 1 });
        Ok(entry)
    }

    /// Counts what was read last.
    pub(super) fn count(&self, line: &[u8], table: &mut Table<'_>) {
        let mut sum = 0_u64;
        for (index, entry) in self.entries.iter().enumerate() {
            let Some(place) = entry.place else { continue };
            let Some(counted) = self.value_of(index, line, table) else {
                table.columns[place].add_null();
                continue;
            };
            table.add_value(place, counted.value, counted.text, counted.hash);
            if let Content::String(_) = entry.content {
                table.columns[place].add_length(counted.text);
            }
            // A sum, so that the order of the keys does not matter.
            sum = sum.wrapping_add(hash::salted(counted.part, place as u64));
        }
        table.end_row(sum);
    }

    /// The value of an entry; `None` for a null.
    fn value_of<'a>(&'a self, index: usize, line: &'a [u8], table: &Table<'_>) -> Option<Counted<'a>> {
        let simple = |value, hash| Some(Counted { value, text: b"", hash, part: hash });
        match self.entries[index].content {
            Content::Null => None,
            Content::Bool(truth) => simple(Value::Bool, tagged(u64::from(truth), Family::Bool)),
            Content::List(hash) => simple(Value::List, hash),
            Content::Number(raw) => {
                let text = &line[raw.start..raw.end];
                let hash = number_hash(text);
                Some(Counted { value: cell::classify(text), text, hash, part: hash })
            }
            Content::String(raw) => {
                let text = if raw.escaped { &self.resolved[raw.start..raw.end] } else { &line[raw.start..raw.end] };
                let hash = tagged(hash::bytes(text), Family::String);
                (!table.is_null(text)).then(|| Counted { value: cell::classify_text(text), text, hash, part: hash })
            }
            Content::Struct => {
                let part = tagged(0, Family::Struct);
                Some(Counted { value: Value::Struct, text: b"", hash: self.struct_hash(index, line, table), part })
            }
        }
    }

    /// The hash of an object from all the values within it.
    fn struct_hash(&self, index: usize, line: &[u8], table: &Table<'_>) -> u64 {
        let mut sum = 0_u64;
        for (inner, entry) in self.entries[..self.entries[index].end].iter().enumerate().skip(index + 1) {
            let Some(place) = entry.place else { continue };
            let part = match entry.content {
                Content::Struct => Some(tagged(0, Family::Struct)),
                Content::Null | Content::Bool(_) | Content::Number(_) | Content::String(_) | Content::List(_) => {
                    self.value_of(inner, line, table).map(|counted| counted.part)
                }
            };
            sum = sum.wrapping_add(part.map_or(0, |part| hash::salted(part, place as u64)));
        }
        tagged(sum, Family::Struct)
    }
}

/// A value and its hashes.
struct Counted<'a> {
    value: Value,
    text: &'a [u8],
    /// For distinct values.
    hash: u64,
    /// For the row: of an object only that it is one, since the values within it count themselves.
    part: u64,
}
