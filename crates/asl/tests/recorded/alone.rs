//! Recorded tests of single states.

use std::sync::Arc;

use asl::{Failure, Machine, Map, Mock, Start, StateOutcome, StateTest, Value, Workflow};
use serde_json::{Value as Json, json};

use crate::Verdict;
use crate::compare::opened;
use crate::replayed::compare;

pub(crate) fn verdict(case: &Json) -> Verdict {
    let text = case["definition"].to_string();
    let options = &case["test_state_options"];
    let machine = match case["definition"].get("States") {
        Some(_) => Machine::parse(&text),
        None => Machine::parse_state(&text, "StateName"),
    };
    let machine = match machine {
        Ok(machine) => machine,
        Err(problems) => {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            return Verdict::Failed(format!("refused: {}", problems.join("; ")));
        }
    };
    let id = "arn:aws:states:us-east-1:111111111111:express:machine:name";
    let mut start = Start::new(id, Value::from(case["input"].clone()), "2024-05-06T12:00:00Z".parse().unwrap(), 1);
    start.kind = Workflow::Express;
    // The recorder kept all of the request but its role; what came back tells whether there was one.
    let has_role = !case["expected"].to_string().contains(r#""RoleArn":null"#);
    start.role = has_role.then(|| Arc::from("arn:aws:iam::111111111111:role/role"));
    start.machine_id = Arc::from("arn:aws:states:us-east-1:111111111111:stateMachine:machine");
    match shown(machine.test_state(start, test(options))) {
        Some(got) => compare(case, &got),
        None => Verdict::Skipped("the answer to the call was not recorded".to_owned()),
    }
}

fn test(options: &Json) -> StateTest {
    let text = |value: &Json| value.as_str().map(|text| Value::parse(text).unwrap());
    let state = |name: &str| options.get("stateConfiguration").and_then(|state| state.get(name));
    let failure = options["mock"].get("errorOutput").map(|output| {
        let field = |name: &str| output.get(name).and_then(Json::as_str).map(Arc::from);
        Mock::Failure(Failure { error: field("error"), cause: field("cause") })
    });
    let list = |value: &Json| text(value).and_then(|value| value.as_array().map(<[Value]>::to_vec));
    StateTest {
        state: options["stateName"].as_str().map(Arc::from),
        variables: text(&options["variables"]).and_then(|value| value.as_object().cloned()).unwrap_or_else(Map::new),
        context: text(&options["context"]),
        mock: text(&options["mock"]["result"]).map(Mock::Result).or(failure),
        retries: state("retrierRetryCount").and_then(Json::as_u64).map_or(0, |count| u32::try_from(count).unwrap()),
        items: state("mapItemReaderData").and_then(list),
        failed_items: state("mapIterationFailureCount").and_then(Json::as_u64).unwrap_or(0),
    }
}

/// An outcome in the form of the recordings.
fn shown(outcome: StateOutcome) -> Option<Json> {
    let with = |failure: Failure, status: &str| {
        let mut shown = serde_json::to_value(failure).unwrap();
        shown["status"] = Json::from(status);
        shown
    };
    let output = |output: &Value| opened(output.into());
    Some(match outcome {
        StateOutcome::Succeeded { output: value, next: None } => json!({"status": "SUCCEEDED", "output": output(&value)}),
        StateOutcome::Succeeded { output: value, next: Some(next) } => {
            json!({"status": "SUCCEEDED", "output": output(&value), "nextState": *next})
        }
        StateOutcome::Retriable(failure) => with(failure, "RETRIABLE"),
        StateOutcome::Failed(failure) => with(failure, "FAILED"),
        StateOutcome::Caught { failure, output: value, next } => {
            let mut shown = with(failure, "CAUGHT_ERROR");
            shown["output"] = output(&value);
            shown["nextState"] = Json::from(&*next);
            shown
        }
        StateOutcome::NeedsMock => return None,
    })
}
