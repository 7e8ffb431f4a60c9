//! How many different values: exact while they fit, then estimated.

use crate::document::{Distinct as Count, DistinctMethod};

/// Most values of a column that are kept.
const EXACT: usize = 65_536;
/// Registers of the estimate, as a power of two.
const PRECISION: u32 = 14;
/// Standard error of the estimate: 1.04 / √2^14.
const RELATIVE_ERROR: f64 = 0.008_125;

/// Counts different hashes. It starts exact and turns into an estimate for good when it holds 65,536 of them or when the
/// memory that all columns share is used up.
#[derive(Debug)]
pub(super) enum Distinct {
    Exact(Hashes),
    Estimate(Registers),
}

impl Distinct {
    pub(super) fn new() -> Self {
        Distinct::Exact(Hashes::default())
    }

    /// Counts a hash. `memory` is what is left for the exact counts of all columns.
    #[inline]
    pub(super) fn add(&mut self, hash: u64, memory: &mut usize) {
        match self {
            Distinct::Exact(hashes) => {
                if !hashes.insert(hash, memory) {
                    self.estimate(hash, memory);
                }
            }
            Distinct::Estimate(registers) => registers.add(hash),
        }
    }

    fn estimate(&mut self, hash: u64, memory: &mut usize) {
        let mut registers = Registers::new();
        if let Distinct::Exact(hashes) = self {
            hashes.slots.iter().filter(|slot| **slot != 0).for_each(|slot| registers.add(*slot));
            *memory += hashes.slots.len() * size_of::<u64>();
        }
        registers.add(hash);
        *self = Distinct::Estimate(registers);
    }

    /// The count, never above the number of values that were added.
    pub(super) fn count(&self, values: u64) -> Count {
        match self {
            Distinct::Exact(hashes) => Count { value: hashes.len as u64, method: DistinctMethod::Exact, rel_error: 0.0 },
            Distinct::Estimate(registers) => Count {
                value: (registers.estimate().round() as u64).min(values),
                method: DistinctMethod::Hll14,
                rel_error: RELATIVE_ERROR,
            },
        }
    }
}

/// A set of hashes: open addressing, at most half full, 0 marks a free slot.
#[derive(Debug, Default)]
pub(super) struct Hashes {
    slots: Vec<u64>,
    len: usize,
}

impl Hashes {
    /// Adds a hash; false when there is no room for it.
    #[inline]
    fn insert(&mut self, hash: u64, memory: &mut usize) -> bool {
        let hash = hash.max(1);
        if self.contains(hash) {
            return true;
        }
        if (self.len + 1) * 2 > self.slots.len() && !self.grow(memory) {
            return false;
        }
        self.place(hash);
        self.len += 1;
        true
    }

    #[inline]
    fn contains(&self, hash: u64) -> bool {
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash as usize & mask;
        while let Some(slot) = self.slots.get(at) {
            if *slot == hash {
                return true;
            }
            if *slot == 0 {
                return false;
            }
            at = (at + 1) & mask;
        }
        false
    }

    fn place(&mut self, hash: u64) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at] != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = hash;
    }

    fn grow(&mut self, memory: &mut usize) -> bool {
        let size = (self.slots.len() * 2).max(16);
        let more = (size - self.slots.len()) * size_of::<u64>();
        if self.len >= EXACT || *memory < more {
            return false;
        }
        *memory -= more;
        let old = std::mem::replace(&mut self.slots, vec![0; size]);
        old.into_iter().filter(|slot| *slot != 0).for_each(|slot| self.place(slot));
        true
    }
}

/// HyperLogLog with Ertl's improved estimator ("New cardinality estimation algorithms for HyperLogLog sketches", 2017),
/// which needs no tables and is unbiased over the whole range.
#[derive(Debug)]
pub(super) struct Registers(Vec<u8>);

impl Registers {
    fn new() -> Self {
        Self(vec![0; 1 << PRECISION])
    }

    #[inline]
    fn add(&mut self, hash: u64) {
        let register = (hash >> (64 - PRECISION)) as usize;
        // The guard bit bounds the run of zeros for a hash whose rest is zero.
        let rest = (hash << PRECISION) | (1 << (PRECISION - 1));
        let rank = rest.leading_zeros() as u8 + 1;
        if self.0[register] < rank {
            self.0[register] = rank;
        }
    }

