//! The Task state.

use crate::command::{Command, TaskId};
use crate::core::Purpose;
use crate::definition::{Amount, State, Task};
use crate::failing::{seconds, too_large};
use crate::fault::{Fault, names};
use crate::frame::{Doing, FrameId, TaskRun};
use crate::outstanding::start_task;
use crate::resource::Pattern;
use crate::step::{Given, Step};
use crate::time::after;
use crate::{Failure, TimerId, Value, size};

impl Step<'_> {
    pub(crate) fn begin_task(&mut self, id: FrameId, state: &State, task: &Task) -> Result<(), Fault> {
        let input = self.effective_input(id, state)?;
        let name = TaskId(self.core.next_id());
        let waits = task.resource.pattern != Pattern::RequestResponse;
        let token = waits.then(|| self.core.token(name));
        let given = Given { task: waits.then_some(name), ..Given::input(&input) };
        let arguments = match &task.arguments {
            Some(arguments) => self.fill(id, arguments, given)?,
            None => input.clone(),
        };
        let credentials = match &task.credentials {
            Some(credentials) => Some(self.fill(id, credentials, given)?),
            None => None,
        };
        let timeout = self.limit(id, "TimeoutSeconds", task.timeout.as_ref(), &input)?;
        let heartbeat = self.limit(id, "HeartbeatSeconds", task.heartbeat.as_ref(), &input)?;
        self.record(id, 2);
        let now = self.now;
        let mut run = TaskRun { task: name, arguments, credentials, token, timeout: None, heartbeat: None, submitted: None };
        run.timeout = timeout.map(|limit| (self.arm(after(now, limit), Purpose::TaskTimeout(id)), limit));
        run.heartbeat = heartbeat.map(|limit| (self.arm(after(now, limit), Purpose::TaskHeartbeat(id)), limit));
        let start = start_task(state, self.frame(id), &run);
        self.out.extend(start);
        self.core.tasks.insert(name, id);
        self.frame_mut(id).doing = Doing::Task(Box::new(run));
        Ok(())
    }

    fn limit(&mut self, id: FrameId, field: &str, amount: Option<&Amount>, input: &Value) -> Result<Option<f64>, Fault> {
        let Some(amount) = amount else { return Ok(None) };
        let value = self.amount(id, amount, field, input)?;
        seconds(field, &value).map(Some)
    }

    pub(crate) fn task_submitted(&mut self, task: TaskId, output: Value) -> bool {
        let Some(id) = self.core.tasks.get(&task).copied() else { return false };
        let Doing::Task(run) = &mut self.frame_mut(id).doing else { return false };
        if run.submitted.is_some() {
            return false;
        }
        run.submitted = Some(output);
        self.record(id, 1);
        true
    }

    pub(crate) fn task_succeeded(&mut self, task: TaskId, output: Value) -> bool {
        let Some((id, run)) = self.take_task(task) else { return false };
        self.disarm_limits(&run, None);
        if size::exceeds(&output, self.core.start.limits.payload) {
            let failure = too_large(&self.resource_of(id));
            self.fail(id, failure);
            return true;
        }
        self.record(id, 1);
        if let Err(fault) = self.complete(id, output) {
            self.fault(id, fault);
        }
        true
    }

    pub(crate) fn task_failed(&mut self, task: TaskId, failure: Failure) -> bool {
        let Some((id, run)) = self.take_task(task) else { return false };
        self.disarm_limits(&run, None);
        self.record(id, 1);
        self.fail(id, failure);
        true
    }

    /// The resource of a task is not there: nothing catches that.
    pub(crate) fn task_refused(&mut self, task: TaskId, cause: &str) -> bool {
        let Some((id, run)) = self.take_task(task) else { return false };
        self.disarm_limits(&run, None);
        self.fault(id, Fault::runtime(cause));
        true
    }

    pub(crate) fn task_heartbeat(&mut self, task: TaskId) -> bool {
        let Some(id) = self.core.tasks.get(&task).copied() else { return false };
        let Doing::Task(run) = &self.frame(id).doing else { return false };
        let Some((timer, limit)) = run.heartbeat else { return true };
        self.disarm(timer);
        let timer = self.arm(after(self.now, limit), Purpose::TaskHeartbeat(id));
        if let Doing::Task(run) = &mut self.frame_mut(id).doing {
            run.heartbeat = Some((timer, limit));
        }
        true
    }

    /// A limit of a task has passed; `fired` is the timer that told so.
    pub(crate) fn task_timed_out(&mut self, id: FrameId, fired: TimerId, error: &str) {
        let Doing::Task(run) = &self.frame(id).doing else { return };
        let task = run.task;
        let Some((id, run)) = self.take_task(task) else { return };
        self.disarm_limits(&run, Some(fired));
        self.out.push(Command::StopTask { task });
        self.record(id, 1);
        let error = if error == names::HEARTBEAT_TIMEOUT { names::TIMEOUT } else { error };
        self.fail(id, Failure::named(error));
    }

    /// The result of a running task is not wanted any more.
    pub(crate) fn stop_task(&mut self, run: &TaskRun) {
        self.core.tasks.remove(&run.task);
        self.out.push(Command::StopTask { task: run.task });
        self.disarm_limits(run, None);
    }

    fn take_task(&mut self, task: TaskId) -> Option<(FrameId, Box<TaskRun>)> {
        let id = self.core.tasks.remove(&task)?;
        match std::mem::replace(&mut self.frame_mut(id).doing, Doing::Working) {
            Doing::Task(run) => Some((id, run)),
            Doing::Working | Doing::Waiting { .. } | Doing::Retrying { .. } | Doing::Parallel(_) | Doing::Map(_) => None,
        }
    }

    fn disarm_limits(&mut self, run: &TaskRun, fired: Option<TimerId>) {
        for (timer, _) in [run.timeout, run.heartbeat].into_iter().flatten() {
            if Some(timer) != fired {
                self.disarm(timer);
            }
        }
    }

    fn resource_of(&self, id: FrameId) -> String {
        match &self.state_of(id).kind {
            crate::definition::Kind::Task(task) => task.resource.text.to_string(),
            _ => String::new(),
        }
    }
}
