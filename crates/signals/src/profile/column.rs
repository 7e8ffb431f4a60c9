//! What is kept of one column while the rows pass.

use std::cmp::Ordering;

use super::cell::{Look, NonFinite, Value};
use super::distinct::Distinct;
use super::moments::Moments;
use super::sample::Sample;
use super::time;
use crate::document::CellType;

/// Numbers of a column that are kept for its quantiles.
const SAMPLE: usize = 4096;
/// The same for columns beyond the first hundred.
const SMALL_SAMPLE: usize = 256;
const WIDE: usize = 100;

/// The running counts of one column.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) key: String,
    /// Cells by type, in the order of [`CellType`]; missing cells are not among them.
    pub(super) counts: [u64; 9],
    pub(super) distinct: Distinct,
    pub(super) looks: Looks,
    pub(super) non_finite: NonFiniteCounts,
    pub(super) ints: Option<(i64, i64)>,
    pub(super) floats: Option<(f64, f64)>,
    pub(super) big: Option<Box<BigInts>>,
    pub(super) moments: Moments,
    pub(super) sample: Sample,
    pub(super) times: Times,
    pub(super) length: Option<(u64, u64)>,
    /// Whether its numbers are Unix time.
    epoch: bool,
}

/// Texts by what they resemble.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Looks {
    pub(super) leading_zeros: u64,
    pub(super) blank: u64,
    pub(super) token: u64,
}

/// Numbers that are not finite.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NonFiniteCounts {
    pub(super) nan: u64,
    pub(super) infinite: u64,
    pub(super) overflow: u64,
}

impl NonFiniteCounts {
    pub(super) fn total(self) -> u64 {
        self.nan + self.infinite + self.overflow
    }
}

/// Whole numbers beyond 64 bits, as text.
#[derive(Debug)]
pub(super) struct BigInts {
    pub(super) count: u64,
    pub(super) min: String,
    pub(super) max: String,
}

/// Times of a column, in microseconds of Unix time.
#[derive(Clone, Debug)]
pub(super) struct Times {
    pub(super) range: Option<(i64, i64)>,
    pub(super) zoned: u64,
    /// Dates and times without an offset.
    pub(super) naive: u64,
    pub(super) future: u64,
    now: i64,
}

impl Times {
    #[inline]
    fn add(&mut self, micros: i64) {
        self.range = Some(widened(self.range, micros));
        self.future += u64::from(micros > self.now);
    }
}

#[inline]
fn widened<T: Copy + PartialOrd>(range: Option<(T, T)>, value: T) -> (T, T) {
    match range {
        None => (value, value),
        Some((low, high)) => (if value < low { value } else { low }, if value > high { value } else { high }),
    }
}

impl Column {
    /// A column at a place in the table. `now` is in microseconds of Unix time.
    pub(super) fn new(name: String, key: String, place: usize, epoch: bool, now: i64) -> Self {
        Self {
            name,
            key,
            counts: [0; 9],
            distinct: Distinct::new(),
            looks: Looks::default(),
            non_finite: NonFiniteCounts::default(),
            ints: None,
            floats: None,
            big: None,
            moments: Moments::default(),
            sample: Sample::new(if place < WIDE { SAMPLE } else { SMALL_SAMPLE }),
            times: Times { range: None, zoned: 0, naive: 0, future: 0, now },
            length: None,
            epoch,
        }
    }

    #[inline]
    pub(super) fn add_null(&mut self) {
        self.counts[CellType::Null as usize] += 1;
    }

    /// Counts the characters of a cell as written.
    #[inline]
    pub(super) fn add_length(&mut self, text: &[u8]) {
        // Every byte but the continuation bytes of UTF-8 starts a character.
        let characters = text.iter().filter(|byte| (**byte as i8) >= -0x40).count() as u64;
        self.length = Some(widened(self.length, characters));
    }

    /// Counts a value; `text` is what it was read from.
    #[inline]
    pub(super) fn add(&mut self, value: Value, text: &[u8]) {
        let kind = match value {
            Value::Int(number) => {
                self.ints = Some(widened(self.ints, number));
                self.add_number(number as f64);
                CellType::Int
            }
            Value::Float(number) => {
                self.floats = Some(widened(self.floats, number));
                self.add_number(number);
                CellType::Float
            }
            Value::Timestamp { micros, zoned } => {
                self.times.add(micros);
                if zoned {
                    self.times.zoned += 1
                } else {
                    self.times.naive += 1
                }
                CellType::Timestamp
            }
            Value::Date(micros) => {
                self.times.add(micros);
                self.times.naive += 1;
                CellType::Date
            }
            Value::Bool => CellType::Bool,
            Value::Text(look) => {
                self.add_look(look);
                CellType::String
            }
            Value::BigInt => {
                self.add_big(text);
                CellType::Int
            }
            Value::NonFinite(kind) => {
                match kind {
                    NonFinite::Nan => self.non_finite.nan += 1,
                    NonFinite::Infinite => self.non_finite.infinite += 1,
                    NonFinite::Overflow => self.non_finite.overflow += 1,
                }
                CellType::Float
            }
            Value::List => CellType::List,
            Value::Struct => CellType::Struct,
        };
        self.counts[kind as usize] += 1;
    }

    #[inline]
    fn add_number(&mut self, number: f64) {
        self.moments.add(number);
        self.sample.add(number);
        if self.epoch
            && let Some(micros) = time::from_epoch(number)
        {
            self.times.add(micros);
        }
    }

    #[inline]
    fn add_look(&mut self, look: Look) {
        match look {
            Look::Plain => {}
            Look::LeadingZeros => self.looks.leading_zeros += 1,
            Look::Blank => self.looks.blank += 1,
            Look::NullToken => self.looks.token += 1,
        }
    }

    fn add_big(&mut self, text: &[u8]) {
        let text = String::from_utf8_lossy(text).trim().to_owned();
        // An infinity of digits leaves the moments undefined, which is what they then are.
        self.add_number(text.parse().unwrap_or(f64::INFINITY));
        let Some(big) = &mut self.big else {
            self.big = Some(Box::new(BigInts { count: 1, min: text.clone(), max: text }));
            return;
        };
        big.count += 1;
        if compare_integers(&text, &big.min) == Ordering::Less {
            big.min = text;
        } else if compare_integers(&text, &big.max) == Ordering::Greater {
            big.max = text;
        }
    }

    /// Cells of a type.
    pub(super) fn count(&self, kind: CellType) -> u64 {
        self.counts.get(kind as usize).copied().unwrap_or(0)
    }

    /// Cells with a value.
    pub(super) fn values(&self) -> u64 {
        self.counts.iter().sum::<u64>() - self.count(CellType::Null)
    }
}

/// Orders whole numbers written without leading zeros.
pub(super) fn compare_integers(left: &str, right: &str) -> Ordering {
    let magnitude = |digits: &str, other: &str| digits.len().cmp(&other.len()).then_with(|| digits.cmp(other));
    match (left.strip_prefix('-'), right.strip_prefix('-')) {
        (None, None) => magnitude(left, right),
        (Some(left), Some(right)) => magnitude(right, left),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_of_any_width_are_ordered() {
        let sorted = ["-100", "-99", "-5", "0", "7", "10", "18446744073709551616"];
        for pair in sorted.windows(2) {
            assert_eq!(compare_integers(pair[0], pair[1]), Ordering::Less, "{pair:?}");
            assert_eq!(compare_integers(pair[1], pair[0]), Ordering::Greater, "{pair:?}");
        }
    }
}
