//! A clock in the hands of the test.

use std::sync::{Mutex, PoisonError};

use model::{Span, Timestamp};
use ports::Clock;

/// A clock that stands still until the test sets it or lets time pass.
#[derive(Debug)]
pub struct FixedClock {
    now: Mutex<Timestamp>,
}

impl FixedClock {
    /// A clock that shows `now`.
    pub fn at(now: Timestamp) -> FixedClock {
        FixedClock { now: Mutex::new(now) }
    }

    /// Shows `now` from here on; it may lie in the past.
    pub fn set(&self, now: Timestamp) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// Lets time pass.
    pub fn pass(&self, span: Span) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        *now = span.after(*now);
    }
}

impl Default for FixedClock {
    /// The first second of 2026, UTC.
    fn default() -> FixedClock {
        FixedClock::at(Timestamp::from_second(1_767_225_600).expect("the literal lies within the calendar"))
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
