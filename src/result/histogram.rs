//! Whole histograms in a result file, as other tools read them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A histogram in HdrHistogram's V2 format, deflated, in base64: what every HdrHistogram library and the `plotFiles`
/// page read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct EncodedHistogram(String);

/// A text that is no histogram.
#[derive(Debug, thiserror::Error)]
pub enum HistogramError {
    /// Not base64.
    #[error("the histogram is not base64: {0}; the file was changed after cephmark wrote it")]
    Base64(#[from] base64::DecodeError),
    /// Not a histogram in the V2 format.
    #[error(
        "the histogram is not in HdrHistogram's V2 format: {0}; the file was changed after cephmark wrote it"
    )]
    Format(String),
}

impl EncodedHistogram {
    /// Encodes `times`.
    ///
    /// # Panics
    /// If a single count is above `i64::MAX`, which no run lasts for.
    #[must_use]
    pub fn encode(times: &Histogram<u64>) -> Self {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(times, &mut bytes)
            .expect("counts fit 63 bits and memory takes what is written");
        Self(STANDARD.encode(bytes))
    }

    /// The histogram, with the same counts as the one encoded.
    ///
    /// # Errors
    /// [`HistogramError`] if the text was not written by [`Self::encode`] or another HdrHistogram library.
    pub fn decode(&self) -> Result<Histogram<u64>, HistogramError> {
        let bytes = STANDARD.decode(&self.0)?;
        Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| HistogramError::Format(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_reads_back_with_the_same_percentiles() {
        let mut times =
            Histogram::<u64>::new_with_bounds(100, 3_600_000_000_000, 3).expect("bounds are in order");
        for value in 0..100_000_u64 {
            times.record(100 + value * value).expect("the value is within the bounds");
        }
        let back = EncodedHistogram::encode(&times).decode().expect("it was encoded just now");
        assert_eq!(back, times);
        for quantile in [0.5, 0.9, 0.99, 0.999, 0.9999, 1.0] {
            assert_eq!(back.value_at_quantile(quantile), times.value_at_quantile(quantile));
        }
    }

    #[test]
    fn a_damaged_text_is_an_error_and_not_a_panic() {
        let not_base64 = EncodedHistogram("%%%".to_owned());
        assert!(matches!(not_base64.decode(), Err(HistogramError::Base64(_))));
        let not_a_histogram = EncodedHistogram(STANDARD.encode("no histogram at all"));
        assert!(matches!(not_a_histogram.decode(), Err(HistogramError::Format(_))));
    }
}
