//! A clock that only moves when nothing else is left to do, and a lane on it whose delays are known: what a driver
//! measures can be compared with the truth to the nanosecond.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use cephmark::clock::Clock;
use cephmark::lane::{Done, Io, Lane, LaneError};
use nix::errno::Errno;

/// Time that stands still until the lane waits.
#[derive(Clone, Debug)]
pub(crate) struct VirtualClock {
    start: Instant,
    now: Rc<Cell<Instant>>,
}

impl VirtualClock {
    pub(crate) fn new() -> Self {
        let start = Instant::now();
        Self { start, now: Rc::new(Cell::new(start)) }
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.now.set(self.now.get() + by);
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Instant {
        self.now.get()
    }

    fn now_ns(&self) -> u64 {
        u64::try_from((self.now.get() - self.start).as_nanos()).expect("a test takes no century")
    }
}

/// What becomes of an I/O that is pushed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fate {
    /// How long `push` blocks.
    pub(crate) push: Duration,
    /// From the end of `push` to completion.
    pub(crate) delay: Duration,
    /// Its result, by its length.
    pub(crate) result: fn(u32) -> Result<u32, Errno>,
}

impl Fate {
    pub(crate) fn after(delay: Duration) -> Self {
        Self { push: Duration::ZERO, delay, result: Ok }
    }
}

/// A lane that completes every I/O after a delay that `fate` gives, from the time since the lane was made.
pub(crate) struct KnownDelays<F> {
    clock: VirtualClock,
    made: Instant,
    fate: F,
    /// Completion time, order of sending, slot.
    due: BinaryHeap<Reverse<(Instant, u64, u32)>>,
    flying: Vec<Option<Done>>,
    pushed: u64,
}

impl<F: FnMut(Duration, &Io) -> Fate> KnownDelays<F> {
    pub(crate) fn new(clock: &VirtualClock, iodepth: u32, fate: F) -> Self {
        let flying = (0..iodepth).map(|_| None).collect();
        Self { clock: clock.clone(), made: clock.now(), fate, due: BinaryHeap::new(), flying, pushed: 0 }
    }
}

impl<F: FnMut(Duration, &Io) -> Fate> Lane for KnownDelays<F> {
    fn push(&mut self, io: Box<Io>) {
        let fate = (self.fate)(self.clock.now() - self.made, &io);
        self.clock.advance(fate.push);
        self.due.push(Reverse((self.clock.now() + fate.delay, self.pushed, io.slot)));
        self.pushed += 1;
        let slot = io.slot as usize;
        assert!(self.flying[slot].is_none(), "slot {slot} is in flight already");
        self.flying[slot] = Some(Done { result: (fate.result)(io.len), io });
    }

    fn reap(&mut self, until: Instant, mut done: impl FnMut(Done)) -> Result<(), LaneError> {
        let first = self.due.peek().map_or(until, |Reverse((at, _, _))| *at);
        let wake = first.min(until);
        if wake > self.clock.now() {
            self.clock.now.set(wake);
        }
        while let Some(&Reverse((at, _, slot))) = self.due.peek()
            && at <= self.clock.now()
        {
            self.due.pop();
            done(self.flying[slot as usize].take().expect("in flight"));
        }
        Ok(())
    }

    fn in_flight(&self) -> u32 {
        self.due.len() as u32
    }

    fn set_drain_deadline(&mut self, _deadline: Duration) {
        // Dropping this lane drops its memory, which nobody else uses.
    }
}
