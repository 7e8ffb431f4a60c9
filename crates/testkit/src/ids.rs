//! Ids that are the same in every run of a test.

use std::sync::atomic::{AtomicU64, Ordering};

use model::{RunId, Timestamp};
use ports::Ids;

/// Counts up from a seed, in the layout of the real ids.
#[derive(Debug, Default)]
pub struct SeededIds {
    next: AtomicU64,
}

impl SeededIds {
    /// Ids that start at `seed`.
    pub fn new(seed: u64) -> SeededIds {
        SeededIds { next: AtomicU64::new(seed) }
    }
}

impl Ids for SeededIds {
    fn run(&self, now: Timestamp) -> RunId {
        let millis = u64::try_from(now.as_millisecond()).unwrap_or(0);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        // The count lies above the random bits, so that ids of a clock that stands still grow too.
        RunId::from_bits(u128::from(millis) << 80 | 7 << 76 | 0b10 << 62 | u128::from(number & ((1 << 62) - 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_growing_ids() {
        let (one, other) = (SeededIds::new(7), SeededIds::new(7));
        let list = |ids: &SeededIds| -> Vec<RunId> { (0..3).map(|_| ids.run(Timestamp::UNIX_EPOCH)).collect() };
        let first = list(&one);
        assert_eq!(first, list(&other));
        assert!(first.is_sorted_by(|one, next| one < next));
    }
}
