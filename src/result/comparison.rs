//! What a run proves about two arms.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::profile::Metric;

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
