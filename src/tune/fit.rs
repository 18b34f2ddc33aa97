//! Scores of arms that ran in blocks together: their means, and one error for all.
//!
//! Verdicts do not pool the noise of all arms; a search may, since what it finds is confirmed by trials of its own.

use crate::stats::{Mean, critical_value};

/// Scores taken apart into what an arm adds, what a block adds, and noise.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fit {
    /// The mean of each arm.
    pub(super) means: Vec<f64>,
    blocks: usize,
    /// Standard deviation of the noise of one score.
    noise: f64,
    /// Degrees of freedom of the noise.
    degrees: f64,
}

impl Fit {
    /// From blocks that have a score for each arm, in the same order; `None` for fewer than two blocks or arms.
    #[must_use]
    pub(super) fn of(blocks: &[Vec<f64>]) -> Option<Self> {
        let arms = blocks.first()?.len();
        if blocks.len() < 2 || arms < 2 {
            return None;
        }
        let (count, width) = (blocks.len() as f64, arms as f64);
        let of_block: Vec<f64> = blocks.iter().map(|block| block.iter().sum::<f64>() / width).collect();
        let means: Vec<f64> =
            (0..arms).map(|arm| blocks.iter().map(|block| block[arm]).sum::<f64>() / count).collect();
        let all = means.iter().sum::<f64>() / width;
        let rest = blocks.iter().zip(&of_block).flat_map(|(block, of_block)| {
            block.iter().zip(&means).map(move |(score, mean)| score - mean - of_block + all)
        });
        let degrees = (count - 1.0) * (width - 1.0);
        let noise = (rest.map(|rest| rest * rest).sum::<f64>() / degrees).sqrt();
        Some(Self { means, blocks: blocks.len(), noise, degrees })
    }

    /// The arm with the highest mean, the first of equals.
    #[must_use]
    pub(super) fn best(&self) -> usize {
        let places = 0..self.means.len();
        places.reduce(|best, arm| if self.means[arm] > self.means[best] { arm } else { best }).unwrap_or(0)
    }

    /// Half the width of the interval for the difference of two arms that misses the true one with probability `miss`.
    #[must_use]
    pub(super) fn margin(&self, miss: f64) -> f64 {
        critical_value(miss, self.degrees) * self.error(&[1.0, -1.0])
    }

    /// The sum of the means, each times its weight, with its error.
    #[must_use]
    pub(super) fn weighted(&self, weights: &[f64]) -> Mean {
        let value = self.means.iter().zip(weights).map(|(mean, weight)| mean * weight).sum();
        Mean { value, error: self.error(weights), degrees: self.degrees }
    }

    fn error(&self, weights: &[f64]) -> f64 {
        let squares: f64 = weights.iter().map(|weight| weight * weight).sum();
        self.noise * (squares / self.blocks as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_block_adds_to_all_arms_is_no_noise() {
        let fit = Fit::of(&[vec![1.0, 2.0, 4.0], vec![11.0, 12.0, 14.0]]).expect("enough of both");
        assert!(fit.best() == 2 && fit.noise < 1e-12);
        assert_eq!(fit.means, [6.0, 7.0, 9.0]);
    }

    #[test]
    fn the_error_is_that_of_the_textbook() {
        // Rests of one half, with (2 - 1) * (2 - 1) degrees of freedom.
        let fit = Fit::of(&[vec![0.0, 1.0], vec![0.0, -1.0]]).expect("enough of both");
        assert!((fit.noise - 1.0).abs() < 1e-12);
        assert!((fit.margin(0.05) - 12.706).abs() < 1e-3);
        assert!((fit.weighted(&[0.5, -0.5]).error - 0.5).abs() < 1e-12);
    }

    #[test]
    fn one_block_or_one_arm_tells_nothing() {
        assert_eq!(Fit::of(&[vec![1.0, 2.0]]), None);
        assert_eq!(Fit::of(&[vec![1.0], vec![2.0]]), None);
        assert_eq!(Fit::of(&[]), None);
    }
}
