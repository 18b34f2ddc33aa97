//! Tunings of objectives whose truth is known.

use cephmark::compare;
use cephmark::plan::CONFIRMATION_SHARE;
use cephmark::result::{Figures, Ops, ResultFile, Status, Timestamp, Trial};
use cephmark::stats::Looks;
use cephmark::tune::{Conclusion, Race};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;

/// An objective: the true figure of each setting, the current one first, and the noise of a trial as a share of it.
struct World<'a> {
    truth: &'a [f64],
    noise: f64,
    random: Xoshiro256PlusPlus,
}

impl World<'_> {
    /// The figures of a block, all of it faster or slower by what the cluster does at the time.
    fn block(&mut self, arms: &[usize]) -> Vec<Option<f64>> {
        let mut draw = || -> f64 { StandardNormal.sample(&mut self.random) };
        let common = draw() * 0.1;
        let mut block = vec![None; self.truth.len()];
        for arm in arms {
            block[*arm] = Some(self.truth[*arm] * (common + draw() * self.noise).exp());
        }
        block
    }
}

/// What a tuning came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuned {
    pub(crate) best: usize,
    pub(crate) conclusion: Conclusion,
    /// Trials of the search and of the confirmation.
    pub(crate) trials: usize,
}

/// Tunes with a budget of so many trials.
pub(crate) fn tune(truth: &[f64], noise: f64, budget: usize, seed: u64) -> Tuned {
    let mut world = World { truth, noise, random: Xoshiro256PlusPlus::seed_from_u64(seed) };
    let mut race = Race::new(truth.len() - 1, 0.03);
    let for_search = budget - budget / CONFIRMATION_SHARE as usize;
    let mut trials = 0;
    while let Some(step) = race.next(for_search - trials) {
        let logs =
            |block: Vec<Option<f64>>| block.into_iter().map(|figure| figure.map(f64::ln)).collect::<Vec<_>>();
        let blocks: Vec<_> = (0..step.blocks).map(|_| logs(world.block(&step.arms))).collect();
        trials += step.arms.len() * blocks.len();
        race.take(blocks);
    }
    assert!(trials <= for_search, "{trials} of {for_search}");
    let best = race.leader().expect("all were measured");
    let (conclusion, more) = confirm(&mut world, best, (budget - trials) / 2);
    Tuned { best, conclusion, trials: trials + more }
}

/// Confirms in at most so many blocks, as a run with `repeats: auto` does.
fn confirm(world: &mut World<'_>, best: usize, most: usize) -> (Conclusion, usize) {
    let profile = json!({"compare": {"baseline": "current", "metrics": ["iops"]}});
    let mut result = ResultFile::new(profile, Timestamp::now());
    let most = most.min(60) as u32;
    result.most_repeats = Some(most);
    let looks = Looks::until(most);
    for repeat in 0..most {
        let block = world.block(&[0, best]);
        for (arm, place) in [("current", 0), ("best", best)] {
            result.trials.push(trial(arm, repeat, block[place].expect("it ran")));
        }
        result.comparisons = compare::within_run(&result);
        if looks.is_one(repeat + 1) && compare::open(&result).is_empty() {
            break;
        }
    }
    (Conclusion::of(&result.comparisons), result.trials.len())
}

fn trial(arm: &str, repeat: u32, iops: f64) -> Trial {
    let figures = Figures { ios: 1, iops, ..Figures::default() };
    Trial {
        arm: arm.to_owned(),
        target: "t".to_owned(),
        workload: "w".to_owned(),
        repeat,
        status: Status::Valid,
        jobs: [(String::new(), Ops::from([("read".to_owned(), figures)]))].into(),
        ..Trial::failed()
    }
}

/// The setting that is best in [`known_best`].
pub(crate) const BEST: usize = 5;

/// Twelve settings and the current one, of which one is better than any other by a fifth at least.
pub(crate) fn known_best(seed: u64) -> Vec<f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(!seed);
    let mut truth: Vec<f64> = (0..13).map(|_| random.random_range(1000.0..1250.0)).collect();
    (truth[0], truth[BEST]) = (1000.0, 1500.0);
    truth
}

/// Twelve settings that are all like the current one.
pub(crate) const EQUAL: [f64; 13] = [1000.0; 13];

impl Tuned {
    /// Whether it claims any difference.
    pub(crate) fn claims(&self) -> bool {
        matches!(self.conclusion, Conclusion::Better | Conclusion::Worse)
    }

    /// Whether it found [`BEST`] and proved it.
    pub(crate) fn found(&self) -> bool {
        self.best == BEST && self.conclusion == Conclusion::Better
    }
}
