//! Where objects live: one layout for the folder on a laptop and for the bucket.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{ExecutionId, RunId, Scope};

/// The key of an object: scope first, then parts joined by `/`; no part is empty, `.`, `..` or holds control characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ObjectKey(String);

/// A text that is not an object key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not an object key: parts joined by `/`, none empty, `.`, `..` or with control characters, at most 1,024 bytes", text.escape_debug())]
pub struct BadObjectKey {
    text: String,
}

/// S3's limit, kept in both homes.
const LONGEST_KEY: usize = 1_024;

impl ObjectKey {
    /// The frozen item list of a run, one JSON value a line.
    pub fn items(scope: &Scope, run: RunId) -> ObjectKey {
        ObjectKey(format!("{scope}/runs/{run}/items.jsonl"))
    }

    /// One attempt: the folder of what it published, and the beginning of its outcome's and log's keys (which lie beside the folder, so that an
    /// attempt without artifacts costs one file).
    pub fn attempt(scope: &Scope, execution: ExecutionId, attempt: u32) -> ObjectKey {
        ObjectKey(format!("{scope}/runs/{}/{}-{attempt}", execution.run, execution.item))
    }

    /// `below` appended.
    ///
    /// # Errors
    /// Where `below` is no key by itself.
    pub fn join(&self, below: &str) -> Result<ObjectKey, BadObjectKey> {
        format!("{}/{below}", self.0).parse()
    }

    /// An artifact below an attempt's folder.
    ///
    /// # Errors
    /// Where `path` is no key by itself.
    pub fn artifact(&self, path: &str) -> Result<ObjectKey, BadObjectKey> {
        self.join("artifacts")?.join(path)
    }

    /// The signals document of an artifact below an attempt's folder.
    ///
    /// # Errors
    /// Where `path` is no key by itself.
    pub fn signals(&self, path: &str) -> Result<ObjectKey, BadObjectKey> {
        self.join("signals")?.join(&format!("{path}.quality.json"))
    }

    /// The list of artifacts with checksums below an attempt's folder, published last of all files.
    pub fn manifest(&self) -> ObjectKey {
        ObjectKey(format!("{}/manifest.json", self.0))
    }

    /// The outcome of an attempt.
    pub fn outcome(&self) -> ObjectKey {
        ObjectKey(format!("{}.outcome.json", self.0))
    }

    /// The log of an attempt.
    pub fn log(&self) -> ObjectKey {
        ObjectKey(format!("{}.log", self.0))
    }

    /// The text form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ObjectKey {
    type Err = BadObjectKey;
    fn from_str(text: &str) -> Result<ObjectKey, BadObjectKey> {
        let legal = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.chars().any(char::is_control);
        if text.len() <= LONGEST_KEY && text.split('/').all(legal) {
            Ok(ObjectKey(text.to_owned()))
        } else {
            Err(BadObjectKey { text: text.to_owned() })
        }
    }
}

impl TryFrom<String> for ObjectKey {
    type Error = BadObjectKey;
    fn try_from(text: String) -> Result<ObjectKey, BadObjectKey> {
        text.parse()
    }
}

impl From<ObjectKey> for String {
    fn from(key: ObjectKey) -> String {
        key.0
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_never_climbs() {
        let execution = ExecutionId { run: RunId::from_bits(5), item: 3 };
        let folder = ObjectKey::attempt(&Scope::local(), execution, 1);
        assert!(folder.as_str().starts_with("local/local/default/runs/run_") && folder.as_str().ends_with("/3-1"));
        assert!(folder.artifact("by day/é.csv").is_ok());
        for hostile in ["", "/etc/passwd", "../x", "a/../b", "a//b", "a/.", "a\nb", "a\0b"] {
            assert!(folder.artifact(hostile).is_err(), "{hostile:?} passed");
        }
    }
}
