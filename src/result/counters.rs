//! What a trial cost the host, and what happened inside the client.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Change of each of the client's performance counters over the measured time: group (`librbd-...`, `objecter`, ...),
/// then counter; an average counts as an object of `avgcount` and `sum`.
pub type Counters = BTreeMap<String, BTreeMap<String, serde_json::Value>>;

/// CPU time spent in the measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cpu {
    /// This process in user mode, all threads, in seconds.
    pub process_user_s: f64,
    /// This process in the kernel, all threads, in seconds.
    pub process_system_s: f64,
    /// All processors of the host together, whatever kept them busy, in seconds; null where it could not be read.
    pub host_busy_s: Option<f64>,
    /// Process time per I/O, in microseconds; null without an I/O.
    pub us_per_io: Option<f64>,
    /// Host time above idle per I/O, in microseconds; null where Ceph daemons run on this host as well.
    pub host_us_per_io: Option<f64>,
}

/// One second of one operation of one job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesPoint {
    /// End of the second, from the start of the measured time, in seconds.
    pub t_s: f64,
    /// The job; empty for the only, unnamed one.
    #[serde(default)]
    pub job: String,
    /// The operation, as in `jobs` of the trial.
    pub op: String,
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second.
    #[serde(default)]
    pub bytes_per_s: f64,
    /// Mean response time, in nanoseconds; null without an I/O.
    #[serde(default)]
    pub mean_ns: Option<f64>,
    /// 99th percentile of the response time, in nanoseconds; null with too few I/Os.
    #[serde(default)]
    pub p99_ns: Option<u64>,
    /// Longest response time, in nanoseconds; null without an I/O.
    #[serde(default)]
    pub max_ns: Option<u64>,
}
