//! How trials are run.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::quantity::{Quantity, quantity};
use crate::units::{Time, UnitError};

/// How trials are run.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Run {
    /// Length of the measured part of a trial.
    pub runtime: Time,
    /// Length of the part before it, which is not measured.
    pub ramp_time: Time,
    /// How often each arm runs each workload; `auto` until every comparison is decided.
    pub repeats: Repeats,
    /// When `repeats: auto` stops at the latest.
    pub budget: Option<Time>,
    /// Order of the trials.
    pub order: Order,
    /// How long an arm runs before the next one takes over, in `order: sliced`.
    pub slice: Time,
    /// Fill images that cephmark makes with incompressible data before the first trial.
    pub prefill: bool,
    /// State of the client's cache at the start of a trial; without it that of a fresh connection.
    pub cache: Option<CacheState>,
    /// Drop the host's page cache before each measured part; for file and kernel paths, as root.
    pub drop_caches: bool,
    /// What an I/O error does: end the trial, or be counted.
    pub on_error: OnError,
    /// How long no I/O at all may complete before the cluster counts as stuck.
    pub stall: Time,
    /// How often an invalid trial is repeated.
    pub retries: u32,
    /// Seed of the order of trials and of every job without a `randseed`; without it a fresh one, which the result
    /// records.
    pub seed: Option<u64>,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            runtime: Time::from_secs(30),
            ramp_time: Time::from_secs(5),
            repeats: Repeats::Count(5),
            budget: None,
            order: Order::default(),
            slice: Time::from_secs(3),
            prefill: true,
            cache: None,
            drop_caches: false,
            on_error: OnError::default(),
            stall: Time::from_secs(120),
            retries: 2,
            seed: None,
        }
    }
}

/// How often each arm runs each workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// That many times.
    Count(u32),
    /// Until every comparison is decided, or the budget is spent.
    Auto,
}

quantity!(Repeats, "a number of repeats or auto");

impl FromStr for Repeats {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => text.parse().map(Self::Count).map_err(|_| Self::error(text)),
        }
    }
}

impl fmt::Display for Repeats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Auto => f.write_str("auto"),
        }
    }
}

/// Order of the trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// In blocks that hold every arm once, in random order.
    #[default]
    Interleaved,
    /// Arms held open and alternated within a trial.
    Sliced,
    /// All repeats of an arm, then the next arm.
    Sequential,
}

/// State of the client's cache at the start of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CacheState {
    /// Invalidated, and no ramp.
    Cold,
    /// After a pass over the working set that is not measured.
    Warm,
}

/// What an I/O error does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// It ends the trial.
    #[default]
    Stop,
    /// It is counted.
    Count,
}
