//! Content digests: SHA-256, written as lower-case hexadecimal.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The SHA-256 of some content. Text form: 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of `content`.
    pub fn of(content: &[u8]) -> Digest {
        Digest(Sha256::digest(content).into())
    }

    /// The first 128 bits, for ids that derive from content.
    pub fn bits(self) -> u128 {
        u128::from_be_bytes(self.0[..16].try_into().expect("a digest has 32 bytes"))
    }
}

impl From<[u8; 32]> for Digest {
    fn from(bytes: [u8; 32]) -> Digest {
        Digest(bytes)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = String;
    fn from_str(text: &str) -> Result<Digest, String> {
        let bad = || format!("`{text}` is not a SHA-256 in lower-case hexadecimal");
        let bytes = text.as_bytes();
        let legal = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
        if bytes.len() != 64 || !bytes.iter().all(legal) {
            return Err(bad());
        }
        let mut digest = [0_u8; 32];
        for (place, pair) in digest.iter_mut().zip(bytes.chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| bad())?;
            *place = u8::from_str_radix(pair, 16).map_err(|_| bad())?;
        }
        Ok(Digest(digest))
    }
}

impl TryFrom<String> for Digest {
    type Error = String;
    fn try_from(text: String) -> Result<Digest, String> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        digest.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_nothing_is_known() {
        let empty = Digest::of(b"");
        assert_eq!(empty.to_string(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(empty.to_string().parse(), Ok(empty));
        assert!("e3".parse::<Digest>().is_err());
    }
}
