//! How two arms compare.

use super::family::{Family, LEVEL};
use super::mean::Mean;

/// Candidate over baseline, with an interval that holds for all comparisons of the run together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The estimate.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// Corrected probability of an estimate this far from 1 if the true ratio is 1.
    pub p_value: f64,
}

impl Ratio {
    /// The confidence level of every interval.
    pub const LEVEL: f64 = LEVEL;

    /// From the mean of log ratios, or the difference of two means of logarithms.
    #[must_use]
    pub fn of(mean: &Mean, family: &Family) -> Self {
        let margin = mean.margin(family.miss());
        Self {
            value: bounded(mean.value),
            low: bounded(mean.value - margin),
            high: bounded(mean.value + margin),
            p_value: family.corrected(mean.p_value()),
        }
    }

    /// Half the width of the interval, as a fraction of the ratio.
    #[must_use]
    pub fn precision(&self) -> f64 {
        (self.high / self.low).sqrt() - 1.0
    }
}

/// The ratio of this logarithm. JSON knows no infinity: what is beyond all numbers is the last one.
fn bounded(log: f64) -> f64 {
    log.exp().min(f64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::{log_ratios, paired};

    fn compare(blocks: &[Vec<f64>], baseline: usize, candidate: usize) -> Ratio {
        let mean = paired(&log_ratios(blocks, baseline, candidate)).expect("there are enough blocks");
        Ratio::of(&mean, &Family::of(3))
    }

    fn alike(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-9
    }

    #[test]
    fn the_p_value_agrees_with_the_interval() {
        let at = |value: f64| {
            let mean = Mean { value, error: 0.01, degrees: 4.0 };
            Ratio::of(&mean, &Family::of(5))
        };
        let edge = Mean { value: 0.0, error: 0.01, degrees: 4.0 }.margin(Family::of(5).miss());
        let (within, beyond) = (at(edge * 0.999), at(edge * 1.001));
        assert!(within.low < 1.0 && within.p_value > 0.05);
        assert!(beyond.low > 1.0 && beyond.p_value < 0.05);
    }

    #[test]
    fn an_interval_beyond_all_numbers_ends_at_the_last_ones() {
        let mean = Mean { value: 306_f64.ln(), error: 5.0, degrees: 1.0 };
        let ratio = Ratio::of(&mean, &Family::of(24));
        assert_eq!([ratio.low, ratio.high], [0.0, f64::MAX], "{ratio:?}");
        let json = serde_json::to_string(&[ratio.low, ratio.high]).expect("they are numbers");
        assert_eq!(serde_json::from_str::<[f64; 2]>(&json).expect("they were written"), [0.0, f64::MAX]);
    }

    fn blocks() -> impl Strategy<Value = Vec<Vec<f64>>> {
        prop::collection::vec(prop::collection::vec(1e-3_f64..1e9, 2), 2..20)
    }

    proptest! {
        #[test]
        fn swapping_the_arms_inverts_ratio_and_interval(blocks in blocks()) {
            let (there, back) = (compare(&blocks, 0, 1), compare(&blocks, 1, 0));
            prop_assert!(alike(there.value, 1.0 / back.value));
            prop_assert!(alike(there.low, 1.0 / back.high));
            prop_assert!(alike(there.p_value, back.p_value));
        }

        #[test]
        fn scaling_all_figures_changes_nothing(blocks in blocks(), scale in 1e-6_f64..1e6) {
            let scaled: Vec<Vec<f64>> =
                blocks.iter().map(|block| block.iter().map(|figure| figure * scale).collect()).collect();
            let (plain, scaled) = (compare(&blocks, 0, 1), compare(&scaled, 0, 1));
            prop_assert!(alike(plain.low, scaled.low) && alike(plain.high, scaled.high));
        }
    }
}
