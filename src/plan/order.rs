//! The order of trials.

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Order, RunSpec, TrialPlan};

/// All trials in the order of the run.
pub(super) fn trials(run: &RunSpec, arms: usize, workloads: usize) -> Vec<TrialPlan> {
    match run.order {
        Order::Sequential => sequential(run.repeats, arms, workloads),
        Order::Interleaved | Order::Sliced => interleaved(run, arms, workloads),
    }
}

fn sequential(repeats: u32, arms: usize, workloads: usize) -> Vec<TrialPlan> {
    let pairs = (0..arms).flat_map(|arm| (0..workloads).map(move |workload| (arm, workload)));
    pairs
        .flat_map(|(arm, workload)| (0..repeats).map(move |repeat| TrialPlan { arm, workload, repeat }))
        .collect()
}

/// Blocks that hold every arm once. The repeats of a workload are spread over the whole run.
fn interleaved(run: &RunSpec, arms: usize, workloads: usize) -> Vec<TrialPlan> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(run.seed);
    let mut orders = vec![BlockOrders::new(arms); workloads];
    let mut trials = Vec::new();
    for repeat in 0..run.repeats {
        for (workload, orders) in orders.iter_mut().enumerate() {
            let block = orders.draw(&mut random);
            trials.extend(block.into_iter().map(|arm| TrialPlan { arm, workload, repeat }));
        }
    }
    trials
}

/// The orders of the arms in the blocks of one workload, drawn one after the other.
///
/// They are random, so that neither drift nor the place in a block favours an arm. In few blocks chance might still put
/// one arm first in all of them, and drift would pass for its doing; so the third and the fourth block reverse the first
/// and the second.
#[derive(Clone, Debug)]
pub struct BlockOrders {
    arms: usize,
    drawn: Vec<Vec<usize>>,
}

impl BlockOrders {
    /// The orders of so many arms.
    #[must_use]
    pub const fn new(arms: usize) -> Self {
        Self { arms, drawn: Vec::new() }
    }

    /// The order of the next block: every arm once, from 0.
    pub fn draw(&mut self, random: &mut impl Rng) -> Vec<usize> {
        let mut block: Vec<usize> = (0..self.arms).collect();
        match self.drawn.len() {
            past @ (2 | 3) => {
                block.clone_from(&self.drawn[past - 2]);
                block.reverse();
            }
            _ => block.shuffle(random),
        }
        self.drawn.push(block.clone());
        block
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::plan::OnError;

    fn run(order: Order, repeats: u32, seed: u64) -> RunSpec {
        RunSpec {
            repeats,
            until_decided: false,
            budget: None,
            order,
            slice: Duration::from_secs(3),
            seed,
            drop_caches: false,
            cache: None,
            on_error: OnError::Stop,
            stall: Duration::from_secs(120),
            retries: 2,
        }
    }

    #[test]
    fn a_block_holds_every_arm_once() {
        let plan = trials(&run(Order::Interleaved, 4, 7), 3, 2);
        assert_eq!(plan.len(), 24);
        for block in plan.chunks(3) {
            let mut arms: Vec<usize> = block.iter().map(|trial| trial.arm).collect();
            arms.sort_unstable();
            assert_eq!(arms, [0, 1, 2]);
            assert!(
                block
                    .iter()
                    .all(|trial| (trial.workload, trial.repeat) == (block[0].workload, block[0].repeat))
            );
        }
    }

    #[test]
    fn few_blocks_never_have_one_arm_first_in_all_of_them() {
        for seed in 0..100 {
            let plan = trials(&run(Order::Interleaved, 4, seed), 3, 1);
            let blocks: Vec<Vec<usize>> =
                plan.chunks(3).map(|block| block.iter().map(|trial| trial.arm).collect()).collect();
            let reversed = |block: &[usize]| block.iter().rev().copied().collect::<Vec<_>>();
            assert_eq!(blocks[2], reversed(&blocks[0]));
            assert_eq!(blocks[3], reversed(&blocks[1]));
        }
    }

    #[test]
    fn the_seed_decides_the_order() {
        let order = |seed| trials(&run(Order::Interleaved, 8, seed), 4, 1);
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }

    #[test]
    fn each_arm_is_first_about_equally_often() {
        let plan = trials(&run(Order::Interleaved, 3000, 5), 3, 1);
        for arm in 0..3 {
            let first = plan.chunks(3).filter(|block| block[0].arm == arm).count();
            assert!((900..1100).contains(&first), "arm {arm} is first in {first} of 3000 blocks");
        }
    }

    #[test]
    fn sequential_ends_with_an_arm_before_the_next() {
        let arms: Vec<usize> =
            trials(&run(Order::Sequential, 2, 1), 2, 2).iter().map(|trial| trial.arm).collect();
        assert_eq!(arms, [0, 0, 0, 0, 1, 1, 1, 1]);
    }
}
