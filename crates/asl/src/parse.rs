//! Reading a definition: from text to tables, with every problem found on the way.

mod choice;
mod fields;
mod handlers;
mod iteration;
mod state;

use std::collections::HashMap;
use std::sync::Arc;

use crate::definition::{Language, Machine, State, StateId};
use crate::execution::Workflow;
use crate::problem::{Code, Problem, locate};
use crate::template::escape;
use crate::{Map, Value};

use fields::Fields;

/// Reads a machine that is to run as a workflow of a type.
pub(crate) fn machine(text: &str, workflow: Workflow) -> Result<Machine, Vec<Problem>> {
    let value = json(text)?;
    let mut parser = Parser { workflow, ..Parser::default() };
    let machine = parser.machine(&value);
    parser.finish(machine, text)
}

/// Reads one state, whose transitions may lead anywhere.
pub(crate) fn single(text: &str, name: &str) -> Result<Machine, Vec<Problem>> {
    let value = json(text)?;
    let mut parser = Parser::default();
    let machine = parser.single(&value, name);
    parser.finish(machine, text)
}

fn json(text: &str) -> Result<Value, Vec<Problem>> {
    Value::parse(text).map_err(|error| vec![not_json(&error)])
}

fn not_json(error: &serde_json::Error) -> Problem {
    Problem {
        code: Code::InvalidJson,
        pointer: String::new(),
        line: error.line(),
        column: error.column(),
        message: format!("the text is not JSON: {error}"),
    }
}

#[derive(Default)]
struct Parser {
    found: Vec<Found>,
    /// Empty while the state is still to be read.
    states: Vec<Option<State>>,
    names: HashMap<Arc<str>, StateId>,
    workflow: Workflow,
}

struct Found {
    code: Code,
    pointer: String,
    message: String,
}

/// The states that transitions of one machine, branch or processor can name, and which of them were named.
struct Siblings {
    language: Language,
    ids: HashMap<Arc<str>, StateId>,
    named: Vec<StateId>,
    /// Whether a transition to a state that is not there makes one, instead of being a problem.
    open: bool,
}

impl Parser {
    fn report(&mut self, code: Code, pointer: impl Into<String>, message: impl Into<String>) {
        self.found.push(Found { code, pointer: pointer.into(), message: message.into() });
    }

    fn invalid(&mut self, pointer: impl Into<String>, message: impl Into<String>) {
        self.report(Code::SchemaValidationFailed, pointer, message);
    }

    fn finish(self, machine: Option<Machine>, text: &str) -> Result<Machine, Vec<Problem>> {
        match machine {
            Some(machine) if self.found.is_empty() => Ok(machine),
            _ => Err(self.problems(text)),
        }
    }

    fn problems(self, text: &str) -> Vec<Problem> {
        let place = |found: Found| {
            let (line, column) = locate(text, &found.pointer);
            Problem { code: found.code, pointer: found.pointer, line, column, message: found.message }
        };
        let mut problems: Vec<Problem> = self.found.into_iter().map(place).collect();
        problems.sort_by_key(|problem| (problem.line, problem.column));
        problems
    }

    fn machine(&mut self, value: &Value) -> Option<Machine> {
        let Some(object) = value.as_object() else {
            self.invalid("", "a definition is an object");
            return None;
        };
        let fields = Fields::new(object, "");
        fields.only(self, &["Comment", "StartAt", "States", "Version", "TimeoutSeconds", "QueryLanguage"]);
        let language = fields.language(self, Language::JsonPath);
        let timeout = fields.whole_number(self, "TimeoutSeconds", 1..=99_999_999);
        if let Some(version) = fields.text(self, "Version")
            && &*version != "1.0"
        {
            self.invalid("/Version", format!("the version of the language is `1.0`, not `{version}`"));
        }
        let start = self.scope(&fields, language)?;
        let states: Option<Vec<State>> = std::mem::take(&mut self.states).into_iter().collect();
        Some(Machine { start, states: states?, timeout })
    }

    fn single(&mut self, value: &Value, name: &str) -> Option<Machine> {
        let name = Arc::from(name);
        let start = self.reserve(&name, "");
        let mut siblings = Siblings { language: Language::JsonPath, ids: HashMap::new(), named: Vec::new(), open: true };
        let state = state::read(self, &name, value, "", &mut siblings)?;
        self.states[start.0 as usize] = Some(state);
        let states: Option<Vec<State>> = std::mem::take(&mut self.states).into_iter().collect();
        Some(Machine { start, states: states?, timeout: None })
    }

    /// Reads `StartAt` and `States` of a machine, a branch or an item processor.
    fn scope(&mut self, fields: &Fields<'_>, language: Language) -> Option<StateId> {
        let start = fields.required_text(self, "StartAt");
        let states = fields.required_object(self, "States")?;
        if states.is_empty() {
            self.invalid(fields.pointer("States"), "there has to be a state");
            return None;
        }
        let mut siblings = Siblings { language, ids: HashMap::new(), named: Vec::new(), open: false };
        for (name, _) in states.iter() {
            let id = self.reserve(name, &format!("{}/{}", fields.pointer("States"), escape(name)));
            siblings.ids.insert(Arc::clone(name), id);
        }
        for (name, state) in states.iter() {
            let at = format!("{}/{}", fields.pointer("States"), escape(name));
            let read = state::read(self, name, state, &at, &mut siblings);
            let id = siblings.ids[&**name];
            self.states[id.0 as usize] = read;
        }
        let start = self.target(start.as_deref()?, fields.pointer("StartAt"), &mut siblings);
        self.report_unreachable(states, fields, &siblings);
        start
    }

    fn reserve(&mut self, name: &Arc<str>, at: &str) -> StateId {
        let id = StateId(u32::try_from(self.states.len()).expect("a text holds fewer than four billion states"));
        self.states.push(None);
        if self.names.insert(Arc::clone(name), id).is_some() {
            self.report(Code::DuplicateStateName, at, format!("another state is named `{name}` too"));
        }
        if name.is_empty() || name.chars().count() > 80 {
            self.invalid(at, "the name of a state has 1 to 80 characters");
        }
        id
    }

    /// The state that a transition names.
    fn target(&mut self, name: &str, pointer: String, siblings: &mut Siblings) -> Option<StateId> {
        if let Some(id) = siblings.ids.get(name) {
            siblings.named.push(*id);
            return Some(*id);
        }
        if siblings.open {
            let name = Arc::from(name);
            let id = self.reserve(&name, "");
            self.states[id.0 as usize] = Some(State::end(&name));
            siblings.ids.insert(name, id);
            return Some(id);
        }
        self.report(Code::MissingTransitionTarget, pointer, format!("there is no state `{name}` here"));
        None
    }

    fn report_unreachable(&mut self, states: &Map, fields: &Fields<'_>, siblings: &Siblings) {
        for (name, _) in states.iter() {
            if !siblings.named.contains(&siblings.ids[&**name]) {
                let at = format!("{}/{}", fields.pointer("States"), escape(name));
                self.report(Code::UnreachableState, at, format!("no transition leads to `{name}`"));
            }
        }
    }
}

#[cfg(test)]
mod tests;
