//! The places of a few special bytes in a buffer, 64 bytes at a time.

/// Finds three bytes in a buffer, in order. It only remembers where it is, so that the buffer may grow behind it.
#[derive(Debug)]
pub(super) struct Marks {
    wanted: [u8; 3],
    /// Marks of the current block that were not handed out yet, one bit a byte.
    mask: u64,
    block: usize,
    next: usize,
}

impl Marks {
    pub(super) fn new(wanted: [u8; 3]) -> Self {
        Self { wanted, mask: 0, block: 0, next: 0 }
    }

    /// Goes on at another place.
    pub(super) fn restart(&mut self, at: usize) {
        (self.mask, self.block, self.next) = (0, at, at);
    }

    /// The place of the next mark; `None` at the end of the buffer.
    #[inline]
    pub(super) fn next(&mut self, buffer: &[u8]) -> Option<usize> {
        while self.mask == 0 {
            self.block = self.next;
            let rest = buffer.get(self.block..).unwrap_or_default();
            if let Some(block) = rest.first_chunk::<64>() {
                self.mask = mask(block, self.wanted);
                self.next = self.block + 64;
            } else if rest.is_empty() {
                return None;
            } else {
                let mut padded = [0; 64];
                padded[..rest.len()].copy_from_slice(rest);
                // The padding may look like a mark; it is cut off.
                self.mask = mask(&padded, self.wanted) & (u64::MAX >> (64 - rest.len()));
                self.next = self.block + rest.len();
            }
        }
        let bit = self.mask.trailing_zeros() as usize;
        self.mask &= self.mask - 1;
        Some(self.block + bit)
    }
}

/// One bit for each byte that is one of the wanted.
#[inline]
fn mask(block: &[u8; 64], wanted: [u8; 3]) -> u64 {
    let mut found = [0_u8; 64];
    for (found, byte) in found.iter_mut().zip(block) {
        *found = u8::from((*byte == wanted[0]) | (*byte == wanted[1]) | (*byte == wanted[2]));
    }
    let mut mask = 0;
    for (index, eight) in found.chunks_exact(8).enumerate() {
        let word = eight.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        // The product gathers the lowest bits of the eight bytes in its highest byte, the first one lowest.
        mask |= (word.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (index * 8);
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_is_found_once_and_in_order() {
        for length in [0, 1, 63, 64, 65, 200] {
            let buffer: Vec<u8> = (0..length).map(|n| b"a,b\"c\nd,,"[n * n % 9]).collect();
            let mut marks = Marks::new([b',', b'"', b'\n']);
            let mut found = Vec::new();
            while let Some(at) = marks.next(&buffer) {
                found.push(at);
            }
            let expected: Vec<usize> = (0..length).filter(|at| matches!(buffer[*at], b',' | b'"' | b'\n')).collect();
            assert_eq!(found, expected, "length {length}");
        }
    }

    #[test]
    fn the_padding_of_the_last_block_is_no_mark() {
        let mut marks = Marks::new([0, 0, 0]);
        assert_eq!(marks.next(b"abc"), None);
        marks.restart(1);
        assert_eq!(marks.next(b"a\0"), Some(1));
    }
}
