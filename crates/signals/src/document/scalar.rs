//! One number or text in a document.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Greatest integer that every JSON reader keeps exact.
const EXACT: i128 = 1 << 53;

/// One number or text. Build it with `From`, which keeps the document's rules: finite, and exact for every JSON reader.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    /// A whole number up to 2^53.
    Integer(i64),
    /// A finite number.
    Number(f64),
    /// Anything else: a larger integer, a time, a word.
    Text(String),
}

impl Scalar {
    /// The number, when it is one and as near as 64 bits allow.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Scalar::Integer(value) => Some(*value as f64),
            Scalar::Number(value) => Some(*value),
            Scalar::Text(text) => text.parse().ok().filter(|value: &f64| value.is_finite()),
        }
    }
}

impl From<i128> for Scalar {
    fn from(value: i128) -> Self {
        match i64::try_from(value) {
            Ok(small) if (-EXACT..=EXACT).contains(&value) => Scalar::Integer(small),
            Ok(_) | Err(_) => Scalar::Text(value.to_string()),
        }
    }
}

impl From<u64> for Scalar {
    fn from(value: u64) -> Self {
        Scalar::from(i128::from(value))
    }
}

impl From<i64> for Scalar {
    fn from(value: i64) -> Self {
        Scalar::from(i128::from(value))
    }
}

impl From<f64> for Scalar {
    fn from(value: f64) -> Self {
        if value.is_finite() {
            // Adding zero turns -0.0 into 0.0.
            Scalar::Number(value + 0.0)
        } else {
            Scalar::Text(value.to_string())
        }
    }
}

impl From<Timestamp> for Scalar {
    fn from(value: Timestamp) -> Self {
        Scalar::Text(value.to_string())
    }
}

impl From<&str> for Scalar {
    fn from(value: &str) -> Self {
        Scalar::Text(value.to_owned())
    }
}

impl From<String> for Scalar {
    fn from(value: String) -> Self {
        Scalar::Text(value)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Integer(value) => f.pad(&crate::words::count(*value)),
            Scalar::Number(value) => f.pad(&crate::words::number(*value)),
            Scalar::Text(text) => f.pad(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_that_a_reader_could_round_are_texts() {
        assert_eq!(Scalar::from(9_007_199_254_740_992_u64), Scalar::Integer(9_007_199_254_740_992));
        assert_eq!(Scalar::from(9_007_199_254_740_993_u64), Scalar::Text("9007199254740993".into()));
        assert_eq!(Scalar::from(u64::MAX).to_string(), "18446744073709551615");
    }

    #[test]
    fn a_number_is_finite_and_has_no_negative_zero() {
        assert_eq!(serde_json::to_string(&Scalar::from(-0.0)).unwrap(), "0.0");
        assert_eq!(serde_json::to_string(&Scalar::from(f64::NAN)).unwrap(), "\"NaN\"");
    }

    #[test]
    fn every_form_reads_back_as_itself() {
        for scalar in [Scalar::Integer(-3), Scalar::Number(2.0), Scalar::Text("2026-01-01T00:00:00Z".into())] {
            let text = serde_json::to_string(&scalar).unwrap();
            assert_eq!(serde_json::from_str::<Scalar>(&text).unwrap(), scalar, "{text}");
        }
    }
}
