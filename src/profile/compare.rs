//! How arms are compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Percent;

/// How arms are compared.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Compare {
    /// The arm that the others are compared with; a bare target name where the target has one arm. Without it the first.
    pub baseline: Option<String>,
    /// What is compared.
    pub metrics: Vec<Metric>,
    /// The smallest difference that matters.
    pub min_effect: Percent,
    /// Half width of the interval at which `repeats: auto` is content.
    pub precision: Percent,
}

impl Default for Compare {
    fn default() -> Self {
        Self {
            baseline: None,
            metrics: vec![Metric::Iops, Metric::P99],
            min_effect: Percent::whole(3),
            precision: Percent::whole(2),
        }
    }
}

/// A figure that arms are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// I/Os per second.
    Iops,
    /// Bytes per second; of cached writes the effective rate.
    BytesPerS,
    /// Mean response time.
    Mean,
    /// Median of the response time.
    P50,
    /// 99th percentile of the response time.
    P99,
    /// 99.9th percentile of the response time.
    #[serde(rename = "p99_9")]
    P99_9,
    /// CPU per I/O.
    UsPerIo,
}

impl Metric {
    /// Every metric, in the order of reports.
    pub const ALL: [Self; 7] =
        [Self::Iops, Self::BytesPerS, Self::Mean, Self::P50, Self::P99, Self::P99_9, Self::UsPerIo];

    /// Its name in profiles and result files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::BytesPerS => "bytes_per_s",
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::P99_9 => "p99_9",
            Self::UsPerIo => "us_per_io",
        }
    }

    /// Whether more of it is better: rates yes, times and costs no.
    #[must_use]
    pub const fn higher_is_better(self) -> bool {
        matches!(self, Self::Iops | Self::BytesPerS)
    }
}
