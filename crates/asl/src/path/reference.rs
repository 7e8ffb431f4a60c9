//! Reference paths: where a state puts its result.

use std::sync::Arc;

use super::{Path, Root, Step};
use crate::scanner::SyntaxError;
use crate::{Map, Value};

/// A path of names and indexes only, to write to.
#[derive(Clone, Debug)]
pub(crate) struct ReferencePath(Path);

/// The result cannot be put where the path points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unreachable;

impl ReferencePath {
    pub(crate) fn parse(text: &str) -> Result<ReferencePath, SyntaxError> {
        let path = Path::parse(text)?;
        let plain = |step: &Step| matches!(step, Step::Name(_) | Step::Index(_));
        if *path.root() != Root::Input || !path.steps().iter().all(plain) {
            let reason = "a reference path begins with `$` and holds names and indexes only".to_owned();
            return Err(SyntaxError { reason, at: 0 });
        }
        Ok(ReferencePath(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// `data` with `result` put where the path points; objects on the way are made where they are missing.
    pub(crate) fn put(&self, mut data: Value, result: Value) -> Result<Value, Unreachable> {
        place(&mut data, self.0.steps(), result)?;
        Ok(data)
    }
}

fn place(data: &mut Value, steps: &[Step], result: Value) -> Result<(), Unreachable> {
    let Some((step, rest)) = steps.split_first() else {
        *data = result;
        return Ok(());
    };
    match (step, data) {
        (Step::Name(name), Value::Object(object)) => {
            let object = Arc::make_mut(object);
            if let Some(member) = object.get_mut(name) {
                return place(member, rest, result);
            }
            let mut member = Value::from(Map::new());
            place(&mut member, rest, result)?;
            object.insert(Arc::clone(name), member);
            Ok(())
        }
        (Step::Index(index), Value::Array(list)) => {
            let at = usize::try_from(*index).map_err(|_| Unreachable)?;
            let item = Arc::make_mut(list).get_mut(at).ok_or(Unreachable)?;
            place(item, rest, result)
        }
        _ => Err(Unreachable),
    }
}
