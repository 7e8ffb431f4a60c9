//! Definitions that the service accepted or refused, and what linters say of others.

use asl::{Machine, Workflow};
use serde_json::Value as Json;

use crate::Verdict;
use crate::replayed::with_activity;

/// Whether the definition is taken or refused as it was by the one whose verdict it is.
pub(crate) fn verdict(case: &Json) -> Verdict {
    if case["kind"] != "definition" {
        return Verdict::Skipped("no definition".to_owned());
    }
    let text = match case["definition_text"].as_str() {
        Some(text) => text.to_owned(),
        None => with_activity(&case["definition"]),
    };
    let expected = case["expected"]["valid"].as_bool().unwrap();
    let workflow = if case["state_machine_type"] == "EXPRESS" { Workflow::Express } else { Workflow::Standard };
    match (Machine::parse_for(&text, workflow), expected) {
        (Ok(_), true) | (Err(_), false) => Verdict::Passed,
        (Ok(_), false) => Verdict::Failed(format!("taken, but refused there: {}\n    {text}", case["expected"])),
        (Err(problems), true) => {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            Verdict::Failed(format!("refused, but taken there: {}", problems.join("; ")))
        }
    }
}

/// Whether a verdict is the service's own.
pub(crate) fn is_of_the_service(case: &Json) -> bool {
    case["authority"].as_str().is_some_and(|authority| authority.starts_with("AWS (recorded"))
}
