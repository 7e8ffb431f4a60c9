//! The Parallel state.

use std::sync::Arc;

use crate::definition::{State, StateId};
use crate::fault::Fault;
use crate::frame::{Doing, Frame, FrameId, ParallelRun};
use crate::step::{Given, Step, Thread};
use crate::template::Template;
use crate::{Failure, Value};

impl Step<'_> {
    pub(crate) fn begin_parallel(
        &mut self,
        id: FrameId,
        state: &State,
        branches: &[StateId],
        arguments: Option<&Template>,
    ) -> Result<(), Fault> {
        let mut input = self.effective_input(id, state)?;
        if let Some(arguments) = arguments {
            input = self.fill(id, arguments, Given::input(&input))?;
        }
        self.record(id, 1);
        if branches.is_empty() {
            return self.complete(id, Value::from(Vec::new()));
        }
        let frame = self.frame(id);
        let (variables, item, home) = (Arc::clone(&frame.variables), frame.item.clone(), frame.home);
        // The last one spawned is the first one to work: the branches begin in their order.
        let mut children = vec![None; branches.len()];
        for (index, branch) in branches.iter().enumerate().rev() {
            children[index] = Some(self.spawn(Thread {
                parent: Some(id),
                index: index as u64,
                state: *branch,
                input: input.clone(),
                variables: Arc::clone(&variables),
                item: item.clone(),
                home: Some(home),
                child: None,
            }));
        }
        let results = vec![Value::Null; branches.len()];
        self.frame_mut(id).doing = Doing::Parallel(Box::new(ParallelRun { children, results, left: branches.len() }));
        Ok(())
    }

    pub(crate) fn branch_ended(&mut self, id: FrameId, child: &Frame, outcome: Result<Value, Failure>) {
        let Doing::Parallel(run) = &mut self.frame_mut(id).doing else { return };
        let index = usize::try_from(child.index).expect("the index of a list that is in memory");
        run.children[index] = None;
        match outcome {
            Ok(output) => {
                run.results[index] = output;
                run.left -= 1;
                if run.left > 0 {
                    return;
                }
                let results = std::mem::take(&mut run.results);
                self.frame_mut(id).doing = Doing::Working;
                if let Err(fault) = self.complete(id, Value::from(results)) {
                    self.fault(id, fault);
                }
            }
            Err(failure) => {
                for sibling in std::mem::take(&mut run.children).into_iter().flatten() {
                    self.cancel(sibling);
                }
                self.fail(id, failure);
            }
        }
    }
}
