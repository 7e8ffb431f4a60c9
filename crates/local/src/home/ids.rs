//! New ids.

use std::sync::{Mutex, PoisonError};

use model::{RunId, Timestamp};
use ports::Ids;
use rustix::rand::{GetRandomFlags, getrandom};

/// Bits below the time, the version and the variant: 12 and 62.
const TAIL_BITS: u32 = 74;

/// Random ids in the layout of UUID version 7: 48 bits of milliseconds, then random bits.
///
/// Each id is greater than every earlier one of the same source, also when the clock steps back: then the last
/// millisecond stays and the random part counts on.
#[derive(Debug, Default)]
pub struct RandomIds {
    last: Mutex<Moment>,
}

/// Where the last id stood.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Moment {
    millis: u64,
    tail: u128,
}

impl Moment {
    /// The moment of a new id at `millis`, whose random bits come from `random`.
    fn next(self, millis: u64, random: u128) -> Moment {
        // The highest bit stays free, so that a burst within one millisecond has room to count.
        let fresh = random & ((1 << (TAIL_BITS - 1)) - 1);
        if millis > self.millis {
            return Moment { millis, tail: fresh };
        }
        let tail = self.tail + 1 + (random & 0xffff_ffff);
        if tail >> TAIL_BITS == 0 { Moment { tail, ..self } } else { Moment { millis: self.millis + 1, tail: fresh } }
    }

    /// The 128 bits with version 7 and variant `10` in their places.
    fn bits(self) -> u128 {
        let (high, low) = (self.tail >> 62, self.tail & ((1 << 62) - 1));
        u128::from(self.millis) << 80 | 7 << 76 | high << 64 | 0b10 << 62 | low
    }
}

impl Ids for RandomIds {
    fn run(&self, now: Timestamp) -> RunId {
        let millis = u64::try_from(now.as_millisecond()).unwrap_or(0);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = last.next(millis, random());
        RunId::from_bits(last.bits())
    }
}

fn random() -> u128 {
    let mut bytes = [0_u8; 16];
    let got = getrandom(&mut bytes, GetRandomFlags::empty()).expect("the kernel gives 16 random bytes at once");
    assert_eq!(got, bytes.len(), "the kernel gives at least 256 bytes whole");
    u128::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_grow_when_the_clock_steps_back() {
        let ids = RandomIds::default();
        let mut last = ids.run(Timestamp::UNIX_EPOCH);
        for second in [5, 5, 3, 0, -7, 6, 6] {
            let next = ids.run(Timestamp::from_second(1_700_000_000 + second).unwrap());
            assert!(next > last, "{next} is not after {last}");
            last = next;
        }
    }

    #[test]
    fn a_burst_in_one_millisecond_stays_in_order_and_in_the_layout() {
        let ids = RandomIds::default();
        let now = Timestamp::from_second(1_700_000_000).unwrap();
        let burst: Vec<RunId> = (0..10_000).map(|_| ids.run(now)).collect();
        assert!(burst.is_sorted_by(|one, next| one < next));
        for id in burst {
            assert_eq!((id.bits() >> 76 & 0xf, id.bits() >> 62 & 0b11), (7, 0b10));
            assert_eq!(id.bits() >> 80, 1_700_000_000_000);
        }
    }

    #[test]
    fn a_full_random_part_borrows_the_next_millisecond() {
        let full = Moment { millis: 9, tail: (1 << TAIL_BITS) - 1 };
        let next = full.next(9, u128::MAX);
        assert_eq!(next.millis, 10);
        assert!(next.bits() > full.bits());
    }
}
