//! Intrinsic functions: `States.Format('…', $.a)` and its siblings.

mod functions;
mod text;

use std::sync::Arc;

pub(crate) use functions::digest;

use crate::Value;
use crate::fault::Fault;
use crate::path::{Path, Surroundings};
use crate::random::Random;
use crate::scanner::{DEEPEST, Scanner, SyntaxError};

/// A call, read once.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    text: Arc<str>,
    function: Function,
    arguments: Vec<Argument>,
}

#[derive(Clone, Debug)]
enum Argument {
    Path(Path),
    Call(Call),
    /// A quoted text: as it reads, and with its escapes still in it (a template needs them).
    Text {
        plain: Value,
        escaped: Arc<str>,
    },
    Literal(Value),
}

/// What an intrinsic function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Array,
    ArrayContains,
    ArrayGetItem,
    ArrayLength,
    ArrayPartition,
    ArrayRange,
    ArrayUnique,
    Base64Decode,
    Base64Encode,
    Format,
    Hash,
    JsonMerge,
    JsonToString,
    MathAdd,
    MathRandom,
    StringSplit,
    StringToJson,
    Uuid,
}

/// Name, function, fewest and most arguments.
const FUNCTIONS: [(&str, Function, usize, usize); 18] = [
    ("Array", Function::Array, 0, usize::MAX),
    ("ArrayContains", Function::ArrayContains, 2, 2),
    ("ArrayGetItem", Function::ArrayGetItem, 2, 2),
    ("ArrayLength", Function::ArrayLength, 1, 1),
    ("ArrayPartition", Function::ArrayPartition, 2, 2),
    ("ArrayRange", Function::ArrayRange, 3, 3),
    ("ArrayUnique", Function::ArrayUnique, 1, 1),
    ("Base64Decode", Function::Base64Decode, 1, 1),
    ("Base64Encode", Function::Base64Encode, 1, 1),
    ("Format", Function::Format, 1, usize::MAX),
    ("Hash", Function::Hash, 2, 2),
    ("JsonMerge", Function::JsonMerge, 3, 3),
    ("JsonToString", Function::JsonToString, 1, 1),
    ("MathAdd", Function::MathAdd, 2, 2),
    ("MathRandom", Function::MathRandom, 2, 3),
    ("StringSplit", Function::StringSplit, 2, 2),
    ("StringToJson", Function::StringToJson, 1, 1),
    ("UUID", Function::Uuid, 0, 0),
];

impl Call {
    /// Whether a text is meant as a call rather than as a path.
    pub(crate) fn looks_like_one(text: &str) -> bool {
        text.trim_start().starts_with("States.")
    }

    /// Reads a call that takes up the whole text.
    pub(crate) fn parse(text: &str) -> Result<Call, SyntaxError> {
        let mut scanner = Scanner::new(text);
        scanner.skip_space();
        let call = read(&mut scanner, 0)?;
        scanner.skip_space();
        if scanner.is_done() { Ok(call) } else { Err(scanner.error("the call should end here")) }
    }

    /// The result of the call. `field` is the field that the call stands in, for the words of an error.
    pub(crate) fn evaluate(
        &self,
        field: &str,
        input: &Value,
        around: &dyn Surroundings,
        random: &mut Random,
    ) -> Result<Value, Fault> {
        let mut values = Vec::with_capacity(self.arguments.len());
        for argument in &self.arguments {
            values.push(match argument {
                Argument::Path(path) => path.find(input, around).map_err(|_| Fault::path_not_found(path.text(), field, input))?,
                Argument::Call(call) => call.evaluate(field, input, around, random)?,
                Argument::Text { plain, .. } => plain.clone(),
                Argument::Literal(value) => value.clone(),
            });
        }
        let result = match (self.function, self.arguments.first()) {
            (Function::Format, Some(Argument::Text { escaped, .. })) => text::format(escaped, &values[1..]),
            _ => functions::call(self.function, &values, random),
        };
        result.map_err(|reason| Fault::intrinsic(&self.text, &reason))
    }
}

fn read(scanner: &mut Scanner<'_>, depth: usize) -> Result<Call, SyntaxError> {
    if depth > DEEPEST {
        return Err(scanner.error("the calls nest too deeply"));
    }
    let start = scanner.at();
    scanner.expect("States.")?;
    let name = scanner.take_while(|next| next.is_ascii_alphanumeric());
    let Some((_, function, fewest, most)) = FUNCTIONS.iter().find(|(known, ..)| *known == name) else {
        return Err(SyntaxError { reason: format!("there is no intrinsic function `States.{name}`"), at: start });
    };
    scanner.expect("(")?;
    let arguments = arguments(scanner, depth)?;
    if arguments.len() < *fewest || arguments.len() > *most {
        let reason = format!("`States.{name}` does not take {} arguments", arguments.len());
        return Err(SyntaxError { reason, at: start });
    }
    Ok(Call { text: Arc::from(scanner.since(start)), function: *function, arguments })
}

fn arguments(scanner: &mut Scanner<'_>, depth: usize) -> Result<Vec<Argument>, SyntaxError> {
    let mut arguments = Vec::new();
    scanner.skip_space();
    if scanner.take(")") {
        return Ok(arguments);
    }
    loop {
        scanner.skip_space();
        arguments.push(argument(scanner, depth)?);
        scanner.skip_space();
        if scanner.take(")") {
            return Ok(arguments);
        }
        scanner.expect(",")?;
    }
}

fn argument(scanner: &mut Scanner<'_>, depth: usize) -> Result<Argument, SyntaxError> {
    match scanner.peek() {
        Some('$') => Path::read(scanner).map(Argument::Path),
        Some('S') => read(scanner, depth + 1).map(Argument::Call),
        Some('\'') => {
            let start = scanner.at();
            let plain = Value::from(scanner.quoted(r"'\{}")?);
            let quoted = scanner.since(start);
            Ok(Argument::Text { plain, escaped: Arc::from(&quoted[1..quoted.len() - 1]) })
        }
        _ => {
            let start = scanner.at();
            let word = scanner.take_while(|next| next.is_ascii_alphanumeric() || "+-.".contains(next));
            match Value::parse(word) {
                Ok(literal @ (Value::Null | Value::Bool(_) | Value::Number(_))) => Ok(Argument::Literal(literal)),
                Ok(Value::String(_) | Value::Array(_) | Value::Object(_)) | Err(_) => Err(SyntaxError {
                    reason: "expected a path, a call, a text between apostrophes, a number, true, false or null".to_owned(),
                    at: start,
                }),
            }
        }
    }
}

#[cfg(test)]
mod tests;
