//! JSONata expressions: `{% … %}`.
//!
//! The language itself is the work of another crate; this module is the only one that knows it. It lends an
//! expression the variables it names and those parts of `$states` that it names, adds the functions that the states
//! language adds, makes everything random or dated follow from the seed and the event, and sets limits.

mod convert;
mod functions;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use jsonata_core::ast::AstNode;
use jsonata_core::evaluator::{Context, Evaluator, EvaluatorOptions};
use jsonata_core::parser;
use jsonata_core::value::JValue;

use crate::fault::Fault;
use crate::random::Random;
use crate::template::Scope;
use crate::{Map, Value};

/// How deep evaluations may nest.
const DEEPEST: usize = 5_000;
/// How many items a sequence may have.
const LONGEST: usize = 1_000_000;
/// How long an evaluation may take, in milliseconds: a stop for endless loops, far from what an honest one needs.
const SLOWEST: u64 = 10_000;
/// Most bytes of source that are read.
const LARGEST_SOURCE: usize = 65_536;
/// How deep brackets may nest in the source.
const DEEPEST_SOURCE: usize = 200;

/// An expression, read once, with the field that it stands in.
#[derive(Clone)]
pub(crate) struct Expression {
    source: Arc<str>,
    field: Arc<str>,
    tree: Arc<AstNode>,
    uses: Uses,
}

/// What of its surroundings an expression names.
#[derive(Clone, Debug, Default)]
struct Uses {
    input: bool,
    context: bool,
    result: bool,
    error_output: bool,
    variables: Vec<Arc<str>>,
}

impl std::fmt::Debug for Expression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{{% {} %}}", self.source)
    }
}

impl Expression {
    /// The expression inside a text that is wholly `{% … %}`.
    pub(crate) fn delimited(text: &str) -> Option<&str> {
        text.strip_prefix("{%")?.strip_suffix("%}").map(str::trim)
    }

    /// Reads an expression; the error is the reason why it cannot be read.
    pub(crate) fn parse(source: &str, field: &str) -> Result<Expression, String> {
        if source.len() > LARGEST_SOURCE || nesting(source) > DEEPEST_SOURCE {
            return Err("the JSONata expression is too long or nests too deeply".to_owned());
        }
        let tree = parser::parse(source).map_err(|error| format!("the JSONata expression cannot be read: {error}"))?;
        let uses = Uses::of(source);
        Ok(Expression { source: Arc::from(source), field: Arc::from(field), tree: Arc::new(tree), uses })
    }

    /// The value of the expression.
    pub(crate) fn evaluate(&self, scope: &mut Scope<'_>) -> Result<Value, Fault> {
        let mut context = Context::new();
        self.bind(&mut context, scope);
        let options = EvaluatorOptions {
            timeout_ms: Some(SLOWEST),
            cancel: None,
            max_stack_depth: Some(DEEPEST),
            max_sequence_length: Some(LONGEST),
        };
        let mut evaluator = Evaluator::with_options(context, options);
        let random = Rc::new(RefCell::new(Random::new(scope.random.next())));
        functions::register(&mut evaluator, &self.source, scope.now, &random);
        let result = evaluator
            .evaluate(&self.tree, &JValue::Undefined)
            .map_err(|error| self.fault(format!("threw an error during evaluation. {}", words(error.message()))))?;
        if result.is_undefined() {
            return Err(self.fault("returned nothing (undefined)."));
        }
        convert::from_jsonata(&result).ok_or_else(|| self.fault("returned an unsupported result type."))
    }

    fn bind(&self, context: &mut Context, scope: &Scope<'_>) {
        for name in &self.uses.variables {
            if let Some(value) = scope.around.variable(name) {
                context.bind(name.to_string(), convert::to_jsonata(&value));
            }
        }
        let mut states = Map::new();
        if self.uses.input {
            states.insert("input", scope.input.clone());
        }
        if self.uses.context {
            states.insert("context", scope.around.context());
        }
        if let Some(result) = scope.result.filter(|_| self.uses.result) {
            states.insert("result", result.clone());
        }
        if let Some(error) = scope.error_output.filter(|_| self.uses.error_output) {
            states.insert("errorOutput", error.clone());
        }
        context.bind("states".to_owned(), convert::to_jsonata(&Value::from(states)));
    }

    fn fault(&self, what: impl std::fmt::Display) -> Fault {
        Fault::query(format!("The JSONata expression '{}' specified for the field '{}' {what}", self.source, self.field))
    }

    /// The fault of a value that is not of the type which the field takes.
    pub(crate) fn unexpected(&self, wanted: &str, found: &Value) -> Fault {
        self.fault(format!(
            "returned an unexpected result type. Expected '{wanted}', but was '{}' for value: {found}",
            found.type_name()
        ))
    }
}

impl Uses {
    /// Reads the names after `$` in the source. A name in a text or a comment counts too: that lends too much, which
    /// does no harm.
    fn of(source: &str) -> Uses {
        let mut uses = Uses::default();
        let mut rest = source;
        while let Some(at) = rest.find('$') {
            rest = &rest[at + 1..];
            let length = rest.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(rest.len());
            let (name, after) = rest.split_at(length);
            match name {
                "" => {}
                "states" => uses.part(after),
                "eval" => uses.part(""),
                _ => uses.variables.push(Arc::from(name)),
            }
            rest = after;
        }
        uses
    }

    fn part(&mut self, after: &str) {
        let part = after.trim_start().strip_prefix('.').map(str::trim_start).unwrap_or_default();
        let length = part.find(|next: char| !next.is_alphanumeric()).unwrap_or(part.len());
        match &part[..length] {
            "input" => self.input = true,
            "context" => self.context = true,
            "result" => self.result = true,
            "errorOutput" => self.error_output = true,
            _ => {
                self.input = true;
                self.context = true;
                self.result = true;
                self.error_output = true;
            }
        }
    }
}

/// The words of an error as the reference implementation has them: without what was called.
fn words(message: &str) -> &str {
    const NO_FUNCTION: &str = "T1006: Attempted to invoke a non-function";
    if message.starts_with(NO_FUNCTION) { NO_FUNCTION } else { message }
}

/// How deep the brackets of a source nest at most.
fn nesting(source: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for next in source.bytes() {
        match next {
            b'(' | b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests;
