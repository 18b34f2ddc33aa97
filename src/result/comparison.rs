//! What a run proves about two arms.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One arm against the baseline, by one metric of one job and operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The workload both ran.
    pub workload: String,
    /// Swept settings of the workload; those of the arms are in their names.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// The job; empty for the only, unnamed one.
    #[serde(default)]
    pub job: String,
    /// The operation, as in `jobs` of a trial.
    pub op: String,
    /// What is compared.
    pub metric: Metric,
    /// The arm compared against.
    pub baseline: String,
    /// The arm that the verdict is about.
    pub candidate: String,
    /// Candidate over baseline.
    pub ratio: f64,
    /// Interval that holds the true ratio with probability `level`, for all comparisons of the run at once.
    pub ci: [f64; 2],
    /// Confidence level of the interval, 0 to 1.
    pub level: f64,
    /// Probability of a difference as large as this without any true one, corrected for all comparisons of the run.
    pub p_value: f64,
    /// What follows.
    pub verdict: Verdict,
}

/// A figure that arms are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// I/Os per second.
    Iops,
    /// Bytes per second; the effective rate for cached writes.
    BytesPerS,
    /// Mean response time.
    Mean,
    /// Median response time.
    P50,
    /// 99th percentile of the response time.
    P99,
    /// 99.9th percentile of the response time.
    #[serde(rename = "p99_9")]
    P999,
    /// CPU time per I/O.
    UsPerIo,
}

impl Metric {
    /// Every metric, in the order of reports.
    pub const ALL: [Self; 7] =
        [Self::Iops, Self::BytesPerS, Self::Mean, Self::P50, Self::P99, Self::P999, Self::UsPerIo];

    /// Its name in profiles and result files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::BytesPerS => "bytes_per_s",
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::P999 => "p99_9",
            Self::UsPerIo => "us_per_io",
        }
    }

    /// Whether more of it is better: rates yes, times and costs no.
    #[must_use]
    pub const fn higher_is_better(self) -> bool {
        matches!(self, Self::Iops | Self::BytesPerS)
    }
}

/// What is proven about the candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The interval excludes no difference, on the good side.
    Better,
    /// The interval excludes no difference, on the bad side.
    Worse,
    /// The interval lies within `compare.min_effect`: any difference is too small to matter.
    Same,
    /// None of these is proven.
    Undecided,
}
