//! Problems as a person reads them.

use std::fmt::Write as _;

use model::Problem;

use crate::{place::without_byte_order_mark, syntax::lines};

/// The longest part of a source line that is shown, in characters.
const WIDEST: usize = 120;

/// `problem` with its line of `source` and a caret below its place, in plain text without an ending line break.
pub fn explain(problem: &Problem, source: &str) -> String {
    let mut text = format!("{}:{}:{}: {} {}", problem.file, problem.line, problem.column, problem.code, problem.message);
    let index = usize::try_from(problem.line).unwrap_or(usize::MAX).saturating_sub(1);
    if let Some(line) = lines(without_byte_order_mark(source)).nth(index) {
        let column = usize::try_from(problem.column).unwrap_or(usize::MAX).saturating_sub(1);
        let (shown, before) = part(line, column);
        let number = problem.line.to_string();
        let margin = " ".repeat(number.len());
        // Writing to a text cannot fail.
        let _ = write!(text, "\n {margin} |\n {number} | {shown}\n {margin} | {before}^");
    }
    if let Some(hint) = &problem.hint {
        let _ = write!(text, "\n  hint: {hint}");
    }
    text
}

/// The part of `line` around `column`, and blanks as wide as what of it stands before `column`.
fn part(line: &str, column: usize) -> (String, String) {
    let from = if column < WIDEST { 0 } else { column - WIDEST / 2 };
    let clean = |letter: char| if letter.is_control() && letter != '\t' { '\u{fffd}' } else { letter };
    let mut shown: String = line.chars().skip(from).take(WIDEST).map(clean).collect();
    let mut before: String =
        line.chars().skip(from).take(column - from).map(|letter| if letter == '\t' { '\t' } else { ' ' }).collect();
    if from > 0 {
        shown.insert_str(0, "… ");
        before.insert_str(0, "  ");
    }
    if line.chars().nth(from + WIDEST).is_some() {
        shown.push_str(" …");
    }
    (shown.trim_end().to_owned(), before)
}
