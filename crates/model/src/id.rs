//! Ids: sortable by time, readable, never mistaken for one another.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 128 bits in groups of five.
const DIGITS: usize = 26;

/// A text that is not an id of the kind asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {kind}")]
pub struct BadId {
    text: String,
    kind: &'static str,
}

fn write_base32(value: u128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut digits = [0_u8; DIGITS];
    for (place, digit) in digits.iter_mut().rev().enumerate() {
        *digit = ALPHABET[(value >> (5 * place) & 31) as usize];
    }
    f.write_str(std::str::from_utf8(&digits).expect("the alphabet is ASCII"))
}

fn read_base32(text: &str) -> Option<u128> {
    if text.len() != DIGITS || text.as_bytes()[0] > b'7' {
        return None;
    }
    text.bytes().try_fold(0_u128, |value, byte| {
        let digit = ALPHABET.iter().position(|known| *known == byte)?;
        Some(value << 5 | digit as u128)
    })
}

macro_rules! text_form {
    ($type:ident) => {
        impl TryFrom<String> for $type {
            type Error = BadId;
            fn try_from(text: String) -> Result<Self, BadId> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(id: $type) -> String {
                id.to_string()
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

/// Names a run. Text form: `run_` and 26 characters whose order is the order of creation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(u128);

impl RunId {
    /// What every run id starts with.
    pub const PREFIX: &str = "run_";

    /// An id from 128 bits, the highest 48 of which are the milliseconds since 1970.
    pub const fn from_bits(bits: u128) -> RunId {
        RunId(bits)
    }

    /// The bits of the id.
    pub const fn bits(self) -> u128 {
        self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::PREFIX)?;
        write_base32(self.0, f)
    }
}

impl FromStr for RunId {
    type Err = BadId;
    fn from_str(text: &str) -> Result<RunId, BadId> {
        text.strip_prefix(Self::PREFIX)
            .and_then(read_base32)
            .map(RunId)
            .ok_or_else(|| BadId { text: text.to_owned(), kind: "a run id (run_ and 26 characters)" })
    }
}

text_form!(RunId);

/// Names the execution of one item of a run: known before it exists, so that creating it twice is one execution.
/// Text form: the run's id, a dot and the item's number from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ExecutionId {
    /// The run it belongs to.
    pub run: RunId,
    /// The item's number in the run's frozen list, from 0.
    pub item: u32,
}

impl fmt::Display for ExecutionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.run, self.item)
    }
}

impl FromStr for ExecutionId {
    type Err = BadId;
    fn from_str(text: &str) -> Result<ExecutionId, BadId> {
        let parse = || {
            let (run, item) = text.split_once('.')?;
            // A second spelling of the same number would be a second name of the same thing.
            let canonical = item.bytes().all(|byte| byte.is_ascii_digit()) && (item == "0" || !item.starts_with('0'));
            Some(ExecutionId { run: run.parse().ok()?, item: item.parse().ok().filter(|_| canonical)? })
        };
        parse().ok_or_else(|| BadId { text: text.to_owned(), kind: "an execution id (run id, dot, item number)" })
    }
}

text_form!(ExecutionId);

/// Names an event; a consumer that has seen the id has seen the event. Text form: `evt_` and 26 characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EventId(u128);

impl EventId {
    /// An id from 128 bits; for an event of a state change the bits derive from the record and its version, so that a
    /// repeated change is the same event.
    pub const fn from_bits(bits: u128) -> EventId {
        EventId(bits)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("evt_")?;
        write_base32(self.0, f)
    }
}

impl FromStr for EventId {
    type Err = BadId;
    fn from_str(text: &str) -> Result<EventId, BadId> {
        text.strip_prefix("evt_")
            .and_then(read_base32)
            .map(EventId)
            .ok_or_else(|| BadId { text: text.to_owned(), kind: "an event id (evt_ and 26 characters)" })
    }
}

text_form!(EventId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_as_their_bits_and_come_back_from_text() {
        let early = RunId::from_bits(0x0193_0000_0000_7000_8000_0000_0000_0001);
        let late = RunId::from_bits(0x0193_0000_0001_7000_8000_0000_0000_0000);
        assert!(early.to_string() < late.to_string());
        for id in [early, late, RunId::from_bits(0), RunId::from_bits(u128::MAX)] {
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        let execution = ExecutionId { run: early, item: 17 };
        assert_eq!(execution.to_string().parse(), Ok(execution));
    }

    #[test]
    fn other_spellings_are_refused() {
        let run = RunId::from_bits(7).to_string();
        for bad in ["", "run_", "run_8zzzzzzzzzzzzzzzzzzzzzzzzz", &run.to_uppercase(), &run[4..]] {
            assert!(bad.parse::<RunId>().is_err(), "{bad:?} passed");
        }
        for item in ["", "01", "+1", "-1", "4294967296", "1.2"] {
            assert!(format!("{run}.{item}").parse::<ExecutionId>().is_err(), "item {item:?} passed");
        }
    }
}
