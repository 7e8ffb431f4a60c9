//! The context object `$$`, built only as far as a path asks for it.

use std::sync::Arc;

use crate::core::Core;
use crate::definition::{Kind, Machine};
use crate::execution::Workflow;
use crate::frame::{Frame, FrameId, Item};
use crate::path::Surroundings;
use crate::time::print_timestamp;
use crate::{Map, TaskId, Value};

/// What paths of a state see besides its data.
pub(crate) struct Around<'a> {
    pub(crate) core: &'a Core,
    pub(crate) machine: &'a Machine,
    pub(crate) frame: &'a Frame,
    /// The task whose token a template may ask for.
    pub(crate) task: Option<TaskId>,
    /// The item that a selector is applied to; else the frame's own.
    pub(crate) item: Option<&'a Item>,
}

impl Around<'_> {
    fn execution(&self) -> Value {
        let start = &self.core.start;
        let Some(home) = self.core.frames.get(self.frame.home) else { return Value::Null };
        let Some(run) = &home.run else { return Value::Null };
        let name = self.core.child_name(home);
        let mut execution = Map::with_capacity(6);
        match &name {
            None => execution.insert("Id", Arc::clone(&start.id)),
            Some(child) => execution.insert("Id", format!("{}/{child}", start.id)),
        }
        execution.insert("Input", run.input.clone());
        execution.insert("Name", name.map_or_else(|| Arc::clone(&start.name), Arc::from));
        execution.insert("RoleArn", start.role.clone().map_or(Value::Null, Value::String));
        execution.insert("StartTime", print_timestamp(run.started));
        if start.kind == Workflow::Standard {
            execution.insert("RedriveCount", 0_i64);
        }
        execution.into()
    }

    fn state_machine(&self) -> Value {
        let start = &self.core.start;
        Map::from_iter([("Id", Arc::clone(&start.machine_id)), ("Name", Arc::clone(&start.machine_name))]).into()
    }

    fn state(&self) -> Value {
        let described = self.machine.state(self.frame.state);
        let mut state = Map::with_capacity(3);
        state.insert("EnteredTime", print_timestamp(self.frame.entered));
        // The service has this name for every state that is tested by itself.
        let alone = self.core.observed.is_some().then(|| Arc::from("StateName"));
        state.insert("Name", alone.unwrap_or_else(|| Arc::clone(&described.name)));
        // Only those that can be tried again tell how often they were.
        if let Kind::Task(_) | Kind::Parallel { .. } | Kind::Map(_) = &described.kind {
            state.insert("RetryCount", self.frame.retry_count());
        }
        state.into()
    }

    fn item(&self) -> Option<Value> {
        let item = self.item.or(self.frame.item.as_deref())?;
        let item = Map::from_iter([("Index", Value::from(item.index)), ("Value", item.value.clone())]);
        Some(Map::from_iter([("Item", Value::from(item))]).into())
    }

    fn task(&self) -> Option<Value> {
        let token = self.core.token(self.task?);
        Some(Map::from_iter([("Token", token)]).into())
    }
}

impl Surroundings for Around<'_> {
    fn context_member(&self, name: &str) -> Option<Value> {
        if let Some(context) = &self.core.context {
            return context.get(name).cloned();
        }
        match name {
            "Execution" => Some(self.execution()),
            "StateMachine" => Some(self.state_machine()),
            "State" => Some(self.state()),
            "Map" => self.item(),
            "Task" => self.task(),
            _ => None,
        }
    }

    fn context(&self) -> Value {
        if let Some(context) = &self.core.context {
            return context.clone();
        }
        let names = ["Execution", "StateMachine", "State", "Map", "Task"];
        names.into_iter().filter_map(|name| Some((name, self.context_member(name)?))).collect::<Map>().into()
    }

    fn variable(&self, name: &str) -> Option<Value> {
        self.frame.variables.get(name).cloned()
    }
}

/// The frame that a name stands for, while it is known to live.
pub(crate) fn living(core: &Core, frame: FrameId) -> &Frame {
    core.frames.get(frame).expect("a frame lives while work is done on it")
}
