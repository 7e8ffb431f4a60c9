//! Paths: how a state points into its input, the context object and variables.
//!
//! The dialect is the one of the Jayway library, which the service follows, not RFC 9535: names after a dot may
//! hold hyphens or begin with a digit, a negative index counts from the end, and a path is either *definite* (it
//! points to one place and fails where that is missing) or not (it gives a list, possibly empty, and never fails).

mod filter;
mod read;
mod reference;
mod walk;

use std::sync::Arc;

pub(crate) use filter::Filter;
pub(crate) use reference::ReferencePath;
pub(crate) use walk::Missing;

use crate::Value;
use crate::scanner::{Scanner, SyntaxError};

/// Where a path begins.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Root {
    /// `$`: the data at hand.
    Input,
    /// `$$`: the context object.
    Context,
    /// `$name`: a variable.
    Variable(Arc<str>),
}

/// One step from a value to the values below it.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Name(Arc<str>),
    Names(Vec<Arc<str>>),
    Index(i64),
    Indexes(Vec<i64>),
    Slice {
        from: Option<i64>,
        to: Option<i64>,
    },
    Wildcard,
    /// The value itself and everything below it; the next step is taken from each.
    Descend,
    Filter(Filter),
    Function(Function),
}

/// A function at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Length,
    Min,
    Max,
    Sum,
    Average,
    Keys,
    First,
    Last,
}

/// A path, read once.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    text: Arc<str>,
    root: Root,
    steps: Vec<Step>,
    definite: bool,
}

/// What paths can point into.
pub(crate) trait Surroundings {
    /// A member of the context object.
    fn context_member(&self, name: &str) -> Option<Value>;
    /// The whole context object.
    fn context(&self) -> Value;
    /// The value of a variable.
    fn variable(&self, name: &str) -> Option<Value>;
}

impl Path {
    /// Reads a path that takes up the whole text.
    pub(crate) fn parse(text: &str) -> Result<Path, SyntaxError> {
        let mut scanner = Scanner::new(text);
        let path = read::path(&mut scanner)?;
        if scanner.is_done() { Ok(path) } else { Err(scanner.error("the path should end here")) }
    }

    /// Reads the path that comes next in a longer text.
    pub(crate) fn read(scanner: &mut Scanner<'_>) -> Result<Path, SyntaxError> {
        read::path(scanner)
    }

    pub(crate) fn text(&self) -> &Arc<str> {
        &self.text
    }

    pub(crate) fn root(&self) -> &Root {
        &self.root
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// What the path points to; an indefinite path gives a list of everything that it points to.
    pub(crate) fn find(&self, input: &Value, around: &dyn Surroundings) -> Result<Value, Missing> {
        match &self.root {
            Root::Input => self.find_below(input, &self.steps, 0),
            Root::Context => match self.steps.first() {
                Some(Step::Name(name)) => match around.context_member(name) {
                    Some(member) => self.find_below(&member, &self.steps[1..], 1),
                    None if self.definite => Err(Missing::name(0, self.steps.len())),
                    None => Ok(Value::from(Vec::new())),
                },
                Some(_) | None => self.find_below(&around.context(), &self.steps, 0),
            },
            Root::Variable(name) => match around.variable(name) {
                Some(variable) => self.find_below(&variable, &self.steps, 0),
                None => Err(Missing::variable()),
            },
        }
    }

    fn find_below(&self, from: &Value, steps: &[Step], done: usize) -> Result<Value, Missing> {
        if self.definite {
            return walk::one(from, steps).map_err(|missing| missing.deeper(done));
        }
        Ok(walk::all(from, steps))
    }

    /// The words of the service for a place that is not there.
    pub(crate) fn explain(&self, missing: &Missing) -> String {
        missing.explain(&self.steps)
    }
}

impl PartialEq for Path {
    fn eq(&self, other: &Path) -> bool {
        self.text == other.text
    }
}

#[cfg(test)]
mod tests;
