//! How many rows repeat an earlier one.

/// A hash of every row. Sorting them at the end finds the repeats exactly (but for hashes that collide by chance: about one
/// in a million at six million rows) at 8 bytes a row.
#[derive(Debug)]
pub(super) struct Repeats {
    hashes: Vec<u64>,
    limit: usize,
    overflowed: bool,
}

impl Repeats {
    pub(super) fn new(limit: usize) -> Self {
        Self { hashes: Vec::new(), limit, overflowed: false }
    }

    #[inline]
    pub(super) fn add(&mut self, hash: u64) {
        if self.hashes.len() < self.limit {
            self.hashes.push(hash);
        } else if !self.overflowed {
            self.overflowed = true;
            self.hashes = Vec::new();
            self.limit = 0;
        }
    }

    /// Rows minus distinct rows; `None` when there were more rows than the limit.
    pub(super) fn count(mut self) -> Option<u64> {
        if self.overflowed {
            return None;
        }
        self.hashes.sort_unstable();
        Some(self.hashes.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_rows_minus_distinct_rows() {
        let mut repeats = Repeats::new(10);
        [3, 1, 3, 3, 2, 1].into_iter().for_each(|hash| repeats.add(hash));
        assert_eq!(repeats.count(), Some(3));
    }

    #[test]
    fn beyond_the_limit_nothing_is_claimed() {
        let mut repeats = Repeats::new(2);
        [1, 1, 1].into_iter().for_each(|hash| repeats.add(hash));
        assert_eq!(repeats.count(), None);
    }
}
