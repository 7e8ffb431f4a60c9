//! Names of registry entries: lower-case words joined by hyphens.

use std::{borrow::Borrow, fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

/// The longest name, in bytes: it becomes part of keys, folder names and cloud resource names.
const LONGEST: usize = 63;

/// A text that is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a name: use 1 to 63 of a-z, 0-9 and inner hyphens")]
pub struct BadName {
    /// What was given.
    pub text: String,
}

pub(crate) fn check(text: &str) -> Result<(), BadName> {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let bytes = text.as_bytes();
    let ends_well = |byte: Option<&u8>| byte.is_some_and(|byte| *byte != b'-');
    if bytes.len() <= LONGEST && ends_well(bytes.first()) && ends_well(bytes.last()) && bytes.iter().copied().all(legal) {
        Ok(())
    } else {
        Err(BadName { text: text.to_owned() })
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $type(Arc<str>);

        impl $type {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $type {
            type Err = BadName;
            fn from_str(text: &str) -> Result<Self, BadName> {
                check(text).map(|()| Self(text.into()))
            }
        }

        impl TryFrom<String> for $type {
            type Error = BadName;
            fn try_from(text: String) -> Result<Self, BadName> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(name: $type) -> String {
                name.0.as_ref().to_owned()
            }
        }

        impl Borrow<str> for $type {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($type), self.0)
            }
        }
    };
}

name!(
    /// Names a unit; unique in its project.
    UnitName
);
name!(
    /// Names a tier: a class of compute.
    TierName
);
name!(
    /// Names a limit that several units share.
    LimitName
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_joined_by_hyphens() {
        for good in ["a", "a1", "daily-prices", "0-9"] {
            assert_eq!(good.parse::<UnitName>().unwrap().as_str(), good);
        }
        for bad in ["", "-a", "a-", "A", "a_b", "a.b", "a/b", "../x", "é", &"a".repeat(64)] {
            assert!(bad.parse::<UnitName>().is_err(), "{bad:?} passed");
        }
    }
}
