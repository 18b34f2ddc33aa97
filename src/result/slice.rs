//! One slice of a trial whose arms alternate.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cpu, LatencyNs};

/// One slice of a trial in `order: sliced`. The slices of all arms with the same round ran one right after the other, and
/// make a pair (or more) to compare.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Slice {
    /// Which round it is of, from 0; every arm has one slice in each.
    pub round: u32,
    /// When it began, in seconds from the begin of the first slice of any arm.
    pub begin_s: f64,
    /// The time that counts, in seconds: the slice without its edge.
    pub measured_s: f64,
    /// Figures by job and operation, as in the trial.
    pub jobs: BTreeMap<String, BTreeMap<String, SliceFigures>>,
    /// How long the flush that closed it took, in seconds; null where nothing was owed.
    pub drain_s: Option<f64>,
    /// Bytes written in all of the slice over its time and its drain; null without writes.
    pub effective_bytes_per_s: Option<f64>,
    /// CPU time of the time that counts.
    pub cpu: Cpu,
}

/// One operation's figures in a slice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SliceFigures {
    /// I/Os that completed without an error.
    pub ios: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Response times.
    pub latency_ns: LatencyNs,
}
