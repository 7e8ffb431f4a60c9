//! What becomes of the outputs of a Map's children.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::command::{ItemResult, WriteId};
use crate::frame::{Frame, FrameId, Part, Results, Writing};
use crate::outstanding::write_results;
use crate::step::Step;
use crate::{Failure, Value};

impl Results {
    /// Keeps how a child ended.
    pub(super) fn take(&mut self, child: Frame, ended: Timestamp, outcome: Result<Value, Failure>) {
        match self {
            Results::Kept(outputs) => {
                let index = usize::try_from(child.index).expect("the index of a list that is in memory");
                if outputs.len() <= index {
                    outputs.resize(index + 1, None);
                }
                outputs[index] = outcome.ok();
            }
            Results::Written(writing) => {
                let (input, started) = match child.run {
                    Some(run) => (run.input, run.started),
                    None => (Value::Null, ended),
                };
                writing.ready.push(ItemResult { index: child.index, input, outcome, started, ended });
            }
        }
    }

    /// The result of the state.
    pub(super) fn output(&mut self) -> Value {
        match self {
            Results::Kept(outputs) => std::mem::take(outputs).into_iter().flatten().collect::<Vec<_>>().into(),
            Results::Written(writing) => writing.output.take().unwrap_or_default(),
        }
    }
}

/// The outputs with those that are lists taken apart.
pub(super) fn flattened(outputs: &Value) -> Value {
    let mut items = Vec::new();
    for output in outputs.as_array().unwrap_or_default() {
        match output {
            Value::Array(list) => items.extend(list.iter().cloned()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => items.push(output.clone()),
        }
    }
    items.into()
}

impl Writing {
    pub(super) fn to(arguments: Value) -> Writing {
        Writing { arguments, ready: Vec::new(), parts: 0, pending: BTreeMap::new(), last_sent: false, output: None }
    }
}

impl Step<'_> {
    /// Hands over results when there are enough for a part.
    pub(super) fn write_full_parts(&mut self, id: FrameId) {
        let most = self.core.start.limits.results_per_write;
        let Some((_, run)) = self.map_run(id) else { return };
        if let Results::Written(writing) = &run.results
            && writing.ready.len() >= most
        {
            self.write_part(id, false);
        }
    }

    /// Hands over what is left, once.
    pub(super) fn write_last_part(&mut self, id: FrameId) {
        let Some((_, run)) = self.map_run(id) else { return };
        if let Results::Written(writing) = &run.results
            && !writing.last_sent
        {
            self.write_part(id, true);
        }
    }

    fn write_part(&mut self, id: FrameId, last: bool) {
        let write = WriteId(self.core.next_id());
        self.core.writes.insert(write, id);
        let machine = self.machine;
        let state = machine.state(self.frame(id).state);
        let Some((map, run)) = self.map_run(id) else { return };
        let Results::Written(writing) = &mut run.results else { return };
        let part = Part { number: writing.parts, results: Arc::new(std::mem::take(&mut writing.ready)), last };
        writing.parts += 1;
        writing.last_sent |= last;
        writing.pending.insert(write, part);
        let run = &*run;
        let Results::Written(writing) = &run.results else { return };
        let command = write_results(state, map, run, writing, write, &writing.pending[&write]);
        self.out.extend(command);
    }

    pub(crate) fn results_written(&mut self, write: WriteId, output: Value) -> bool {
        let Some(id) = self.core.writes.remove(&write) else { return false };
        let Some((_, run)) = self.map_run(id) else { return false };
        let Results::Written(writing) = &mut run.results else { return false };
        if writing.pending.remove(&write).is_some_and(|part| part.last) {
            writing.output = Some(output);
        }
        if writing.last_sent && writing.pending.is_empty() {
            self.conclude(id);
        }
        true
    }

    pub(crate) fn results_failed(&mut self, write: WriteId, failure: Failure) -> bool {
        let Some(id) = self.core.writes.remove(&write) else { return false };
        let Some((_, run)) = self.map_run(id) else { return false };
        let Results::Written(writing) = &mut run.results else { return false };
        let others = std::mem::take(&mut writing.pending);
        run.results = Results::Kept(Vec::new());
        let failure = run.failure.take().unwrap_or(failure);
        for write in others.keys() {
            self.core.writes.remove(write);
        }
        self.fail_map(id, failure);
        true
    }
}
