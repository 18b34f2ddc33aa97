//! Verdicts where the truth is known: what examples/calibrate prints, with fewer draws and with bounds.

#[path = "../examples/calibrate/claims.rs"]
mod claims;
#[path = "../examples/calibrate/time.rs"]
mod time;
#[path = "../examples/calibrate/tuning.rs"]
mod tuning;
#[path = "../examples/calibrate/world.rs"]
mod world;

use claims::{Repeats, Tally};
use time::{Drift, Order, compare, single_trials_differ};
use tuning::{BEST, EQUAL, known_best, tune};
use world::{Noise, World};

/// The same draws in each run, so that a bound is kept always or never; 5 % of them have a standard error of 0.5 %.
const DRAWS: usize = 2000;

fn tally(noise: Noise, (arms, metrics): (usize, usize), ratio: f64, repeats: Repeats) -> Tally {
    Tally::of(World { noise, scale: 1.0, arms, metrics, ratio }, repeats, DRAWS)
}

#[test]
fn equal_arms_are_told_apart_in_no_more_than_six_runs_of_a_hundred() {
    for (noise, name) in Noise::ALL {
        for (family, blocks) in [((2, 1), 3), ((2, 1), 8), ((4, 4), 5)] {
            let tally = tally(noise, family, 1.0, Repeats::Fixed(blocks));
            let claims = tally.percent(tally.claims);
            assert!(claims <= 6.0, "{name}, {family:?}, {blocks} blocks: {claims} %");
        }
    }
}

#[test]
fn looking_time_and_again_tells_equal_arms_apart_no_more_often() {
    for (noise, name) in Noise::ALL {
        for (family, most) in [((2, 1), 5), ((2, 1), 60), ((4, 4), 5)] {
            let tally = tally(noise, family, 1.0, Repeats::Auto(most));
            let claims = tally.percent(tally.claims);
            assert!(claims <= 5.0, "{name}, {family:?}, at most {most} blocks: {claims} %");
        }
    }
}

#[test]
fn intervals_hold_the_truth() {
    for (noise, name) in Noise::ALL {
        for repeats in [Repeats::Fixed(3), Repeats::Fixed(10), Repeats::Auto(20)] {
            let tally = tally(noise, (2, 1), 1.2, repeats);
            let covered = tally.percent(tally.covered);
            assert!(covered >= 93.0, "{name}, {repeats:?}: {covered} %");
        }
    }
}

#[test]
fn an_effect_of_5_percent_is_seen_in_10_blocks_with_a_noise_of_3_percent() {
    let world = World { noise: Noise::Normal, scale: 0.6, arms: 2, metrics: 1, ratio: 1.05 };
    let tally = Tally::of(world, Repeats::Fixed(10), DRAWS);
    assert!(tally.percent(tally.claims) >= 80.0, "{tally:?}");
}

#[test]
fn twice_the_rate_is_seen_in_3_blocks_with_a_noise_of_10_percent() {
    let world = World { noise: Noise::Normal, scale: 2.0, arms: 2, metrics: 1, ratio: 2.0 };
    let tally = Tally::of(world, Repeats::Fixed(3), DRAWS);
    assert!(tally.percent(tally.decided) >= 90.0, "{tally:?}");
}

#[test]
fn repeats_stop_early_where_the_effect_is_large() {
    let small = tally(Noise::Normal, (2, 1), 1.1, Repeats::Auto(60));
    let large = tally(Noise::Normal, (2, 1), 1.3, Repeats::Auto(60));
    assert!(small.percent(small.decided) >= 99.0, "{small:?}");
    assert!(large.blocks * 3 < small.blocks * 2, "{large:?} {small:?}");
}

#[test]
fn interleaving_beats_a_sequence_under_drift_and_slicing_beats_interleaving() {
    for drift in [Drift::Steady, Drift::Walk] {
        let median = |order| {
            let mut precisions: Vec<f64> =
                (0..500).map(|seed| compare(order, drift, seed).precision()).collect();
            precisions.sort_by(f64::total_cmp);
            precisions[250]
        };
        let [sequential, interleaved, sliced] =
            [Order::Sequential, Order::Interleaved, Order::Sliced].map(median);
        assert!(sequential >= 2.0 * interleaved, "{drift:?}: {sequential} {interleaved}");
        assert!(interleaved > sliced, "{drift:?}: {interleaved} {sliced}");
    }
}

#[test]
fn equal_single_trials_are_not_told_apart_for_their_autocorrelation() {
    for correlation in [0.0, 0.5, 0.8, 0.9] {
        let differ = (0..DRAWS).filter(|seed| single_trials_differ(60, correlation, *seed as u64)).count();
        assert!(differ * 100 <= DRAWS * 6, "correlation {correlation}: {differ} of {DRAWS}");
    }
}

#[test]
fn a_tuning_finds_and_proves_a_known_best_within_its_budget() {
    for (noise, least) in [(0.05, 95), (0.10, 90)] {
        let found = (0..100).filter(|seed| tune(&known_best(*seed), noise, 120, *seed).found()).count();
        assert!(found >= least, "noise {noise}: {found} of 100");
    }
}

#[test]
fn a_tuning_where_nothing_matters_proves_nothing() {
    for noise in [0.02, 0.10] {
        let claims = (0..400).filter(|seed| tune(&EQUAL, noise, 120, *seed).claims()).count();
        assert!(claims <= 20, "noise {noise}: {claims} of 400 claim a difference");
    }
}

#[test]
fn a_tuning_takes_no_more_trials_than_it_must_where_the_best_is_plain() {
    let mut truth = [1000.0; 9];
    truth[BEST] = 3000.0;
    let tuned: Vec<_> = (0..50).map(|seed| tune(&truth, 0.05, 200, seed)).collect();
    assert!(tuned.iter().all(tuning::Tuned::found), "{tuned:?}");
    let used = tuned.iter().map(|tuned| tuned.trials).sum::<usize>() / tuned.len();
    assert!(used < 30, "{used} of 200 trials, where all settings twice and three blocks of two are 24");
}

#[test]
fn a_tuning_of_one_setting_has_nothing_to_search() {
    let tuned = tune(&[1000.0, 1300.0], 0.05, 60, 1);
    assert_eq!(tuned.best, 1);
    assert!(tuned.claims() && tuned.trials <= 20, "{tuned:?}");
}
