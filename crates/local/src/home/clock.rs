//! The time of day.

use model::Timestamp;
use ports::Clock;

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this adapter is what everybody else asks for the time")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}
