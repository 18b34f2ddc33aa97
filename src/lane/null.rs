//! The lane that does nothing: every I/O is complete once it is pushed. It measures cephmark itself, as fio's null
//! engine does fio.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::{Done, Io, Lane, LaneError};

/// A ring of I/Os that are finished already. Reads leave the buffer as it was.
#[derive(Debug)]
pub struct NullLane {
    finished: VecDeque<Box<Io>>,
}

impl NullLane {
    /// A lane for `iodepth` I/Os.
    #[must_use]
    pub fn new(iodepth: u32) -> Self {
        Self { finished: VecDeque::with_capacity(iodepth as usize) }
    }
}

impl Lane for NullLane {
    #[inline]
    fn push(&mut self, io: Box<Io>) {
        self.finished.push_back(io);
    }

    #[inline]
    fn reap(&mut self, until: Instant, mut done: impl FnMut(Done)) -> Result<(), LaneError> {
        if self.finished.is_empty() {
            std::thread::sleep(until.saturating_duration_since(Instant::now()));
        }
        while let Some(io) = self.finished.pop_front() {
            done(Done { result: Ok(io.len), io });
        }
        Ok(())
    }

    #[inline]
    fn in_flight(&self) -> u32 {
        self.finished.len() as u32
    }

    fn set_drain_deadline(&mut self, _deadline: Duration) {
        // Nothing is ever in flight, so there is nothing to wait for.
    }
}
