//! The environment of a unit: an allow-list, nothing else.

use std::collections::BTreeMap;

use model::{Assignment, Digest, ExecutionId, Timestamp};
use ports::Secret;

/// Variables that every unit gets from the caller, where they are set there.
pub const ALWAYS: [&str; 5] = ["PATH", "HOME", "LANG", "LC_ALL", "TZ"];

/// What the worker itself adds.
pub(crate) struct Additions<'a> {
    /// The folder for artifacts.
    pub(crate) out: &'a str,
    /// The folder for temporary files.
    pub(crate) tmp: &'a str,
    /// When the time limit ends, where there is one.
    pub(crate) deadline: Option<Timestamp>,
}

/// The whole environment of the program. What is set later in this list wins: the caller's allow-list, the temporary folder, the unit's
/// own variables, its secrets, and last the variables of the contract, which no unit can change.
pub(crate) fn compose(
    assignment: &Assignment,
    passed: &BTreeMap<String, String>,
    secrets: &[(String, Secret)],
    additions: &Additions<'_>,
) -> BTreeMap<String, String> {
    let mut environment = BTreeMap::new();
    let mut set = |name: &str, value: &str| drop(environment.insert(name.to_owned(), value.to_owned()));
    for name in ALWAYS.into_iter().chain(assignment.pass_environment.iter().map(String::as_str)) {
        if let Some(value) = passed.get(name) {
            set(name, value);
        }
    }
    set("TMPDIR", additions.tmp);
    assignment.environment.iter().for_each(|(name, value)| set(name, value));
    secrets.iter().for_each(|(name, secret)| set(name, secret.expose()));
    set("MUSTER_OUT", additions.out);
    set("MUSTER_LOCATION", &assignment.location);
    if let Some(deadline) = additions.deadline {
        set("MUSTER_DEADLINE", &deadline.to_string());
    }
    set("TRACEPARENT", &traceparent(assignment.execution, assignment.attempt));
    environment
}

/// A name or value that no environment can hold.
pub(crate) fn fault(environment: &BTreeMap<String, String>) -> Option<String> {
    environment.iter().find_map(|(name, value)| {
        if name.is_empty() || name.contains(['=', '\0']) {
            Some(format!("`{}` is no name for a variable", name.escape_debug()))
        } else if value.contains('\0') {
            Some(format!("the variable {name} holds a NUL byte, which no program can receive"))
        } else {
            None
        }
    })
}

/// The trace context of an attempt: all of a run is one trace, each attempt a span of it. Derived, so that anybody can compute it.
pub(crate) fn traceparent(execution: ExecutionId, attempt: u32) -> String {
    let trace = Digest::of(execution.run.to_string().as_bytes()).bits();
    let span = Digest::of(format!("{execution}-{attempt}").as_bytes()).bits() >> 64;
    format!("00-{trace:032x}-{span:016x}-01")
}
