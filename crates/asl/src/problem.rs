//! What is wrong with a definition, and where.

use std::fmt;

/// One thing wrong with a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What kind of problem.
    pub code: Code,
    /// A JSON pointer to the field or value, such as `/States/Open/Next`; empty for the document.
    pub pointer: String,
    /// Where that is in the text; both count from 1, columns in characters.
    pub line: usize,
    /// The column.
    pub column: usize,
    /// What is wrong, in words.
    pub message: String,
}

/// The kinds of problems, by the codes that the service has for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The text is not JSON.
    InvalidJson,
    /// A field is missing, unknown, of the wrong type, or holds something that cannot be read.
    SchemaValidationFailed,
    /// A transition names a state that is not there.
    MissingTransitionTarget,
    /// No transition leads to a state.
    UnreachableState,
    /// Two states have one name.
    DuplicateStateName,
}

impl Code {
    /// The code as the service writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Code::InvalidJson => "INVALID_JSON_DESCRIPTION",
            Code::SchemaValidationFailed => "SCHEMA_VALIDATION_FAILED",
            Code::MissingTransitionTarget => "MISSING_TRANSITION_TARGET",
            Code::UnreachableState => "UNREACHABLE_STATE",
            Code::DuplicateStateName => "DUPLICATE_STATE_NAME",
        }
    }
}

/// `line:column: message (pointer)`
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)?;
        if self.pointer.is_empty() { Ok(()) } else { write!(f, " ({})", self.pointer) }
    }
}

/// Where a JSON pointer leads in a text that is known to be JSON: line and column, from 1. Where it leads nowhere,
/// the innermost value on the way.
pub(crate) fn locate(text: &str, pointer: &str) -> (usize, usize) {
    let mut reader = Reader { text: text.as_bytes(), at: 0 };
    reader.space();
    let mut found = reader.at;
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        match reader.enter(&token) {
            Some(at) => found = at,
            None => break,
        }
    }
    let before = &text[..found.min(text.len())];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

/// Walks over JSON text without building values.
struct Reader<'t> {
    text: &'t [u8],
    at: usize,
}

impl Reader<'_> {
    /// From the start of a container to the value of a member; answers where its name (or the item) begins.
    fn enter(&mut self, token: &str) -> Option<usize> {
        let opening = self.peek()?;
        self.at += 1;
        let mut index = 0_usize;
        loop {
            self.space();
            let begin = self.at;
            match (opening, self.peek()?) {
                (_, b'}' | b']') => return None,
                (_, b',') => self.at += 1,
                (b'{', _) => {
                    self.skip_value();
                    let name = serde_json::from_slice::<String>(&self.text[begin..self.at]).ok()?;
                    self.space();
                    self.at += 1;
                    self.space();
                    if name == token {
                        return Some(begin);
                    }
                    self.skip_value();
                }
                (b'[', _) => {
                    if index.to_string() == token {
                        return Some(begin);
                    }
                    index += 1;
                    self.skip_value();
                }
                _ => return None,
            }
        }
    }

    fn skip_value(&mut self) {
        let mut depth = 0_usize;
        while let Some(next) = self.peek() {
            match next {
                b'"' => self.skip_string(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' | b',' | b':' if depth == 0 => return,
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                _ => {
                    let plain = |byte: &u8| !b"\"{}[],: \t\r\n".contains(byte);
                    self.at += self.text[self.at..].iter().take_while(|byte| plain(byte)).count();
                }
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(next) = self.peek() {
            self.at += if next == b'\\' { 2 } else { 1 };
            if next == b'"' {
                return;
            }
        }
    }

    fn space(&mut self) {
        self.at += self.text[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_found_in_the_text() {
        let text = "{\n  \"a\": [1, {\"b/c\": \"}\\\"\"}],\n  \"é\": {\"x\": null}\n}";
        assert_eq!(locate(text, ""), (1, 1));
        assert_eq!(locate(text, "/a"), (2, 3));
        assert_eq!(locate(text, "/a/1"), (2, 12));
        assert_eq!(locate(text, "/a/1/b~1c"), (2, 13));
        assert_eq!(locate(text, "/é/x"), (3, 9));
        assert_eq!(locate(text, "/é/missing"), (3, 3), "the object that lacks it");
    }
}
