//! What follows from how two arms compare.

use crate::result::{Comparison, Verdict};
use crate::stats::Ratio;

impl From<&Comparison> for Ratio {
    fn from(comparison: &Comparison) -> Self {
        let Comparison { ratio, ci: [low, high], p_value, .. } = *comparison;
        Self { value: ratio, low, high, p_value }
    }
}

impl Ratio {
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
    use crate::stats::{Family, log_ratios, paired};

    fn ratio(low: f64, high: f64) -> Ratio {
        Ratio { value: (low * high).sqrt(), low, high, p_value: 0.5 }
    }

    #[test]
    fn the_verdict_follows_from_the_interval_and_the_metric() {
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
        let mean = paired(&log_ratios(&blocks, 0, 1)).expect("there are enough blocks");
        assert_eq!(Ratio::of(&mean, &Family::of(3)).verdict(0.03, true), Verdict::Better);
    }

    proptest! {
        #[test]
        fn swapping_the_arms_inverts_the_verdict(low in 0.5_f64..2.0, width in 1.0_f64..1.5) {
            let (there, back) = (ratio(low, low * width), ratio(1.0 / (low * width), 1.0 / low));
            prop_assert_eq!(there.verdict(0.03, true), back.verdict(0.03, false));
        }
    }
}
