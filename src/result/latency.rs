//! Figures of a distribution of times.

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many samples must lie beyond a percentile for it to be reported. With ten its place among the samples has a
/// standard error of a third of the tail: p99 takes 1,000 I/Os, p99.9 takes 10,000, p99.99 takes 100,000.
pub const PERCENTILE_TAIL: f64 = 10.0;

/// Figures of a distribution of times, in nanoseconds. Null where there are too few samples for the figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LatencyNs {
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Standard deviation.
    pub stddev: Option<f64>,
    /// Shortest.
    pub min: Option<u64>,
    /// Longest.
    pub max: Option<u64>,
    /// Median.
    pub p50: Option<u64>,
    /// 90th percentile.
    pub p90: Option<u64>,
    /// 95th percentile.
    pub p95: Option<u64>,
    /// 99th percentile.
    pub p99: Option<u64>,
    /// 99.9th percentile.
    pub p99_9: Option<u64>,
    /// 99.99th percentile.
    pub p99_99: Option<u64>,
}

impl LatencyNs {
    /// The figures of `times`, which counts nanoseconds.
    #[must_use]
    pub fn of(times: &Histogram<u64>) -> Self {
        if times.is_empty() {
            return Self::default();
        }
        Self {
            mean: Some(times.mean()),
            stddev: Some(times.stdev()),
            min: Some(times.min()),
            max: Some(times.max()),
            p50: percentile(times, 0.5),
            p90: percentile(times, 0.9),
            p95: percentile(times, 0.95),
            p99: percentile(times, 0.99),
            p99_9: percentile(times, 0.999),
            p99_99: percentile(times, 0.9999),
        }
    }
}

/// The value below which `quantile` (0 to 1) of the samples lie, if they are enough for it.
#[must_use]
pub fn percentile(times: &Histogram<u64>, quantile: f64) -> Option<u64> {
    are_enough(times.len(), quantile).then(|| times.value_at_quantile(quantile))
}

/// Whether [`PERCENTILE_TAIL`] of so many samples lie beyond the `quantile` (0 to 1).
#[must_use]
pub fn are_enough(samples: u64, quantile: f64) -> bool {
    // Rounded, because 1 - 0.99 is a little more than 0.01 in binary and would ask for one sample more.
    let beyond = (samples as f64 * (1.0 - quantile) * 1e6).round() / 1e6;
    beyond >= PERCENTILE_TAIL
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(count: u64) -> Histogram<u64> {
        let mut times = Histogram::new(3).expect("3 digits are allowed");
        for value in 1..=count {
            times.record(value * 1000).expect("the histogram grows");
        }
        times
    }

    #[test]
    fn a_percentile_needs_ten_samples_beyond_it() {
        assert_eq!(percentile(&samples(999), 0.99), None);
        assert_eq!(percentile(&samples(1000), 0.99), Some(990_207));
        assert_eq!(percentile(&samples(19), 0.5), None);
        assert!(percentile(&samples(20), 0.5).is_some());
        assert!(percentile(&samples(10_000), 0.999).is_some());
        assert_eq!(percentile(&samples(10_000), 0.9999), None);
    }

    #[test]
    fn without_a_sample_every_figure_is_null() {
        let figures = LatencyNs::of(&samples(0));
        assert_eq!(figures, LatencyNs::default());
        assert_eq!(serde_json::to_value(figures).expect("it serialises")["p99"], serde_json::Value::Null);
    }

    #[test]
    fn figures_are_exact_to_the_three_digits_of_the_histogram() {
        let figures = LatencyNs::of(&samples(1000));
        let close = |value: f64, truth: f64| (value / truth - 1.0).abs() < 1e-3;
        assert!(close(figures.mean.expect("there are samples"), 500_500.0));
        assert!(close(figures.stddev.expect("there are samples"), 288_675.0));
        assert!(close(figures.p50.expect("there are enough samples") as f64, 500_000.0));
        assert!(close(figures.max.expect("there are samples") as f64, 1_000_000.0));
        assert_eq!(figures.min, Some(1000));
    }
}
