//! An even sample of a stream of numbers, for quantiles.

use super::hash;

/// Keeps every number at first; whenever it is full it keeps half as often from then on and drops the half that would not
/// have been kept. Which ones is decided by their place in the stream, so that the same stream gives the same sample.
#[derive(Debug)]
pub(super) struct Sample {
    kept: Vec<(u64, f64)>,
    capacity: usize,
    seen: u64,
    /// A number is kept when the hash of its place is not above this.
    threshold: u64,
}

impl Sample {
    pub(super) fn new(capacity: usize) -> Self {
        Self { kept: Vec::new(), capacity, seen: 0, threshold: u64::MAX }
    }

    #[inline]
    pub(super) fn add(&mut self, number: f64) {
        self.seen += 1;
        let ticket = hash::salted(self.seen, 0);
        if ticket > self.threshold {
            return;
        }
        self.kept.push((ticket, number));
        if self.kept.len() > self.capacity {
            self.threshold /= 2;
            self.kept.retain(|(ticket, _)| *ticket <= self.threshold);
        }
    }

    /// The numbers below which the shares lie (nearest rank); `None` without numbers.
    pub(super) fn quantiles<const N: usize>(self, shares: [f64; N]) -> Option<[f64; N]> {
        let mut numbers: Vec<f64> = self.kept.into_iter().map(|(_, number)| number).collect();
        numbers.sort_unstable_by(f64::total_cmp);
        let last = numbers.len().checked_sub(1)?;
        Some(shares.map(|share| {
            let rank = (share * numbers.len() as f64).ceil() as usize;
            numbers[rank.saturating_sub(1).min(last)]
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: impl IntoIterator<Item = f64>) -> Option<[f64; 3]> {
        let mut sample = Sample::new(4096);
        numbers.into_iter().for_each(|number| sample.add(number));
        sample.quantiles([0.05, 0.5, 0.95])
    }

    #[test]
    fn few_numbers_are_all_kept() {
        assert_eq!(of([]), None);
        assert_eq!(of([4.0]), Some([4.0; 3]));
        assert_eq!(of((1..=100).rev().map(f64::from)), Some([5.0, 50.0, 95.0]));
    }

    #[test]
    fn many_numbers_are_sampled_evenly_whatever_their_order() {
        let sorted = (0..1_000_000).map(f64::from);
        let periodic = (0..1_000_000).map(|n| f64::from(n % 1000) * 1000.0);
        for found in [of(sorted).unwrap(), of(periodic).unwrap()] {
            for (value, share) in found.into_iter().zip([0.05, 0.5, 0.95]) {
                assert!((value / 1e6 - share).abs() < 0.03, "{found:?}");
            }
        }
    }

    #[test]
    fn the_sample_stays_small() {
        let mut sample = Sample::new(512);
        (0..100_000).for_each(|number| sample.add(f64::from(number)));
        assert!((200..=512).contains(&sample.kept.len()), "{}", sample.kept.len());
    }
}