    fn estimate(&self) -> f64 {
        const LONGEST: usize = 64 - PRECISION as usize;
        let registers = self.0.len() as f64;
        let mut counts = [0.0_f64; LONGEST + 2];
        for rank in &self.0 {
            counts[usize::from(*rank)] += 1.0;
        }
        let mut sum = registers * tau(1.0 - counts[LONGEST + 1] / registers);
        for count in counts[1..=LONGEST].iter().rev() {
            sum = 0.5 * (sum + count);
        }
        sum += registers * sigma(counts[0] / registers);
        registers * registers / (2.0 * std::f64::consts::LN_2) / sum
    }
}

fn sigma(share: f64) -> f64 {
    if share >= 1.0 {
        return f64::INFINITY;
    }
    let (mut power, mut weight, mut sum) = (share, 1.0, share);
    loop {
        power *= power;
        let before = sum;
        sum += power * weight;
        weight += weight;
        if sum <= before {
            return sum;
        }
    }
}

fn tau(share: f64) -> f64 {
    if share <= 0.0 || share >= 1.0 {
        return 0.0;
    }
    let (mut root, mut weight, mut sum) = (share, 1.0, 1.0 - share);
    loop {
        root = root.sqrt();
        let before = sum;
        weight *= 0.5;
        sum -= (1.0 - root).powi(2) * weight;
        if sum >= before {
            return sum / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::hash;
    use super::*;

    fn counted(values: u64, mut memory: usize) -> (Count, usize) {
        let mut distinct = Distinct::new();
        for value in 0..values * 2 {
            distinct.add(hash::salted(value % values, 0), &mut memory);
        }
        (distinct.count(values * 2), memory)
    }

    #[test]
    fn up_to_65_536_values_are_exact() {
        for values in [1, 7, 8, 9, 1000, 65_535, 65_536] {
            let (count, _) = counted(values, usize::MAX);
            assert_eq!((count.value, count.method), (values, DistinctMethod::Exact));
        }
    }

    #[test]
    fn beyond_that_the_estimate_is_near_and_the_memory_is_given_back() {
        for values in [65_537, 100_000, 1_000_000] {
            let (count, memory) = counted(values, 2 << 20);
            assert_eq!((count.method, memory), (DistinctMethod::Hll14, 2 << 20));
            let error = (count.value as f64 / values as f64 - 1.0).abs();
            assert!(error < 0.025, "{values}: {}", count.value);
        }
    }

    #[test]
    fn texts_that_differ_little_are_estimated_as_well_as_any() {
        let error = |set: u64| {
            let mut registers = Registers::new();
            (0..50_000_u64).for_each(|value| registers.add(hash::bytes(format!("{}.{:06}", set, value * 7).as_bytes())));
            registers.estimate() / 50_000.0 - 1.0
        };
        let sets = 20;
        let squares: f64 = (0..sets).map(|set| error(set).powi(2)).sum();
        let deviation = (squares / sets as f64).sqrt();
        assert!(deviation < 1.3 * RELATIVE_ERROR, "{deviation}");
    }

    #[test]
    fn an_estimate_is_used_when_memory_is_short() {
        let (count, memory) = counted(1000, 1 << 10);
        assert_eq!((count.method, memory), (DistinctMethod::Hll14, 1 << 10));
        assert!((980..=1020).contains(&count.value), "{}", count.value);
    }

    #[test]
    fn an_estimate_never_exceeds_the_number_of_values() {
        let mut distinct = Distinct::Estimate(Registers::new());
        (0..70_000).for_each(|value| distinct.add(hash::salted(value, 1), &mut 0));
        assert_eq!(distinct.count(69_000).value, 69_000);
        assert_eq!(Distinct::Estimate(Registers::new()).count(10).value, 0);
    }

    #[test]
    fn a_hash_of_zero_is_a_value_too() {
        let mut distinct = Distinct::new();
        distinct.add(0, &mut 4096);
        distinct.add(0, &mut 4096);
        assert_eq!(distinct.count(2).value, 1);
    }
}
