//! What `cephmark tune` searches.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::compare::Metric;
use super::constraint::Constraint;
use super::options::OptionValue;
use crate::units::Time;

/// What `cephmark tune` searches: the settings of one target that do best by one figure, within constraints.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tune {
    /// The target whose options are tuned; without it the only one.
    pub target: Option<String>,
    /// Ceph client options with the values to try; each value meets every value of the others.
    pub space: IndexMap<String, Vec<OptionValue>>,
    /// The figure that is to get better.
    #[serde(default)]
    pub objective: Objective,
    /// Bounds that a setting must keep to be advised, such as `p99 <= 20ms`.
    #[serde(default)]
    pub constraints: Vec<Constraint>,
    /// How long all of it may take, the confirmation included.
    pub budget: Time,
}

/// A figure that tuning makes better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// More I/Os per second.
    #[default]
    Iops,
    /// More bytes per second; of cached writes the effective rate.
    BytesPerS,
    /// A lower 99th percentile of the response time.
    P99,
    /// Less CPU per I/O.
    UsPerIo,
}

impl Objective {
    /// The metric that it makes better.
    #[must_use]
    pub const fn metric(self) -> Metric {
        match self {
            Self::Iops => Metric::Iops,
            Self::BytesPerS => Metric::BytesPerS,
            Self::P99 => Metric::P99,
            Self::UsPerIo => Metric::UsPerIo,
        }
    }
}
