//! Paired by block: both arms of a pair ran next to each other, so that what they share cancels out.

use super::mean::Mean;

/// What a histogram can't tell apart: its buckets are up to 0.1 % wide, which is a standard deviation of 0.03 % for one
/// figure and of 0.04 % for a ratio of two. Repeats that agree better do so by the grace of the buckets.
const RESOLUTION: f64 = 4e-4;

/// The blocks in which every arm has a figure that can be compared; the others are dropped whole.
///
/// Each block has a figure for each arm, in the same order; one that is not above 0 counts as missing.
#[must_use]
pub fn complete(blocks: &[Vec<Option<f64>>]) -> Vec<Vec<f64>> {
    let usable = |figure: &Option<f64>| figure.filter(|figure| figure.is_finite() && *figure > 0.0);
    blocks.iter().filter_map(|block| block.iter().map(usable).collect()).collect()
}

/// The logarithm of candidate over baseline for each block; both are places within a block.
#[must_use]
pub fn log_ratios(blocks: &[Vec<f64>], baseline: usize, candidate: usize) -> Vec<f64> {
    blocks.iter().map(|block| (block[candidate] / block[baseline]).ln()).collect()
}

/// The one log ratio of a block: that of its trials, or the mean over its rounds of slices, which follow each other too
/// closely to be blocks of their own. `None` for a block without any.
#[must_use]
pub fn mean_log_ratio(rounds: &[Vec<f64>], baseline: usize, candidate: usize) -> Option<f64> {
    let ratios = log_ratios(rounds, baseline, candidate);
    (!ratios.is_empty()).then(|| ratios.iter().sum::<f64>() / ratios.len() as f64)
}

/// The mean of the log ratios of independent blocks; `None` for fewer than two.
#[must_use]
pub fn paired(log_ratios: &[f64]) -> Option<Mean> {
    let mean = Mean::of_independent(log_ratios)?;
    Some(mean.no_surer_than(RESOLUTION / (log_ratios.len() as f64).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_with_a_missing_arm_is_dropped_whole() {
        let blocks = [
            vec![Some(1.0), Some(2.0), Some(3.0)],
            vec![Some(1.0), None, Some(3.0)],
            vec![Some(0.0), Some(2.0), Some(3.0)],
            vec![Some(4.0), Some(2.0), Some(1.0)],
        ];
        let complete = complete(&blocks);
        assert_eq!(complete, [[1.0, 2.0, 3.0], [4.0, 2.0, 1.0]]);
        assert_eq!(log_ratios(&complete, 0, 2), [3.0_f64.ln(), 0.25_f64.ln()]);
    }

    #[test]
    fn repeats_that_agree_to_the_last_bucket_are_not_taken_for_certain() {
        let mean = paired(&[0.001; 4]).expect("there are enough blocks");
        assert_eq!(mean.error, RESOLUTION / 2.0);
        assert!(mean.p_value() > 0.0);
    }
}
