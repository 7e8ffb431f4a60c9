//! Secrets from a file with mode 0600, or the environment.

use std::{
    collections::BTreeMap,
    fmt,
    fs::File,
    io::{self, Read as _},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use async_trait::async_trait;
use model::Scope;
use ports::{Secret, SecretError, Secrets};

/// Reads the environment of the process: [`std::env::var`] in a root, a map in a test.
pub type ReadVariable = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Secrets of one scope: from a JSON file `{"prices/api-key": "…"}` that only its owner can read, else from the variable
/// `MUSTER_SECRET_PRICES_API_KEY`. The file is read again for each secret: a new value counts for the next attempt.
pub struct FileSecrets {
    path: PathBuf,
    scope: Scope,
    variable: ReadVariable,
}

impl FileSecrets {
    /// The secrets of `scope` in the file `path`, which need not exist.
    pub fn new(path: &Path, scope: Scope, variable: ReadVariable) -> FileSecrets {
        FileSecrets { path: path.to_owned(), scope, variable }
    }

    /// The file's content; empty where there is no file.
    fn file(&self) -> Result<BTreeMap<String, String>, SecretError> {
        let unavailable = |error: io::Error| SecretError::Unavailable(Box::new(error));
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(unavailable(error)),
        };
        // Asked of the open file: what is checked is what is read.
        let mode = file.metadata().map_err(unavailable)?.mode() & 0o777;
        let path = self.path.display();
        if mode & 0o077 != 0 {
            return Err(SecretError::Refused(format!("others can read {path} (mode {mode:04o}); run: chmod 600 {path}")));
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(unavailable)?;
        serde_json::from_str(&text).map_err(|error| {
            // The parser's own words can quote a value.
            let (line, column) = (error.line(), error.column());
            SecretError::Refused(format!("{path}:{line}:{column}: write one JSON object that maps references to text"))
        })
    }
}

/// The variable that stands in for a reference: upper case, everything but letters and digits an underscore.
fn variable_of(reference: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' };
    format!("MUSTER_SECRET_{}", reference.chars().map(letter).collect::<String>())
}

#[async_trait]
impl Secrets for FileSecrets {
    async fn read(&self, scope: &Scope, reference: &str) -> Result<Secret, SecretError> {
        let missing = || SecretError::NotFound(reference.to_owned());
        if *scope != self.scope {
            return Err(missing());
        }
        let value = self.file()?.remove(reference);
        value.or_else(|| (self.variable)(&variable_of(reference))).map(Secret::new).ok_or_else(missing)
    }
}

impl fmt::Debug for FileSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileSecrets").field("path", &self.path).field("scope", &self.scope).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_has_one_variable() {
        assert_eq!(variable_of("prices/api-key"), "MUSTER_SECRET_PRICES_API_KEY");
        assert_eq!(variable_of("a.b"), "MUSTER_SECRET_A_B");
    }
}
