//! How much of the budget is left, and for how many trials.

use std::time::{Duration, Instant};

use crate::plan::{CONFIRMATION_BLOCKS, CONFIRMATION_SHARE};

/// What opening and closing add to a trial, until that is known.
const AROUND: Duration = Duration::from_millis(500);

/// The time of a tuning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    started: Instant,
    budget: Duration,
    /// What an arm takes in a block: all workloads, once.
    each: Duration,
}

impl Clock {
    /// Starts; `once` are the ramps and measured parts of all workloads.
    pub(super) fn start(budget: Duration, once: Duration) -> Self {
        Self { started: Instant::now(), budget, each: once + AROUND }
    }

    /// Time since the start.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Time until the budget is spent.
    pub(super) fn left(&self) -> Duration {
        self.budget.saturating_sub(self.elapsed())
    }

    /// What an arm takes in a block.
    pub(super) const fn each(&self) -> Duration {
        self.each
    }

    /// Takes note of how long so many arms took in blocks.
    pub(super) fn learn(&mut self, took: Duration, arms: usize) {
        if arms > 0 {
            self.each = took / arms as u32;
        }
    }

    /// What is left for the search.
    pub(super) fn for_search(&self) -> Duration {
        let kept = (self.budget / CONFIRMATION_SHARE).max(self.each * (2 * CONFIRMATION_BLOCKS));
        self.left().saturating_sub(kept)
    }

    /// How many arms that is in blocks.
    pub(super) fn room(&self) -> usize {
        (self.for_search().as_secs_f64() / self.each.as_secs_f64()) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_confirmation_keeps_a_third_or_five_blocks_of_two() {
        let second = Duration::from_secs;
        let mut clock = Clock::start(second(300), second(10) - AROUND);
        assert_eq!(clock.each(), second(10));
        assert_eq!(clock.room(), 19, "200 s but the moment since the start");
        clock.learn(second(40), 2);
        assert_eq!(clock.room(), 4, "five blocks of two take 200 s now");
        clock.learn(second(400), 2);
        assert_eq!(clock.room(), 0);
    }
}
