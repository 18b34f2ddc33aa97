//! How much of the budget is left, and for how many trials.

use std::time::{Duration, Instant};

use crate::plan::{CONFIRMATION_BLOCKS, CONFIRMATION_SHARE};

/// What opening, draining and waiting add to a trial, until that is known.
const AROUND: Duration = Duration::from_millis(500);

/// The time of a tuning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    started: Instant,
    budget: Duration,
    /// What an arm takes in a block, all workloads once, by the plan.
    nominal: Duration,
    /// The same as it was in the slowest block so far: a confirmation that comes out too short proves nothing.
    measured: Option<Duration>,
}

impl Clock {
    /// Starts; `once` are the ramps and measured parts of all workloads.
    pub(super) fn start(budget: Duration, once: Duration) -> Self {
        Self { started: Instant::now(), budget, nominal: once + AROUND, measured: None }
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
    pub(super) fn each(&self) -> Duration {
        self.measured.unwrap_or(self.nominal)
    }

    /// Takes note of how long a block of so many arms took, with all that there is around its trials.
    pub(super) fn learn(&mut self, took: Duration, arms: usize) {
        self.measured = self.measured.max(Some(took / arms.max(1) as u32));
    }

    /// What is left for the search.
    pub(super) fn for_search(&self) -> Duration {
        let kept = (self.budget / CONFIRMATION_SHARE).max(self.each() * (2 * CONFIRMATION_BLOCKS));
        self.left().saturating_sub(kept)
    }

    /// How many arms that is in blocks.
    pub(super) fn room(&self) -> usize {
        (self.for_search().as_secs_f64() / self.each().as_secs_f64()) as usize
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
        clock.learn(second(20), 2);
        assert_eq!(clock.room(), 4, "one block was faster, and the next may be slow again");
        clock.learn(second(400), 2);
        assert_eq!(clock.room(), 0);
    }

    #[test]
    fn trials_that_are_faster_than_planned_make_room_for_more() {
        let second = Duration::from_secs;
        let mut clock = Clock::start(second(300), second(10) - AROUND);
        clock.learn(second(20), 4);
        assert_eq!(clock.room(), 39, "of 5 s each, in 200 s but a moment");
    }
}
