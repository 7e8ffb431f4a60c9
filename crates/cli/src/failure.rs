//! Why a command was not done, and how that is written.

use app::Fault;
use model::Kind;
use serde_json::{Value, json};

use crate::{exit::Exit, output::Format, paint::Paint, yaml};

/// A fault, with its problems as a person reads them.
#[derive(Debug)]
pub(crate) struct Failure {
    pub fault: Box<Fault>,
    /// Each problem with its line of text.
    pub explained: Vec<String>,
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        let place = |problem: &model::Problem| match problem.file.as_str() {
            // The folder itself.
            "" => format!("{} {}", problem.code, problem.message),
            file => format!("{file}:{}:{}: {} {}", problem.line, problem.column, problem.code, problem.message),
        };
        Failure { explained: fault.problems.iter().map(place).collect(), fault: Box::new(fault) }
    }
}

impl Failure {
    pub(crate) fn new(kind: Kind, code: &str, message: impl Into<String>) -> Failure {
        Fault::new(kind, code, message).into()
    }

    pub(crate) fn exit(&self) -> Exit {
        Exit::of(self.fault.kind)
    }

    fn data(&self) -> Value {
        let mut fault = json!(self.fault);
        fault["exit"] = json!(self.exit().code());
        json!({ "error": fault })
    }

    /// The text for stderr.
    pub(crate) fn write(&self, format: Format, color: bool) -> String {
        match format {
            Format::Table | Format::Wide => self.text(color),
            Format::Json => format!("{:#}\n", self.data()),
            Format::Jsonl => format!("{}\n", self.data()),
            Format::Yaml => yaml::write(&self.data()),
        }
    }

    fn text(&self, color: bool) -> String {
        let mut text = String::new();
        for problem in &self.explained {
            text.push_str(problem);
            text.push_str("\n\n");
        }
        let Fault { code, message, hint, .. } = self.fault.as_ref();
        for line in message.lines() {
            let error = Paint::Bad.bold("error:", color);
            text.push_str(&format!("{error} {line} [{code}]\n"));
        }
        if let Some(hint) = hint {
            let label = Paint::Name.on("hint:", color);
            text.push_str(&format!("  {label} {hint}\n"));
        }
        text
    }
}

/// An error and its causes, joined by colons.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
