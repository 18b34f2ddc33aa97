//! Runs whose truth is known: trials of arms in the order of a real plan, with noise as clusters have it.

use cephmark::plan::BlockOrders;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Exp1, StandardNormal, StudentT};
use rand_xoshiro::Xoshiro256PlusPlus;

/// How figures of one trial differ from those of the next, as a share of their size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Noise {
    /// Independent and normal, 5 %.
    Normal,
    /// Independent with heavy tails: Student's t with 3 degrees of freedom, 5 %.
    HeavyTails,
    /// Normal, 5 %, and every tenth trial slower by 40 % on average.
    SlowTrials,
    /// Exponential, 10 %: most trials are alike, some are much slower.
    Skewed,
    /// Autocorrelated from trial to trial by 0.8, 7 %.
    Autocorrelated,
    /// Normal, 5 %, and each trial 1 % slower than the one before.
    Drift,
    /// Normal, 2 %, and each trial 10 % slower than the one before.
    StrongDrift,
    /// A random walk with steps of 5 %, and normal noise of 2 %.
    Walk,
    /// Normal, 5 %, and once in the first 20 trials a jump by 50 %.
    Jump,
    /// Normal, 3 % in the baseline and 15 % in the other arms.
    Unlike,
}

impl Noise {
    pub(crate) const ALL: [(Self, &str); 10] = [
        (Self::Normal, "normal"),
        (Self::HeavyTails, "heavy tails (t, 3 degrees)"),
        (Self::SlowTrials, "one trial in ten 40 % slower"),
        (Self::Skewed, "skewed (exponential)"),
        (Self::Autocorrelated, "autocorrelation 0.8"),
        (Self::Drift, "drift 1 % a trial"),
        (Self::StrongDrift, "drift 10 % a trial, noise 2 %"),
        (Self::Walk, "random walk, 5 % a trial"),
        (Self::Jump, "a jump of 50 %"),
        (Self::Unlike, "noise 3 % and 15 %"),
    ];
}

/// What is true, and how it is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct World {
    pub(crate) noise: Noise,
    /// The noise is this many times its usual size.
    pub(crate) scale: f64,
    /// Arms, of which the first is the baseline.
    pub(crate) arms: usize,
    /// Figures that each trial gives; they are alike in their noise.
    pub(crate) metrics: usize,
    /// True ratio of every other arm to the baseline.
    pub(crate) ratio: f64,
}

/// A run under way.
#[derive(Debug)]
pub(crate) struct Run {
    world: World,
    random: Xoshiro256PlusPlus,
    orders: BlockOrders,
    trial: usize,
    jump: usize,
    lasting: Vec<f64>,
    /// By metric, then block, then arm.
    pub(crate) figures: Vec<Vec<Vec<Option<f64>>>>,
}

/// Share of the noise of a metric that is the trial's own.
const OWN: f64 = 0.6;
/// Share that it has in common with the other metrics; the variances sum up to 1.
const COMMON: f64 = 0.8;

impl Run {
    pub(crate) fn new(world: World, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let jump = random.random_range(1..20);
        let lasting = (0..world.metrics).map(|_| StandardNormal.sample(&mut random)).collect();
        let figures = vec![Vec::new(); world.metrics];
        Self { world, random, orders: BlockOrders::new(world.arms), trial: 0, jump, lasting, figures }
    }

    /// Runs another block.
    pub(crate) fn block(&mut self) {
        let order = self.orders.draw(&mut self.random);
        for metric in &mut self.figures {
            metric.push(vec![None; self.world.arms]);
        }
        for arm in order {
            let truth = if arm == 0 { 0.0 } else { self.world.ratio.ln() };
            let noise = self.trial(arm);
            for (metric, noise) in self.figures.iter_mut().zip(noise) {
                let block = metric.last_mut().expect("it was begun above");
                block[arm] = Some((truth + noise * self.world.scale).exp() * 1000.0);
            }
            self.trial += 1;
        }
    }

    /// The noise of a trial, by metric.
    fn trial(&mut self, arm: usize) -> Vec<f64> {
        let noise = self.world.noise;
        let random = &mut self.random;
        let mut draw = || -> f64 {
            match noise {
                Noise::HeavyTails => StudentT::new(3.0).expect("3 is allowed").sample(random),
                Noise::Skewed => -Distribution::<f64>::sample(&Exp1, random),
                _ => StandardNormal.sample(random),
            }
        };
        let common = draw();
        let mixed: Vec<f64> = (0..self.world.metrics).map(|_| COMMON * common + OWN * draw()).collect();
        let step: f64 = StandardNormal.sample(&mut self.random);
        let slow = self.random.random_bool(0.1);
        let depth: f64 = StandardNormal.sample(&mut self.random);
        let trial = self.trial as f64;
        let jumped = self.trial >= self.jump;
        let noise_of = |(lasting, mixed): (&mut f64, f64)| match noise {
            Noise::Normal | Noise::HeavyTails => 0.05 * mixed,
            Noise::SlowTrials => 0.05 * mixed - if slow { 0.5 * depth.abs() } else { 0.0 },
            Noise::Skewed => 0.1 * mixed,
            Noise::Autocorrelated => {
                *lasting = 0.8 * *lasting + 0.6 * mixed;
                0.07 * *lasting
            }
            Noise::Drift => 0.05 * mixed - 0.01 * trial,
            Noise::StrongDrift => 0.02 * mixed - 0.1 * trial,
            Noise::Walk => {
                *lasting += step;
                0.02 * mixed + 0.05 * *lasting
            }
            Noise::Jump => 0.05 * mixed + if jumped { 0.4 } else { 0.0 },
            Noise::Unlike => (if arm == 0 { 0.03 } else { 0.15 }) * mixed,
        };
        self.lasting.iter_mut().zip(mixed).map(noise_of).collect()
    }
}
