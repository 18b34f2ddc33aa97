//! Tunings of objectives whose truth is known: the search finds the best, and the confirmation claims no more than it may.

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;

use super::outcome::Conclusion;
use super::race::Race;
use crate::compare;
use crate::plan::CONFIRMATION_SHARE;
use crate::result::{Figures, Ops, ResultFile, Status, Timestamp, Trial};
use crate::stats::Looks;

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
struct Tuned {
    best: usize,
    conclusion: Conclusion,
    trials: usize,
}

/// Tunes with a budget of so many trials.
fn tune(truth: &[f64], noise: f64, budget: usize, seed: u64) -> Tuned {
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

/// How many of so many tunings are as asked.
fn count(seeds: u64, of: impl Fn(u64) -> bool) -> u64 {
    (0..seeds).map(|seed| u64::from(of(seed))).sum()
}

/// Twelve settings, of which number 5 is better than any other by a fifth at least.
fn known_best(seed: u64) -> Vec<f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(!seed);
    let mut truth: Vec<f64> = (0..13).map(|_| random.random_range(1000.0..1250.0)).collect();
    (truth[0], truth[5]) = (1000.0, 1500.0);
    truth
}

#[test]
fn a_known_best_is_found_and_confirmed_within_the_budget() {
    for (noise, least) in [(0.05, 98), (0.10, 90)] {
        let found = count(100, |seed| {
            let tuned = tune(&known_best(seed), noise, 120, seed);
            tuned.best == 5 && tuned.conclusion == Conclusion::Better
        });
        assert!(found >= least, "noise {noise}: {found} of 100");
    }
}

#[test]
fn where_nothing_matters_nothing_is_proven() {
    for noise in [0.02, 0.10] {
        let truth = [1000.0; 13];
        let claimed = count(400, |seed| {
            let conclusion = tune(&truth, noise, 120, seed).conclusion;
            matches!(conclusion, Conclusion::Better | Conclusion::Worse)
        });
        assert!(claimed <= 20, "noise {noise}: {claimed} of 400 claim a difference");
    }
}

#[test]
fn what_is_plain_takes_no_more_trials_than_it_must() {
    let mut truth = [1000.0; 9];
    truth[5] = 3000.0;
    let tuned = |seed| tune(&truth, 0.05, 200, seed);
    assert_eq!(count(50, |seed| tuned(seed).best == 5 && tuned(seed).conclusion == Conclusion::Better), 50);
    let used: usize = (0..50).map(|seed| tuned(seed).trials).sum();
    // All settings twice, and three blocks of two.
    assert!(used / 50 < 30, "{} of 200 trials", used / 50);
}

#[test]
fn one_setting_has_nobody_to_race_with() {
    let tuned = tune(&[1000.0, 1300.0], 0.05, 60, 1);
    assert_eq!((tuned.best, tuned.conclusion), (1, Conclusion::Better));
}
