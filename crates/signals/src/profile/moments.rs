//! Mean and deviation of a stream of numbers.

/// Numbers that are summed up before they are merged.
const BLOCK: u32 = 1024;

/// Count, mean and squared deviation. Numbers are summed in blocks, each against its own first number, and the blocks merged
/// by the rule of Chan, Golub and LeVeque: no division a number, and no cancellation for numbers far from zero.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments {
    merged: f64,
    mean: f64,
    squares: f64,
    block: u32,
    origin: f64,
    block_sum: f64,
    block_squares: f64,
}

impl Moments {
    #[inline]
    pub(super) fn add(&mut self, number: f64) {
        if self.block == 0 {
            self.origin = number;
        }
        let offset = number - self.origin;
        self.block_sum += offset;
        self.block_squares += offset * offset;
        self.block += 1;
        if self.block == BLOCK {
            self.merge();
        }
    }

    fn merge(&mut self) {
        let count = f64::from(self.block);
        let offset = self.block_sum / count;
        let squares = (self.block_squares - self.block_sum * offset).max(0.0);
        let gap = self.origin + offset - self.mean;
        let total = self.merged + count;
        self.mean += gap * (count / total);
        self.squares += squares + gap * gap * (self.merged * count / total);
        self.merged = total;
        (self.block, self.block_sum, self.block_squares) = (0, 0.0, 0.0);
    }

    /// Mean and standard deviation of a sample; each `None` where too few numbers, or too large ones, leave it undefined.
    pub(super) fn finish(mut self) -> (Option<f64>, Option<f64>) {
        if self.block > 0 {
            self.merge();
        }
        let mean = (self.merged > 0.0).then_some(self.mean);
        let deviation = (self.merged > 1.0).then(|| (self.squares / (self.merged - 1.0)).sqrt());
        (mean.filter(|value| value.is_finite()), deviation.filter(|value| value.is_finite()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: impl IntoIterator<Item = f64>) -> (Option<f64>, Option<f64>) {
        let mut moments = Moments::default();
        numbers.into_iter().for_each(|number| moments.add(number));
        moments.finish()
    }

    #[test]
    fn a_small_spread_far_from_zero_is_not_lost() {
        let (mean, deviation) = of((0..10_000).map(|n| 1e9 + f64::from(n % 2)));
        assert!((mean.unwrap() - 1_000_000_000.5).abs() < 1e-6);
        assert!((deviation.unwrap() - 0.500_025).abs() < 1e-6, "{deviation:?}");
    }

    #[test]
    fn a_first_number_that_is_an_outlier_does_not_spoil_the_rest() {
        let (_, deviation) = of(std::iter::once(-1e15).chain((0..4096).map(|n| 5.0 + f64::from(n % 3))));
        assert!((deviation.unwrap() / (1e15 / 4097_f64.sqrt()) - 1.0).abs() < 1e-6, "{deviation:?}");
        let (mean, deviation) = of((0..3000).map(f64::from));
        assert!((mean.unwrap() - 1499.5).abs() < 1e-9);
        assert!((deviation.unwrap() - 866.169_729).abs() < 1e-6);
    }

    #[test]
    fn what_is_not_defined_is_not_given() {
        assert_eq!(of([]), (None, None));
        assert_eq!(of([2.0]), (Some(2.0), None));
        assert_eq!(of([2.0, 2.0]), (Some(2.0), Some(0.0)));
        assert_eq!(of([f64::MAX, -f64::MAX]).1, None);
    }
}
