//! Scope: whose record, event, log line or workload this is.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::name;

/// Tenant, organisation and project. Comes first in every key and every port call.
/// Text form: `tenant/organisation/project`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Scope {
    text: Arc<str>,
    tenant_ends: u8,
    org_ends: u8,
}

/// A text that is not a scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a scope: write tenant/organisation/project, each of a-z, 0-9 and inner hyphens")]
pub struct BadScope {
    text: String,
}

impl Scope {
    /// The scope of a laptop: `local/local/default`.
    pub fn local() -> Scope {
        "local/local/default".parse().expect("the literal is a scope")
    }

    /// The tenant's name.
    pub fn tenant(&self) -> &str {
        &self.text[..self.tenant_ends.into()]
    }

    /// The organisation's name.
    pub fn org(&self) -> &str {
        &self.text[usize::from(self.tenant_ends) + 1..self.org_ends.into()]
    }

    /// The project's name.
    pub fn project(&self) -> &str {
        &self.text[usize::from(self.org_ends) + 1..]
    }

    /// The text form.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for Scope {
    type Err = BadScope;

    fn from_str(text: &str) -> Result<Scope, BadScope> {
        let bad = || BadScope { text: text.to_owned() };
        let parts: Vec<&str> = text.split('/').collect();
        let [tenant, org, project] = parts[..] else { return Err(bad()) };
        if [tenant, org, project].into_iter().any(|part| name::check(part).is_err()) {
            return Err(bad());
        }
        let tenant_ends = u8::try_from(tenant.len()).expect("a name has at most 63 bytes");
        let org_ends = tenant_ends + 1 + u8::try_from(org.len()).expect("a name has at most 63 bytes");
        Ok(Scope { text: text.into(), tenant_ends, org_ends })
    }
}

impl TryFrom<String> for Scope {
    type Error = BadScope;
    fn try_from(text: String) -> Result<Scope, BadScope> {
        text.parse()
    }
}

impl From<Scope> for String {
    fn from(scope: Scope) -> String {
        scope.text.as_ref().to_owned()
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scope({})", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_knows_its_parts() {
        let scope: Scope = "acme/data-team/prices".parse().unwrap();
        assert_eq!((scope.tenant(), scope.org(), scope.project()), ("acme", "data-team", "prices"));
        for bad in ["", "a/b", "a/b/c/d", "a//c", "a/../c", "A/b/c"] {
            assert!(bad.parse::<Scope>().is_err(), "{bad:?} passed");
        }
    }
}
