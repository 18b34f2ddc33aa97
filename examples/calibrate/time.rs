//! Load second by second: what the order of trials is worth under drift, and what a single trial is worth.

use cephmark::plan::BlockOrders;
use cephmark::stats::{Family, Mean, Ratio, mean_log_ratio, paired};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Trials of each arm.
const TRIALS: usize = 8;
/// Seconds of a trial.
const SECONDS: usize = 30;
/// Seconds of a slice, of which the first is discarded.
const SLICE: usize = 3;

/// `run.order`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    Sequential,
    Interleaved,
    Sliced,
}

/// How a cluster changes over time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Drift {
    /// 0.1 % slower each second.
    Steady,
    /// A random walk with steps of 1 % a second.
    Walk,
}

/// Two arms that do the same, on a cluster that drifts; each second has a noise of 10 % of its own, and each trial, which
/// makes new connections, has a luck of 1 % that lasts for all of it.
struct Cluster {
    random: Xoshiro256PlusPlus,
    drift: Drift,
    level: f64,
}

impl Cluster {
    fn new(drift: Drift, seed: u64) -> Self {
        Self { random: Xoshiro256PlusPlus::seed_from_u64(seed), drift, level: 0.0 }
    }

    fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.random)
    }

    /// Logarithm of the I/Os of the next second.
    fn second(&mut self) -> f64 {
        self.level += match self.drift {
            Drift::Steady => -0.001,
            Drift::Walk => 0.01 * self.normal(),
        };
        self.level + 0.1 * self.normal()
    }

    fn luck(&mut self) -> f64 {
        0.01 * self.normal()
    }

    fn trial(&mut self) -> f64 {
        self.luck() + self.mean(SECONDS)
    }

    fn mean(&mut self, seconds: usize) -> f64 {
        (0..seconds).map(|_| self.second()).sum::<f64>() / seconds as f64
    }
}

/// The comparison of the two arms, by the code that compares in this order.
pub(crate) fn compare(order: Order, drift: Drift, seed: u64) -> Ratio {
    let mut cluster = Cluster::new(drift, seed);
    let mean = match order {
        Order::Sequential => {
            let mut arm = || {
                let trials: Vec<f64> = (0..TRIALS).map(|_| cluster.trial()).collect();
                Mean::of_series(&trials).expect("there are enough trials")
            };
            let baseline = arm();
            arm().minus(&baseline)
        }
        Order::Interleaved => paired(&interleaved(&mut cluster)).expect("there are enough blocks"),
        Order::Sliced => {
            let blocks: Vec<f64> =
                (0..TRIALS).filter_map(|_| mean_log_ratio(&sliced(&mut cluster), 0, 1)).collect();
            paired(&blocks).expect("there are enough blocks")
        }
    };
    Ratio::of(&mean, &Family::of(1))
}

fn interleaved(cluster: &mut Cluster) -> Vec<f64> {
    let mut orders = BlockOrders::new(2);
    let blocks = (0..TRIALS).map(|_| {
        let mut figures = [0.0; 2];
        for arm in orders.draw(&mut cluster.random) {
            figures[arm] = cluster.trial();
        }
        figures[1] - figures[0]
    });
    blocks.collect()
}

/// The figures of both arms in each round of slices of one trial.
fn sliced(cluster: &mut Cluster) -> Vec<Vec<f64>> {
    let mut orders = BlockOrders::new(2);
    let luck = [cluster.luck(), cluster.luck()];
    let rounds = (0..SECONDS / SLICE).map(|_| {
        let mut figures = vec![0.0; 2];
        for arm in orders.draw(&mut cluster.random) {
            cluster.second();
            figures[arm] = (luck[arm] + cluster.mean(SLICE - 1)).exp();
        }
        figures
    });
    rounds.collect()
}

/// Whether two equal trials of so many seconds, compared by their seconds alone, are told apart.
pub(crate) fn single_trials_differ(seconds: usize, correlation: f64, seed: u64) -> bool {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut trial = || {
        let mut draw = || -> f64 { StandardNormal.sample(&mut random) };
        let mut level = draw();
        let series = (0..seconds).map(|_| {
            level = correlation * level + (1.0 - correlation * correlation).sqrt() * draw();
            0.1 * level
        });
        Mean::of_series(&series.collect::<Vec<_>>()).expect("there are enough seconds")
    };
    let baseline = trial();
    let ratio = Ratio::of(&trial().minus(&baseline), &Family::of(1));
    ratio.low > 1.0 || ratio.high < 1.0
}
