//! The one clock that stamps every I/O of every lane.

use std::time::Instant;

/// A source of time; the load loop is generic over it, so that tests can run on a virtual one.
pub trait Clock {
    /// The current time.
    fn now(&self) -> Instant;
}

/// The system's monotonic clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Monotonic;

impl Clock for Monotonic {
    #[inline]
    fn now(&self) -> Instant {
        Instant::now()
    }
}
