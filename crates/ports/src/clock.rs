//! Time and identity: asked for, never taken.

use model::{RunId, Timestamp};

/// The time of day. The only place that reads a clock.
pub trait Clock: Send + Sync {
    /// Now. May step back; whoever measures spans must not turn negative (see [`model::Span::between`]).
    fn now(&self) -> Timestamp;
}

/// New ids. The only source of randomness.
pub trait Ids: Send + Sync {
    /// A run id that sorts after every earlier one of this source.
    fn run(&self, now: Timestamp) -> RunId;
}
