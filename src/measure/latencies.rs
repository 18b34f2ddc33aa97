//! Latencies of one kind, as a histogram that keeps three digits of each; `result` makes figures of it.

use std::time::Duration;

use hdrhistogram::Histogram;

const HOUR_NS: u64 = 3_600_000_000_000;

/// A distribution of latencies from 1 ns to 1 h with three significant digits; longer ones count as 1 h.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies {
    counts: Histogram<u64>,
}

impl Default for Latencies {
    fn default() -> Self {
        Self { counts: Histogram::new_with_bounds(1, HOUR_NS, 3).expect("valid constant bounds") }
    }
}

impl Latencies {
    /// Adds one latency, in ns: the load loop's unit.
    #[inline]
    pub(crate) fn record_ns(&mut self, latency: u64) {
        self.counts.saturating_record(latency);
    }

    /// Adds one latency.
    pub fn record(&mut self, latency: Duration) {
        self.record_ns(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Adds all latencies of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.counts.add(&other.counts).expect("all have the same bounds");
    }

    /// The counts, in nanoseconds.
    #[must_use]
    pub const fn histogram(&self) -> &Histogram<u64> {
        &self.counts
    }

    /// How many latencies were recorded.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.counts.len()
    }

    /// Whether none was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(values: impl IntoIterator<Item = u64>) -> Latencies {
        let mut latencies = Latencies::default();
        values.into_iter().for_each(|us| latencies.record(Duration::from_micros(us)));
        latencies
    }

    #[test]
    fn three_digits_are_kept_from_a_microsecond_to_an_hour() {
        for wanted in [Duration::from_micros(1), Duration::from_millis(7), Duration::from_secs(3599)] {
            let mut latencies = Latencies::default();
            latencies.record(wanted);
            let found = Duration::from_nanos(latencies.histogram().value_at_quantile(0.5));
            assert!(found.abs_diff(wanted) <= wanted / 1000, "{found:?}, not {wanted:?}");
        }
    }

    #[test]
    fn merging_is_recording_everything_in_one() {
        let mut merged = micros(1..=100);
        merged.merge(&micros(101..=200));
        assert_eq!(merged, micros(1..=200));
    }

    #[test]
    fn more_than_an_hour_counts_as_an_hour() {
        let mut latencies = Latencies::default();
        latencies.record(Duration::from_secs(100_000));
        assert_eq!((latencies.len(), latencies.is_empty()), (1, false));
        assert!(latencies.histogram().max() <= HOUR_NS + HOUR_NS / 1000);
    }
}
