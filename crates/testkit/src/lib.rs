//! For tests only: a clock that stands still, ids from a seed, and ports that fail when told to.

mod clock;
mod fault;
mod ids;

pub use clock::FixedClock;
pub use fault::FailsAt;
pub use ids::SeededIds;
