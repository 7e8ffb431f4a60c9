//! Reading the text of a path.

use std::sync::Arc;

use super::{Filter, Function, Path, Root, Step};
use crate::scanner::{DEEPEST, Scanner, SyntaxError};

pub(super) fn path(scanner: &mut Scanner<'_>) -> Result<Path, SyntaxError> {
    let start = scanner.at();
    let root = root(scanner)?;
    let steps = steps(scanner, 0)?;
    let definite = steps.iter().all(is_definite);
    Ok(Path { text: Arc::from(scanner.since(start)), root, steps, definite })
}

fn root(scanner: &mut Scanner<'_>) -> Result<Root, SyntaxError> {
    scanner.expect("$")?;
    if scanner.take("$") {
        return Ok(Root::Context);
    }
    let begins_name = |next: char| next.is_alphabetic() || next == '_';
    if scanner.peek().is_some_and(begins_name) {
        let name = scanner.take_while(|next| next.is_alphanumeric() || next == '_');
        return Ok(Root::Variable(Arc::from(name)));
    }
    Ok(Root::Input)
}

/// The steps after a root or an `@`; stops at the first character that cannot go on with a path.
pub(super) fn steps(scanner: &mut Scanner<'_>, depth: usize) -> Result<Vec<Step>, SyntaxError> {
    if depth > DEEPEST {
        return Err(scanner.error("the path nests too deeply"));
    }
    let mut steps = Vec::new();
    loop {
        if scanner.take("..") {
            steps.push(Step::Descend);
            if scanner.peek() != Some('[') {
                steps.push(dotted(scanner)?);
            }
        } else if scanner.take(".") {
            let step = if scanner.peek() == Some('[') { bracketed(scanner, depth)? } else { dotted(scanner)? };
            steps.push(step);
        } else if scanner.peek() == Some('[') {
            steps.push(bracketed(scanner, depth)?);
        } else {
            return Ok(steps);
        }
        if let [.., Step::Function(_), _] = steps.as_slice() {
            return Err(scanner.error("a function ends its path"));
        }
    }
}

fn dotted(scanner: &mut Scanner<'_>) -> Result<Step, SyntaxError> {
    if scanner.take("*") {
        return Ok(Step::Wildcard);
    }
    let start = scanner.at();
    let name = scanner.take_while(|next| !next.is_whitespace() && !".[](),=!<>&|?*'\"@~+{}".contains(next));
    if name.is_empty() {
        return Err(scanner.error("expected a name"));
    }
    if !scanner.take("(") {
        return Ok(Step::Name(Arc::from(name)));
    }
    scanner.skip_space();
    scanner.expect(")")?;
    function(name)
        .map(Step::Function)
        .ok_or_else(|| SyntaxError { reason: format!("`{name}()` is not a function of paths"), at: start })
}

fn function(name: &str) -> Option<Function> {
    Some(match name {
        "length" | "size" => Function::Length,
        "min" => Function::Min,
        "max" => Function::Max,
        "sum" => Function::Sum,
        "avg" => Function::Average,
        "keys" => Function::Keys,
        "first" => Function::First,
        "last" => Function::Last,
        _ => return None,
    })
}

fn bracketed(scanner: &mut Scanner<'_>, depth: usize) -> Result<Step, SyntaxError> {
    scanner.expect("[")?;
    scanner.skip_space();
    let step = match scanner.peek() {
        Some('*') => {
            scanner.take("*");
            Step::Wildcard
        }
        Some('?') => {
            scanner.take("?");
            Step::Filter(Filter::read(scanner, depth + 1)?)
        }
        Some('\'' | '"') => names(scanner)?,
        Some('(') => from_the_end(scanner)?,
        _ => numbers(scanner)?,
    };
    scanner.skip_space();
    scanner.expect("]")?;
    Ok(step)
}

fn names(scanner: &mut Scanner<'_>) -> Result<Step, SyntaxError> {
    let first = Arc::from(scanner.quoted_name()?);
    let mut names = vec![first];
    scanner.skip_space();
    while scanner.take(",") {
        scanner.skip_space();
        names.push(Arc::from(scanner.quoted_name()?));
        scanner.skip_space();
    }
    Ok(match names.as_slice() {
        [only] => Step::Name(Arc::clone(only)),
        _ => Step::Names(names),
    })
}

fn numbers(scanner: &mut Scanner<'_>) -> Result<Step, SyntaxError> {
    if scanner.take(":") {
        return slice(scanner, None);
    }
    let first = scanner.integer()?;
    scanner.skip_space();
    if scanner.take(":") {
        return slice(scanner, Some(first));
    }
    let mut indexes = vec![first];
    while scanner.take(",") {
        scanner.skip_space();
        indexes.push(scanner.integer()?);
        scanner.skip_space();
    }
    Ok(match indexes.as_slice() {
        [only] => Step::Index(*only),
        _ => Step::Indexes(indexes),
    })
}

/// `(@.length-1)`: an index counted from the end.
fn from_the_end(scanner: &mut Scanner<'_>) -> Result<Step, SyntaxError> {
    for token in ["(", "@.length", "-"] {
        scanner.skip_space();
        scanner.expect(token)?;
    }
    scanner.skip_space();
    let back = scanner.integer()?;
    scanner.skip_space();
    scanner.expect(")")?;
    if back < 1 { Err(scanner.error("the item is behind the end")) } else { Ok(Step::Index(-back)) }
}

fn slice(scanner: &mut Scanner<'_>, from: Option<i64>) -> Result<Step, SyntaxError> {
    scanner.skip_space();
    let to = if scanner.peek() == Some(']') { None } else { Some(scanner.integer()?) };
    Ok(Step::Slice { from, to })
}

fn is_definite(step: &Step) -> bool {
    match step {
        Step::Name(_) | Step::Names(_) | Step::Index(_) | Step::Function(_) => true,
        Step::Indexes(_) | Step::Slice { .. } | Step::Wildcard | Step::Descend | Step::Filter(_) => false,
    }
}
