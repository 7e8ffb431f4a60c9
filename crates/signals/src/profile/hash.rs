//! The hash behind distinct values and repeated rows.
//!
//! It is our own so that it never changes: the same bytes must give the same document with every version of every
//! dependency. Folded multiplication: two halves of a 128-bit product, xored. Not for hostile input.

const SEEDS: [u64; 4] = [0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03, 0xA24B_AED4_963E_E407, 0x8EBC_6AF0_9C88_C6E3];

/// The hash of a cell without a value.
pub(super) const NULL: u64 = 0x5851_F42D_4C95_7F2D;

/// A 64-bit hash of the bytes, even in all its bits.
#[inline]
pub(super) fn bytes(data: &[u8]) -> u64 {
    let length = data.len() as u64;
    let (low, high) = match data.len() {
        0..=3 => (short(data), 0),
        4..=7 => (u64::from(first4(data)), u64::from(last4(data))),
        8..=16 => (first8(data), last8(data)),
        _ => return long(data),
    };
    finish(low ^ SEEDS[0], high ^ SEEDS[1], length)
}

/// One hash of two, in their order.
#[inline]
pub(super) fn join(left: u64, right: u64) -> u64 {
    fold(left.rotate_left(23) ^ SEEDS[2], right ^ SEEDS[3])
}

/// The hash of a number or of another hash, in a family of its own for each `salt`.
#[inline]
pub(super) fn salted(value: u64, salt: u64) -> u64 {
    finish(value ^ SEEDS[0], salt ^ SEEDS[1], 8)
}

fn long(data: &[u8]) -> u64 {
    let (mut left, mut right) = (SEEDS[0], SEEDS[1]);
    let mut rest = data;
    while let Some((block, tail)) = rest.split_first_chunk::<16>() {
        left = fold(first8(block) ^ SEEDS[2], last8(block) ^ left);
        right = right.rotate_left(29) ^ left;
        rest = tail;
    }
    // The last 16 bytes once more: they cover what did not fill a block.
    let tail = &data[data.len() - 16..];
    finish(left ^ first8(tail), right ^ last8(tail), data.len() as u64)
}

#[inline]
fn finish(low: u64, high: u64, length: u64) -> u64 {
    fold(fold(low, high) ^ SEEDS[2], length ^ SEEDS[3])
}

#[inline]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    (product as u64) ^ ((product >> 64) as u64)
}

#[inline]
fn short(data: &[u8]) -> u64 {
    data.iter().fold(0, |word, byte| (word << 8) | u64::from(*byte))
}

#[inline]
fn first4(data: &[u8]) -> u32 {
    data.first_chunk().map_or(0, |chunk| u32::from_le_bytes(*chunk))
}

#[inline]
fn last4(data: &[u8]) -> u32 {
    data.last_chunk().map_or(0, |chunk| u32::from_le_bytes(*chunk))
}

#[inline]
fn first8(data: &[u8]) -> u64 {
    data.first_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk))
}

#[inline]
fn last8(data: &[u8]) -> u64 {
    data.last_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_hash_of_a_text_is_the_same_for_ever() {
        let known = ["", "a", "2026", "Zürich", "0123456789abcdef", "0123456789abcdefg"].map(|text| bytes(text.as_bytes()));
        let expected = [
            8_882_194_491_899_905_493,
            12_401_708_059_219_331_644,
            8_067_547_100_764_937_313,
            10_646_816_517_927_720_587,
            4_542_766_181_322_253_838,
            12_174_041_404_673_800_673,
        ];
        assert_eq!(known, expected);
    }

    #[test]
    fn many_numbers_as_text_do_not_collide_and_fill_all_bits() {
        let mut seen = HashSet::new();
        let mut ones = [0_u32; 64];
        for number in 0..200_000_u32 {
            let hash = bytes(number.to_string().as_bytes());
            assert!(seen.insert(hash), "{number}");
            for (bit, count) in ones.iter_mut().enumerate() {
                *count += u32::from(hash >> bit & 1 == 1);
            }
        }
        assert!(ones.iter().all(|count| (98_500..101_500).contains(count)), "{ones:?}");
    }

    #[test]
    fn every_byte_and_the_length_count() {
        for length in 1..80 {
            let text = vec![7_u8; length];
            let mut seen = HashSet::from([bytes(&text), bytes(&text[1..])]);
            for at in 0..length {
                let mut other = text.clone();
                other[at] = 8;
                seen.insert(bytes(&other));
            }
            assert_eq!(seen.len(), length + 2, "length {length}");
        }
    }
}
