//! Running a recorded execution again: its tasks answer as they were recorded to.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use asl::{
    Command, Event, Execution, Failure, ItemFile, Machine, ReaderConfig, Resource, Start, Status, Target, TaskId, TimerId, Value,
    Workflow,
};
use jiff::Timestamp;
use serde_json::Value as Json;

use crate::Verdict;
use crate::compare::{agrees, opened};

/// Steps after which a case is taken to run for ever.
const MOST_EVENTS: usize = 100_000;

/// The text of a definition; the recorder replaced the ARN of the activity by a word.
pub(crate) fn with_activity(definition: &Json) -> String {
    const ACTIVITY: &str = r#""Resource":"arn:aws:states:us-east-1:111111111111:activity:activity_arn""#;
    definition.to_string().replace(r#""Resource":"activity_arn""#, ACTIVITY)
}

pub(crate) fn verdict(case: &Json) -> Verdict {
    let definition = with_activity(&case["definition"]);
    let machine = match Machine::parse(&definition) {
        Ok(machine) => machine,
        Err(problems) => {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            return Verdict::Failed(format!("refused: {}", problems.join("; ")));
        }
    };
    let mut replay = Replay::new(case, Arc::new(machine));
    match replay.run() {
        Ok(()) => match replay.wrong_call.take() {
            Some(why) => Verdict::Failed(why),
            None => compare(case, &shown(replay.execution.status())),
        },
        Err(why) => Verdict::Skipped(why),
    }
}

/// Compares what an execution or a state came to with what was recorded of it.
pub(crate) fn compare(case: &Json, got: &Json) -> Verdict {
    let words = words(case);
    let expected = &case["expected"];
    for field in ["status", "output", "error", "cause", "nextState"] {
        let same = match (expected.get(field), got.get(field)) {
            (Some(recorded), Some(got)) => agrees(&opened(recorded.clone()), got, &words),
            (None, None) => true,
            _ => false,
        };
        if !same {
            return Verdict::Failed(format!("{field}\n    recorded {expected}\n    got      {got}"));
        }
    }
    Verdict::Passed
}

/// The words that stand for unknown values.
fn words(case: &Json) -> Vec<String> {
    case["wildcards"].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// A status in the form of the recordings.
fn shown(status: &Status) -> Json {
    let failure = |status: &str, failure: &Failure| {
        let mut shown = serde_json::to_value(failure).unwrap();
        shown["status"] = Json::from(status);
        shown
    };
    match status {
        Status::Running => serde_json::json!({"status": "RUNNING"}),
        Status::Succeeded { output } => {
            serde_json::json!({"status": "SUCCEEDED", "output": opened(output.into())})
        }
        Status::Failed(why) => failure("FAILED", why),
        Status::TimedOut => serde_json::json!({"status": "TIMED_OUT"}),
        Status::Aborted(why) => failure("ABORTED", why),
    }
}

struct Replay<'c> {
    case: &'c Json,
    execution: Execution,
    now: Timestamp,
    commands: VecDeque<Command>,
    timers: BTreeSet<(Timestamp, TimerId)>,
    /// What the tasks were recorded to answer, as far as they did not yet.
    answers: Vec<&'c Json>,
    files: HashMap<(String, String), ItemFile>,
    words: Vec<String>,
    /// A call that is not as it was recorded.
    wrong_call: Option<String>,
    events: usize,
}

impl<'c> Replay<'c> {
    fn new(case: &'c Json, machine: Arc<Machine>) -> Replay<'c> {
        let answers = case["mocks"].as_array().unwrap().iter().collect();
        let now: Timestamp = "2024-05-06T12:00:00Z".parse().unwrap();
        let mut start = Start::new("arn:aws:states:us-east-1:111111111111:execution:machine:name", Value::Null, now, 1);
        let (kind, role) = match case["state_machine_type"].as_str() {
            Some("EXPRESS") => (Workflow::Express, "sfn_role_arn"),
            _ => (Workflow::Standard, "snf_role_arn"),
        };
        if kind == Workflow::Express {
            start.id = Arc::from("arn:aws:states:us-east-1:111111111111:express:machine:name:part");
        }
        start.kind = kind;
        start.role = Some(Arc::from(role));
        start.machine_id = Arc::from("arn:aws:states:us-east-1:111111111111:stateMachine:machine");
        start.input = Value::from(case["input"].clone());
        let mut commands = Vec::new();
        let execution = Execution::start(machine, start, &mut commands);
        Replay {
            case,
            execution,
            now,
            commands: commands.into(),
            timers: BTreeSet::new(),
            answers,
            files: HashMap::new(),
            words: words(case),
            wrong_call: None,
            events: 0,
        }
    }

    fn run(&mut self) -> Result<(), String> {
        if self.case["expected"]["status"] == "ABORTED" {
            self.tell(Event::Stop { error: None, cause: None });
        }
        while *self.execution.status() == Status::Running {
            if self.events > MOST_EVENTS {
                return Err("no end".to_owned());
            }
            if let Some(command) = self.commands.pop_front() {
                self.obey(command)?;
            } else if let Some((at, timer)) = self.timers.pop_first() {
                self.now = self.now.max(at);
                self.tell(Event::TimerFired { timer });
            } else {
                return Ok(());
            }
        }
        Ok(())
    }

    fn tell(&mut self, event: Event) {
        let mut out = Vec::new();
        self.events += 1;
        self.execution.apply(event, self.now, &mut out);
        self.commands.extend(out);
    }

    fn obey(&mut self, command: Command) -> Result<(), String> {
        match command {
            Command::StartTask { task, state, resource, arguments, .. } => self.answer(task, &state, &resource, &arguments)?,
            Command::StartTimer { timer, at } => drop(self.timers.insert((at, timer))),
            Command::CancelTimer { timer } => self.timers.retain(|(_, armed)| *armed != timer),
            Command::ReadItems { read, arguments, config, at_most, .. } => {
                let event = match self.read(&arguments, &config, at_most) {
                    Ok(items) => {
                        let more = items.len() as u64 == at_most;
                        Event::ItemsRead { read, items, more }
                    }
                    Err(failure) => Event::ItemsFailed { read, error: failure.error, cause: failure.cause },
                };
                self.tell(event);
            }
            Command::WriteResults { write, .. } => self.tell(Event::ResultsWritten { write, output: Value::Null }),
            Command::StopTask { .. } | Command::Finished(_) => {}
        }
        Ok(())
    }

    /// The recorded answer to a call: by the state and what it was called with, else by the state alone; some were
    /// recorded in an order that tells nothing, and are found by what they were called with.
    fn recorded(&mut self, state: &str, arguments: &Json) -> Option<&'c Json> {
        let by_state = |answer: &&Json| answer["state"] == state;
        let by_call = |answer: &&Json| {
            let called = answer.get("parameters").or(answer.get("input")).unwrap_or(&Json::Null);
            agrees(called, arguments, &self.words)
        };
        let at = self.answers.iter().position(|answer| by_state(answer) && by_call(answer));
        let unordered = |answer: &&Json| answer.get("pairing").is_some() && by_call(answer);
        let at = at.or_else(|| self.answers.iter().position(unordered));
        if at.is_none() {
            let other = self.answers.iter().position(by_state);
            if let Some(other) = other {
                self.wrong_call = Some(format!("a call\n    recorded {}\n    got      {arguments}", self.answers[other]));
            }
            return other.map(|at| self.answers.remove(at));
        }
        at.map(|at| self.answers.remove(at))
    }

    fn answer(&mut self, task: TaskId, state: &str, resource: &Resource, arguments: &Value) -> Result<(), String> {
        let Some(answer) = self.recorded(state, &arguments.into()) else {
            if resource.target == Target::Activity {
                let cause = Arc::from("The activity activity_arn does not exist.");
                self.tell(Event::TaskRefused { task, cause });
            } else if self.case["mocks_complete"] == false {
                return Err(format!("the answer to a task of `{state}` was not recorded"));
            }
            return Ok(());
        };
        if let Some(output) = answer.get("submitted").filter(|output| !output.is_null()) {
            self.tell(Event::TaskSubmitted { task, output: Value::from(output.clone()) });
        }
        let text = |field: &str| answer.get(field).and_then(Json::as_str).map(Arc::from);
        match answer["outcome"].as_str().unwrap() {
            "succeed" => self.tell(Event::TaskSucceeded { task, output: Value::from(answer["output"].clone()) }),
            "fail" => {
                let cause = match answer.get("cause") {
                    Some(Json::String(text)) => Some(Arc::from(text.as_str())),
                    Some(Json::Null) | None => None,
                    Some(json) => Some(Arc::from(json.to_string())),
                };
                self.tell(Event::TaskFailed { task, error: text("error"), cause });
            }
            _ => {}
        }
        Ok(())
    }

    fn read(&mut self, arguments: &Value, config: &ReaderConfig, at_most: u64) -> Result<Vec<Value>, Failure> {
        let field = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let place = (field("Bucket"), field("Key"));
        if !self.files.contains_key(&place) {
            let objects = self.case["s3_objects"].as_array().cloned().unwrap_or_default();
            let object = objects.iter().find(|object| object["bucket"] == place.0.as_str() && object["key"] == place.1.as_str());
            let object = object.ok_or_else(|| Failure::new("States.ItemReaderFailed", "no such key"))?;
            let file = ItemFile::open(config, object["body"].as_str().unwrap().as_bytes().to_vec())?;
            self.files.insert(place.clone(), file);
        }
        let file = self.files.get_mut(&place).unwrap();
        file.take(usize::try_from(at_most).unwrap()).collect()
    }
}
