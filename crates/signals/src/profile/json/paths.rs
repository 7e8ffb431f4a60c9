//! From the keys of nested objects to columns.

use std::collections::HashMap;

use super::super::delimited::shortened;
use super::super::hash;
use super::super::table::Table;

/// The columns by path. Rows mostly have the same keys in the same order, so the column that followed last time is tried
/// before any look-up.
#[derive(Debug, Default)]
pub(super) struct Paths {
    known: HashMap<Vec<u8>, Option<usize>>,
    keys: Vec<(Option<usize>, Vec<u8>)>,
    /// The column that came after each column, the first one after none.
    next: Vec<Option<usize>>,
    scratch: Vec<u8>,
}

impl Paths {
    /// The column of a key within the object of another column; `None` when there are too many columns. `after` is the column
    /// that came before it in the text.
    pub(super) fn find(
        &mut self,
        parent: Option<usize>,
        key: &[u8],
        after: Option<usize>,
        table: &mut Table<'_>,
    ) -> Option<usize> {
        let slot = after.map_or(0, |place| place + 1);
        if let Some(Some(guess)) = self.next.get(slot)
            && let Some((of, name)) = self.keys.get(*guess)
            && *of == parent
            && name == key
        {
            return Some(*guess);
        }
        let place = self.look_up(parent, key, table);
        if place.is_some() {
            if self.next.len() <= slot {
                self.next.resize(slot + 1, None);
            }
            self.next[slot] = place;
        }
        place
    }

    /// Forgets all but the first columns.
    pub(super) fn forget(&mut self, columns: usize, table: &mut Table<'_>) {
        for (parent, key) in self.keys.drain(columns..) {
            self.scratch.clear();
            self.scratch.extend_from_slice(&parent_bytes(parent));
            self.scratch.extend_from_slice(&key);
            self.known.remove(&self.scratch);
        }
        table.forget_columns(columns);
    }

    fn look_up(&mut self, parent: Option<usize>, key: &[u8], table: &mut Table<'_>) -> Option<usize> {
        self.scratch.clear();
        self.scratch.extend_from_slice(&parent_bytes(parent));
        // Of a key beyond the limit only the start and a hash are kept.
        let limit = table.options.limits.name_bytes;
        let start = &key[..key.len().min(limit)];
        self.scratch.extend_from_slice(start);
        if start.len() < key.len() {
            self.scratch.extend_from_slice(&hash::bytes(key).to_le_bytes());
        }
        if let Some(known) = self.known.get(&self.scratch) {
            return *known;
        }
        if table.columns.len() >= table.options.limits.columns {
            // Not remembered: keys beyond the limit must not take memory.
            table.reach("columns");
            return None;
        }
        let own = shortened(key, table.options).replace('\\', "\\\\").replace('.', "\\.");
        let mut path = match parent {
            Some(parent) => format!("{}.{own}", table.columns[parent].key),
            None => own,
        };
        if path.len() > limit {
            path.truncate(path.floor_char_boundary(limit));
            path = format!("{path}#{}", table.columns.len());
        }
        let place = table.add_column(path.clone(), path);
        self.keys.push((parent, self.scratch[size_of::<u64>()..].to_vec()));
        self.known.insert(self.scratch.clone(), place);
        place
    }
}

fn parent_bytes(parent: Option<usize>) -> [u8; 8] {
    parent.map_or(u64::MAX, |place| place as u64).to_le_bytes()
}
