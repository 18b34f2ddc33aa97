//! What was measured of one operation of one job.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EncodedHistogram, LatencyNs};
use crate::units::Bytes;

/// Figures by operation: `read`, `write`, `trim`, `write_zeroes`, `fsync`, `fdatasync`.
pub type Ops = BTreeMap<String, Figures>;

/// Figures of one operation over the measured time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Figures {
    /// I/Os that completed without an error.
    pub ios: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// I/Os that failed, by the name of the error.
    pub errors: BTreeMap<String, u64>,
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Response time: from when the I/O was due to its completion.
    pub latency_ns: LatencyNs,
    /// Service time: from when the I/O was sent to its completion; the same in a closed loop.
    pub service_ns: LatencyNs,
    /// The response times in full; null where only figures were known, as in an imported result.
    pub histogram: Option<EncodedHistogram>,
}

impl Figures {
    /// The figures of the I/Os in `response` and `service` (nanoseconds), which moved `bytes` within `measured`.
    #[must_use]
    pub fn of(response: &Histogram<u64>, service: &Histogram<u64>, bytes: Bytes, measured: Duration) -> Self {
        let per_second = |count: u64| {
            if measured.is_zero() { 0.0 } else { count as f64 / measured.as_secs_f64() }
        };
        Self {
            ios: response.len(),
            bytes: bytes.get(),
            errors: BTreeMap::new(),
            iops: per_second(response.len()),
            bytes_per_s: per_second(bytes.get()),
            latency_ns: LatencyNs::of(response),
            service_ns: LatencyNs::of(service),
            histogram: Some(EncodedHistogram::encode(response)),
        }
    }

    /// How many I/Os failed.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }
}
