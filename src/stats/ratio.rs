//! How two arms compare, and what follows.

use super::family::{Family, LEVEL};
use super::mean::Mean;
use crate::result::{Comparison, Verdict};

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

impl From<&Comparison> for Ratio {
    fn from(comparison: &Comparison) -> Self {
        let Comparison { ratio, ci: [low, high], p_value, .. } = *comparison;
        Self { value: ratio, low, high, p_value }
    }
}

impl Ratio {
    /// The confidence level of every interval.
    pub const LEVEL: f64 = LEVEL;

    /// From the mean of log ratios, or the difference of two means of logarithms.
    #[must_use]
    pub fn of(mean: &Mean, family: &Family) -> Self {
        let margin = mean.margin(family.miss());
        Self {
            value: mean.value.exp(),
            low: (mean.value - margin).exp(),
            high: (mean.value + margin).exp(),
            p_value: family.corrected(mean.p_value()),
        }
    }

    /// What is proven; `min_effect` is the least difference that matters, as a fraction.
    #[must_use]
    pub fn verdict(&self, min_effect: f64, higher_is_better: bool) -> Verdict {
        let limit = 1.0 + min_effect;
        if self.low >= 1.0 / limit && self.high <= limit {
            Verdict::Same
        } else if self.low > 1.0 {
            if higher_is_better { Verdict::Better } else { Verdict::Worse }
        } else if self.high < 1.0 {
            if higher_is_better { Verdict::Worse } else { Verdict::Better }
        } else {
            Verdict::Undecided
        }
    }

    /// Half the width of the interval, as a fraction of the ratio.
    #[must_use]
    pub fn precision(&self) -> f64 {
        (self.high / self.low).sqrt() - 1.0
    }

    /// Whether more repeats are not worth their time: there is a verdict, or `precision` (a fraction) is reached.
    #[must_use]
    pub fn is_settled(&self, min_effect: f64, precision: f64) -> bool {
        self.precision() <= precision || self.verdict(min_effect, true) != Verdict::Undecided
    }
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
    fn the_verdict_follows_from_the_interval_and_the_metric() {
        let ratio = |low, high| Ratio { value: 1.0, low, high, p_value: 0.5 };
        assert_eq!(ratio(1.05, 1.2).verdict(0.03, true), Verdict::Better);
        assert_eq!(ratio(1.05, 1.2).verdict(0.03, false), Verdict::Worse);
        assert_eq!(ratio(0.8, 0.95).verdict(0.03, true), Verdict::Worse);
        assert_eq!(ratio(0.98, 1.02).verdict(0.03, true), Verdict::Same);
        assert_eq!(ratio(1.01, 1.02).verdict(0.03, true), Verdict::Same, "proven, and too small to matter");
        assert_eq!(ratio(0.98, 1.05).verdict(0.03, true), Verdict::Undecided);
    }

    #[test]
    fn a_large_effect_is_decided_with_three_blocks() {
        let blocks = [vec![100.0, 195.0], vec![110.0, 230.0], vec![95.0, 188.0]];
        assert_eq!(compare(&blocks, 0, 1).verdict(0.03, true), Verdict::Better);
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

    fn blocks() -> impl Strategy<Value = Vec<Vec<f64>>> {
        prop::collection::vec(prop::collection::vec(1e-3_f64..1e9, 2), 2..20)
    }

    proptest! {
        #[test]
        fn swapping_the_arms_inverts_ratio_interval_and_verdict(blocks in blocks()) {
            let (there, back) = (compare(&blocks, 0, 1), compare(&blocks, 1, 0));
            prop_assert!(alike(there.value, 1.0 / back.value));
            prop_assert!(alike(there.low, 1.0 / back.high));
            prop_assert!(alike(there.p_value, back.p_value));
            prop_assert_eq!(there.verdict(0.03, true), back.verdict(0.03, false));
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
