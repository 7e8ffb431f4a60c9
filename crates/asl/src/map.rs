//! An object of a [`Value`]: members in the order they were written, found by name.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::Value;

/// Up to this many members a walk over them is as fast as a hash and takes no memory of its own.
const WALKED: usize = 16;

/// The members of a JSON object, in the order in which they were written.
///
/// The order is kept because it is visible: wherever an object becomes text (`States.JsonToString`, the cause of
/// an error) its members come out as they went in. Two maps are equal when they hold the same members in any order.
#[derive(Clone, Default)]
pub struct Map {
    entries: Vec<(Arc<str>, Value)>,
    index: Option<HashMap<Arc<str>, usize>>,
}

impl Map {
    /// An object without members.
    #[must_use]
    pub fn new() -> Map {
        Map::default()
    }

    /// An object without members, with room for `members` of them.
    #[must_use]
    pub fn with_capacity(members: usize) -> Map {
        Map { entries: Vec::with_capacity(members), index: None }
    }

    /// How many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The value of the member `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.position(name).map(|at| &self.entries[at].1)
    }

    /// The value of the member `name`, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.position(name).map(|at| &mut self.entries[at].1)
    }

    /// Whether there is a member `name`.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    /// Sets the member `name`; one that exists keeps its place.
    pub fn insert(&mut self, name: impl Into<Arc<str>>, value: impl Into<Value>) {
        let name = name.into();
        match self.position(&name) {
            Some(at) => self.entries[at].1 = value.into(),
            None => self.push(name, value.into()),
        }
    }

    /// The members in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Arc<str>, &Value)> {
        self.entries.iter().map(|(name, value)| (name, value))
    }

    fn push(&mut self, name: Arc<str>, value: Value) {
        let at = self.entries.len();
        if let Some(index) = &mut self.index {
            index.insert(Arc::clone(&name), at);
        }
        self.entries.push((name, value));
        if self.index.is_none() && self.entries.len() > WALKED {
            let names = self.entries.iter().enumerate();
            self.index = Some(names.map(|(at, (name, _))| (Arc::clone(name), at)).collect());
        }
    }

    fn position(&self, name: &str) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(name).copied(),
            None => self.entries.iter().position(|(member, _)| &**member == name),
        }
    }
}

impl PartialEq for Map {
    fn eq(&self, other: &Map) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<N: Into<Arc<str>>, V: Into<Value>> FromIterator<(N, V)> for Map {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(members: I) -> Map {
        let mut map = Map::new();
        for (name, value) in members {
            map.insert(name, value);
        }
        map
    }
}
