//! Secrets by reference.

use std::fmt;

use async_trait::async_trait;
use model::Scope;

use crate::BoxError;

/// Reads secret values. Only the worker does, for the unit that declares them.
#[async_trait]
pub trait Secrets: Send + Sync {
    /// The value behind a reference such as `prices/api-key`.
    async fn read(&self, scope: &Scope, reference: &str) -> Result<Secret, SecretError>;
}

/// A value that never shows itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub fn new(value: String) -> Secret {
        Secret(value)
    }

    /// The value, for the environment of the program and for masking.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

/// Why a secret could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// There is none under that reference.
    #[error("no secret `{0}`")]
    NotFound(String),
    /// It may not be read like this, for instance because others can read its file.
    #[error("could not use the secrets: {0}")]
    Refused(String),
    /// The store of secrets does not answer now.
    #[error("could not reach the secrets")]
    Unavailable(#[source] BoxError),
}
