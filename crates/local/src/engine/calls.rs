//! What a state machine calls, and who answers in the embedded home: `lambda:invoke` is a step of `app`, `ecs:runTask` is the launcher,
//! `s3:getObject` is the object store.

use std::sync::Arc;

use asl::{Event, Pattern, ReadId, Resource, Target, TaskId};
use model::{ExecutionId, ObjectKey, Scope};
use ports::{LaunchError, ObjectError, Step, StepError};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{Launched, Shared, Waiter, lock};

/// A task to carry out.
pub(super) struct Call {
    pub task: TaskId,
    pub resource: Resource,
    pub arguments: asl::Value,
    pub token: Option<Arc<str>>,
    pub events: mpsc::UnboundedSender<Event>,
}

impl Call {
    /// Carries the task out; its end comes as an event.
    pub(super) fn spawn(self, shared: Arc<Shared>) {
        tokio::spawn(async move {
            let waiter = Waiter { task: self.task, events: self.events.clone() };
            let arguments = Value::from(&self.arguments);
            let answer = match self.service() {
                Some(("lambda", "invoke")) => self.invoke(&shared, &waiter, arguments).await,
                Some(("ecs", "runTask")) => launch(&shared, &waiter, &arguments).await,
                Some(_) | None => Err(unknown(&self.resource)),
            };
            match answer {
                Ok(Some(output)) => waiter.tell(Event::TaskSucceeded { task: self.task, output: output.into() }),
                // The answer comes later: by the token, or by the end of the attempt.
                Ok(None) => {}
                Err(failure) => waiter.tell(failed(self.task, &failure)),
            }
        });
    }

    fn service(&self) -> Option<(&str, &str)> {
        match &self.resource.target {
            Target::Integration { service, action } => Some((service, action)),
            Target::Function | Target::Activity => None,
        }
    }

    async fn invoke(&self, shared: &Shared, waiter: &Waiter, mut arguments: Value) -> Result<Option<Value>, StepError> {
        let step = arguments.get("FunctionName").and_then(Value::as_str).and_then(Step::named);
        let Some(step) = step else {
            return Err(failure("Lambda.ResourceNotFoundException", format!("no function {}", arguments["FunctionName"])));
        };
        let payload = arguments.get_mut("Payload").map(Value::take).unwrap_or(Value::Null);
        let waits = self.resource.pattern == Pattern::WaitForTaskToken;
        if let Some(token) = self.token.as_ref().filter(|_| waits) {
            lock(&shared.tokens).insert(Arc::clone(token), waiter.clone());
        }
        let answer = shared.steps.call(step, payload).await?;
        Ok((!waits).then(|| json!({ "Payload": answer, "StatusCode": 200 })))
    }
}

/// Launches the attempt that the assignment reference names; its end is told by a report.
async fn launch(shared: &Shared, waiter: &Waiter, arguments: &Value) -> Result<Option<Value>, StepError> {
    let (scope, execution, attempt) = reference(arguments)?;
    let assignment = shared.steps.assignment(&scope, execution, attempt).await?;
    let launched = Launched { scope, waiter: waiter.clone() };
    lock(&shared.launched).insert((execution, attempt), launched);
    match shared.launcher.start(&assignment).await {
        Ok(()) => Ok(None),
        Err(error) => {
            lock(&shared.launched).remove(&(execution, attempt));
            Err(refused(error))
        }
    }
}

/// The variable of the worker's container that names its assignment: scope, execution, attempt.
const ASSIGNMENT: &str = "MUSTER_ASSIGNMENT";

fn reference(arguments: &Value) -> Result<(Scope, ExecutionId, u32), StepError> {
    let variables = arguments.pointer("/Overrides/ContainerOverrides/0/Environment").and_then(Value::as_array);
    let variable = variables.into_iter().flatten().find(|variable| variable["Name"] == ASSIGNMENT);
    let text = variable.and_then(|variable| variable["Value"].as_str()).unwrap_or_default();
    let parse = || {
        let mut parts = text.split(' ');
        let parsed = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        parts.next().is_none().then_some(parsed)
    };
    parse().ok_or_else(|| {
        failure("ECS.InvalidParameterException", format!("`{text}` in {ASSIGNMENT} is not scope, execution and attempt"))
    })
}

fn refused(error: LaunchError) -> StepError {
    let cause = error.to_string();
    match error {
        LaunchError::Capacity => failure("Muster.Capacity", cause),
        LaunchError::Throttled => failure("ECS.ThrottlingException", cause),
        LaunchError::Refused(_) => failure("Muster.Refused", cause),
        LaunchError::Unavailable(source) => failure("ECS.ServerException", format!("{cause}: {source}")),
    }
}

/// Reads items of the list that the machine names.
pub(super) async fn read_items(
    shared: Arc<Shared>,
    events: mpsc::UnboundedSender<Event>,
    read: ReadId,
    arguments: asl::Value,
    from: u64,
    at_most: u64,
) {
    let event = match items(&shared, &arguments, from, at_most).await {
        Ok((items, more)) => Event::ItemsRead { read, items, more },
        Err(cause) => Event::ItemsFailed { read, error: None, cause: Some(cause.into()) },
    };
    // An execution that has ended meanwhile needs no items.
    let _ = events.send(event);
}

async fn items(shared: &Shared, arguments: &asl::Value, from: u64, at_most: u64) -> Result<(Vec<asl::Value>, bool), String> {
    let key = arguments.get("Key").and_then(asl::Value::as_str).unwrap_or_default();
    let key: ObjectKey = key.parse().map_err(|error: model::BadObjectKey| error.to_string())?;
    let content = shared.objects.get(&key).await.map_err(|error: ObjectError| error.to_string())?;
    let (from, at_most) = (usize::try_from(from).unwrap_or(usize::MAX), usize::try_from(at_most).unwrap_or(usize::MAX));
    let mut lines = content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).skip(from);
    let items: Result<Vec<asl::Value>, _> = lines.by_ref().take(at_most).map(serde_json::from_slice).collect();
    let items = items.map_err(|error| format!("{key} is not JSON Lines: {error}"))?;
    Ok((items, lines.next().is_some()))
}

fn unknown(resource: &Resource) -> StepError {
    failure("States.Runtime", format!("the embedded home has nothing that answers to {}", resource.text))
}

fn failure(error: &str, cause: String) -> StepError {
    StepError { error: error.to_owned(), cause }
}

/// The event of a task that failed.
pub(super) fn failed(task: TaskId, failure: &StepError) -> Event {
    Event::TaskFailed { task, error: Some(failure.error.as_str().into()), cause: Some(failure.cause.as_str().into()) }
}
