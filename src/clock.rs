//! The one clock that stamps every I/O of every lane.

use std::time::{Duration, Instant};

use crate::lane::Counter;

/// A source of time; the load loop is generic over it, so that tests can run on a virtual one.
pub trait Clock {
    /// The current time.
    fn now(&self) -> Instant;

    /// The current time in ns since a moment of the clock's own choice, for stamps: not for adding to an [`Instant`],
    /// from which it may part by a millisecond in some seconds.
    fn now_ns(&self) -> u64;
}

/// The system's monotonic clock. Stamps are read from the processor's own counter where the kernel does the same, for
/// a stamp is taken once or twice for every I/O.
#[derive(Clone, Copy, Debug)]
pub struct Monotonic {
    start: Instant,
    counter: Option<Counter>,
}

impl Monotonic {
    /// The clock, with stamps that count from now. The first one of a process sleeps for some 20 ms.
    #[must_use]
    pub fn new() -> Self {
        let counter = Counter::start();
        Self { start: Instant::now(), counter }
    }
}

impl Default for Monotonic {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for Monotonic {
    #[inline]
    fn now(&self) -> Instant {
        Instant::now()
    }

    #[inline]
    fn now_ns(&self) -> u64 {
        match &self.counter {
            Some(counter) => counter.elapsed_ns(),
            None => nanoseconds(self.start.elapsed()),
        }
    }
}

/// Up to 584 years, which none of our times reaches.
#[inline]
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    duration.as_secs().saturating_mul(1_000_000_000).saturating_add(duration.subsec_nanos().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both readings of one moment: the best of some, for the thread may be put off the processor between them.
    fn moment(clock: &Monotonic) -> (Instant, u64) {
        let read = |_| {
            let (before, now, after) = (clock.now_ns(), clock.now(), clock.now_ns());
            (after - before, now, before.midpoint(after))
        };
        let (_, now, now_ns) = (0..100).map(read).min_by_key(|(width, ..)| *width).expect("readings");
        (now, now_ns)
    }

    #[test]
    fn stamps_tell_the_systems_time() {
        let clock = Monotonic::new();
        let (start, start_ns) = moment(&clock);
        std::thread::sleep(Duration::from_millis(200));
        let (end, end_ns) = moment(&clock);
        let ratio = (end_ns - start_ns) as f64 / (end - start).as_nanos() as f64;
        assert!((ratio - 1.0).abs() < 1e-4, "{ratio}");
    }

    #[test]
    fn stamps_never_go_back() {
        let clock = Monotonic::new();
        let mut last_ns = 0;
        for _ in 0..1_000_000 {
            let now_ns = clock.now_ns();
            assert!(now_ns >= last_ns);
            last_ns = now_ns;
        }
    }
}
