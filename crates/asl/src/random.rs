//! Randomness that can be repeated: everything is drawn from the seed of the execution.

/// A sequence of numbers that follows from its seed (SplitMix64).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number from zero to one below `end`, which is not zero.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        let wide = u128::from(self.next()) * u128::from(end);
        u64::try_from(wide >> 64).expect("the upper half of a 128-bit product fits in 64 bits")
    }

    /// A number from 0 up to but not including 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a float exactly")]
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A version 4 UUID.
    pub(crate) fn uuid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0x0fff,
            0x8000 | ((low >> 48) & 0x3fff),
            low & 0xffff_ffff_ffff,
        )
    }
}

/// Spreads a number over all 64 bits.
pub(crate) fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
