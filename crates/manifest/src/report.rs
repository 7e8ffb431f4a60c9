//! Collecting problems, and finding the word that was meant.

use model::Problem;

use crate::{Code, node::Mark, syntax::lines};

/// The problems of one file.
#[derive(Debug)]
pub(crate) struct Report<'f> {
    file: &'f str,
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<Problem>,
}

impl<'f> Report<'f> {
    pub(crate) fn new(file: &'f str) -> Report<'f> {
        Report { file, problems: Vec::new(), warnings: Vec::new() }
    }

    /// A problem without a hint.
    pub(crate) fn add(&mut self, mark: Mark, code: Code, message: impl Into<String>) {
        self.add_with(mark, code, message, None);
    }

    /// A problem with a hint, where there is one.
    pub(crate) fn add_with(&mut self, mark: Mark, code: Code, message: impl Into<String>, hint: Option<String>) {
        self.problems.push(problem(self.file, mark, code, message.into(), hint));
    }

    /// Brings places behind the end of `text` to its end: the parser counts a line more there.
    pub(crate) fn bring_inside(&mut self, text: &str) {
        if self.problems.is_empty() {
            return;
        }
        let (count, last) = lines(text).fold((0_u32, ""), |(count, _), line| (count.saturating_add(1), line));
        let end = Mark { line: count, column: 1 }.right(last.chars().count());
        for problem in self.problems.iter_mut().filter(|problem| problem.line > end.line) {
            (problem.line, problem.column) = (end.line, end.column);
        }
    }

    /// Something that is worth a look and stops nothing.
    pub(crate) fn warn(&mut self, mark: Mark, code: Code, message: impl Into<String>, hint: Option<String>) {
        self.warnings.push(problem(self.file, mark, code, message.into(), hint));
    }
}

/// A problem at a place.
pub(crate) fn problem(file: &str, mark: Mark, code: Code, message: String, hint: Option<String>) -> Problem {
    Problem { file: file.to_owned(), line: mark.line, column: mark.column, code: code.as_str().to_owned(), message, hint }
}

/// The known word that `word` was probably meant to be.
pub(crate) fn closest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let length = word.chars().count();
    // A third of the letters may be wrong: `ligth` means `light`, but `fast` does not mean `last-run`.
    let allowed = (length / 3).max(1);
    let near = |candidate: &'k str| {
        let difference = candidate.chars().count().abs_diff(length);
        let distance = if difference > allowed { usize::MAX } else { edits(word, candidate) };
        (distance <= allowed).then_some((distance, candidate))
    };
    known.into_iter().filter_map(near).min().map(|(_, candidate)| candidate)
}

/// Letters to add, drop, change or swap, not counting case, where `_` and `-` are the same letter.
fn edits(word: &str, candidate: &str) -> usize {
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    strsim::damerau_levenshtein(&plain(word), &plain(candidate))
}

/// `did you mean …`, where a known word is close.
pub(crate) fn did_you_mean<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<String> {
    closest(word, known).map(|candidate| format!("did you mean `{candidate}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_mistake_finds_its_word() {
        let known = ["light", "standard", "heavy", "max_age"];
        assert_eq!(closest("ligth", known), Some("light"));
        assert_eq!(closest("Heavy", known), Some("heavy"));
        assert_eq!(closest("max-age", known), Some("max_age"));
        assert_eq!(closest("fast", known), None);
        assert_eq!(closest("", known), None);
    }
}
