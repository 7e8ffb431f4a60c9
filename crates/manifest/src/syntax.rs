//! Syntax errors in words: what the parser found, and what a person most likely did.

use saphyr_parser::ScanError;

use crate::{Code, place::Readable, report::Report};

/// Fragments of the parser's messages, a sentence in our words, and a hint.
const SENTENCES: &[(&str, &str, &str)] = &[
    ("unknown anchor", "an alias (`*…`) without its anchor", "quote a text that starts with `*`"),
    ("scanning an anchor or alias", "`*` or `&` at the start of a text has a meaning in YAML", "quote the text"),
    ("unexpected character", "a text cannot start with this character", "quote the text"),
    (
        "mapping values are not allowed",
        "`: ` in a place where no key can stand",
        "quote a text that holds `: `, or mend the indentation",
    ),
    ("illegal placement of ':'", "`:` in a place where no key can stand", "is a bracket or a quote missing before it?"),
    ("found a tab", "a tab in the indentation", "indent with spaces"),
    ("tabs disallowed", "a tab in the indentation", "indent with spaces"),
    ("tab cannot be used", "a tab in the indentation", "indent with spaces"),
    ("cannot start with a tab", "a tab in the indentation", "indent with spaces"),
    ("found unexpected end of stream", "a quote is never closed", "close it"),
    ("unexpected document indicator", "a quote is never closed before the next document", "close it"),
    ("indentation in quoted scalar", "a quoted text goes on in a line that is not indented", "is its closing quote missing?"),
    ("indentation in flow construct", "a bracket goes on in a line that is not indented", "is its closing bracket missing?"),
    ("expected ',' or ']'", "a list in brackets lacks `,` or `]` here", "close the bracket, or quote the text"),
    ("expected ',' or '}'", "a mapping in braces lacks `,` or `}` here", "close the brace, or quote the text"),
    (
        "block mapping, did not find expected key",
        "a line that is neither a key nor part of the value above",
        "mend the indentation",
    ),
    ("expected '-' indicator", "a line that is not part of the list above", "mend the indentation, or start it with `- `"),
    ("block sequence entries", "`- ` in a place where no list can start", "put the list on lines of its own"),
    (
        "unknown escape character",
        "an unknown escape in a text in double quotes",
        "write `\\\\` for a backslash, or use single quotes",
    ),
    ("hexadecimal number", "an escape that lacks digits", "write `\\\\` for a backslash, or use single quotes"),
    ("invalid Unicode character escape", "an escape that is no character", "write the character itself"),
    ("trailing content after double-quoted", "text after a closing quote", "put all of it in quotes"),
    ("expected <document start>", "text after the end of the document", "mend the indentation, or start a document with `---`"),
    ("unexpected eof", "the file ends too early", "is a bracket or a quote missing?"),
    ("did not find expected node content", "a value is missing here", "is there a comma too many?"),
    ("simple key expect", "a key without `:`", "write `key: value`"),
    ("wrongly indented line in block scalar", "a line of a block of text that is indented less than the first", "indent it"),
    ("comment intercepting", "a comment inside a text of several lines", "quote the text"),
    ("misplaced bracket", "a closing bracket without an opening one", "remove it"),
    ("recursion limit", "brackets nest too deep", "use fewer levels"),
];

/// Reports why the parser gave up.
pub(crate) fn explain(error: &ScanError, source: &Readable<'_>, report: &mut Report<'_>) {
    let marker = error.marker();
    let sentence = SENTENCES.iter().find(|(fragment, _, _)| error.info().contains(fragment));
    let (message, hint) = match sentence {
        Some((_, message, hint)) => ((*message).to_owned(), Some((*hint).to_owned())),
        None => (error.info().to_owned(), None),
    };
    let line = lines(&source.text).nth(marker.line().saturating_sub(1)).unwrap_or_default();
    let hint =
        if has_open_template(line) { Some("put the whole text that holds `{{ … }}` in quotes".to_owned()) } else { hint };
    report.add_with(source.mark(*marker), Code::Syntax, message, hint);
}

/// The lines of `text` as YAML counts them: ended by LF, CR LF or CR.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

/// Whether `line` holds `{{` outside quotes.
fn has_open_template(line: &str) -> bool {
    line.find("{{").is_some_and(|at| {
        let before = &line[..at];
        before.matches('"').count().is_multiple_of(2) && before.matches('\'').count().is_multiple_of(2)
    })
}

/// Whether a text that could not be read looks like a manifest: a line that gives `name` or `kind` at the top.
pub(crate) fn looks_like_manifest(text: &str) -> bool {
    lines(text).any(|line| {
        let quoted = line.trim_start_matches(['{', ' ', '\t']);
        ["name", "kind"].into_iter().any(|key| {
            let plain = line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'));
            let json = quoted.strip_prefix('"').and_then(|rest| rest.strip_prefix(key)).and_then(|rest| rest.strip_prefix('"'));
            plain || json.is_some_and(|rest| rest.trim_start().starts_with(':'))
        })
    })
}

/// Every text that stands after `name:`: what a file that could not be read may declare.
pub(crate) fn names_in(text: &str) -> impl Iterator<Item = &str> {
    lines(text).filter_map(|line| {
        let rest = line.trim_start_matches(['{', ' ', '\t', '"', '\'']).strip_prefix("name")?;
        let value = rest.trim_start_matches(['"', '\'', ' ']).strip_prefix(':')?.trim_start();
        let end = value.find([' ', ',', '#', '\t']).unwrap_or(value.len());
        Some(value[..end].trim_matches(['"', '\'', '}']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_as_yaml_says() {
        assert_eq!(lines("a\r\nb\rc\n").collect::<Vec<_>>(), ["a", "b", "c", ""]);
    }

    #[test]
    fn names_are_found_in_a_file_that_cannot_be_read() {
        let text = "name: one # first\nrun: [\n---\n\"name\": \"two\",\n{\"name\":\"three\"}\n  name:  'four'\nrename: x\n";
        assert_eq!(names_in(text).collect::<Vec<_>>(), ["one", "two", "three", "four"]);
        assert!(looks_like_manifest(text));
        assert!(!looks_like_manifest("title: x\n  name: y\n"));
    }
}
