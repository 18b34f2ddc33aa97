//! Latencies of one kind, as a histogram that keeps three digits of each.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

const HOUR_NS: u64 = 3_600_000_000_000;

/// A percentile is told only where this many samples lie beyond it: with fewer it is the luck of single I/Os.
const SAMPLES_BEYOND: f64 = 5.0;

/// A distribution of latencies from 1 ns to 1 h with three significant digits; longer ones count as 1 h.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies {
    counts: Histogram<u64>,
}

/// Text that is not an encoded histogram.
#[derive(Debug, thiserror::Error)]
#[error("not a histogram in base64 of HdrHistogram's V2 deflate format: {reason}")]
pub struct DecodeError {
    reason: String,
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

    /// The mean; `None` without samples.
    #[must_use]
    pub fn mean(&self) -> Option<Duration> {
        (!self.is_empty()).then(|| Duration::from_nanos(self.counts.mean().round() as u64))
    }

    /// The standard deviation; `None` without samples.
    #[must_use]
    pub fn stdev(&self) -> Option<Duration> {
        (!self.is_empty()).then(|| Duration::from_nanos(self.counts.stdev().round() as u64))
    }

    /// The shortest; `None` without samples.
    #[must_use]
    pub fn min(&self) -> Option<Duration> {
        (!self.is_empty()).then(|| Duration::from_nanos(self.counts.min()))
    }

    /// The longest; `None` without samples.
    #[must_use]
    pub fn max(&self) -> Option<Duration> {
        (!self.is_empty()).then(|| Duration::from_nanos(self.counts.max()))
    }

    /// The latency that `percent` (0 to 100) of the I/Os did not exceed; `None` where fewer than five samples lie
    /// beyond it.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<Duration> {
        // Rounded to a thousandth of a sample, as `100 - 99.99` is not exact.
        let beyond = (self.len() as f64 * (100.0 - percent) * 10.0).round() / 1000.0;
        (beyond >= SAMPLES_BEYOND).then(|| Duration::from_nanos(self.counts.value_at_percentile(percent)))
    }

    /// The whole histogram as base64 of HdrHistogram's V2 deflate format, which its tools in every language read.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.counts, &mut bytes)
            .expect("writing to memory cannot fail");
        STANDARD.encode(bytes)
    }

    /// The histogram that [`Self::encode`] wrote.
    ///
    /// # Errors
    /// [`DecodeError`] if the text is something else.
    pub fn decode(text: &str) -> Result<Self, DecodeError> {
        let error = |reason: String| DecodeError { reason };
        let bytes = STANDARD.decode(text).map_err(|e| error(e.to_string()))?;
        let counts: Histogram<u64> =
            Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|e| error(e.to_string()))?;
        let mut latencies = Self::default();
        latencies.counts.add(counts).map_err(|e| error(e.to_string()))?;
        Ok(latencies)
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

    fn within_a_thousandth(found: Option<Duration>, wanted: Duration) -> bool {
        found.is_some_and(|found| found.abs_diff(wanted) <= wanted / 1000)
    }

    #[test]
    fn three_digits_are_kept_from_a_microsecond_to_an_hour() {
        for wanted in [Duration::from_micros(1), Duration::from_millis(7), Duration::from_secs(3599)] {
            let mut latencies = Latencies::default();
            (0..10).for_each(|_| latencies.record(wanted));
            assert!(within_a_thousandth(latencies.mean(), wanted), "{latencies:?}");
            assert!(within_a_thousandth(latencies.percentile(50.0), wanted), "{latencies:?}");
        }
    }

    #[test]
    fn a_percentile_needs_five_samples_beyond_it() {
        assert_eq!(micros(1..=499).percentile(99.0), None);
        assert!(within_a_thousandth(micros(1..=500).percentile(99.0), Duration::from_micros(495)));
        assert_eq!(micros([]).percentile(50.0), None);
        assert_eq!(micros([]).mean(), None);
    }

    #[test]
    fn merging_is_recording_everything_in_one() {
        let mut merged = micros(1..=100);
        merged.merge(&micros(101..=200));
        assert_eq!(merged, micros(1..=200));
    }

    #[test]
    fn an_encoded_histogram_comes_back_as_it_was() {
        let latencies = micros((1..=10_000).map(|n| n * n));
        assert_eq!(Latencies::decode(&latencies.encode()).expect("decodes"), latencies);
        assert!(Latencies::decode("AAAA").is_err());
        assert!(Latencies::decode("not base64!").is_err());
    }

    #[test]
    fn more_than_an_hour_counts_as_an_hour() {
        let mut latencies = Latencies::default();
        latencies.record(Duration::from_secs(100_000));
        assert_eq!(latencies.len(), 1);
    }
}
