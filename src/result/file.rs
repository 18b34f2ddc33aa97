//! The whole of a result file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cluster, Comparison, Host, Problem, Timestamp, Tool, Trial};

/// The format this version writes, and the newest it reads.
pub const FORMAT: u32 = 1;

/// One run: the profile, the provenance and every trial that is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultFile {
    /// Version of this format; a reader refuses a newer one than its own.
    pub format: u32,
    /// What wrote the file.
    pub tool: Tool,
    /// The profile in full, after `--set`.
    pub profile: serde_json::Value,
    /// When the run began.
    pub started: Timestamp,
    /// When the run ended, by itself or by an interruption; null while it goes on and after a crash.
    #[serde(default)]
    pub finished: Option<Timestamp>,
    /// How many trials the plan has, without retries; fewer in `trials` mean that the run did not get to its end.
    #[serde(default)]
    pub planned_trials: u32,
    /// With `repeats: auto` how many repeats there may be at the most, which the intervals of comparisons allow for; null
    /// for a fixed number.
    #[serde(default)]
    pub most_repeats: Option<u32>,
    /// Seed of the order of trials and of every random choice.
    #[serde(default)]
    pub seed: u64,
    /// How the trials of different arms were ordered.
    #[serde(default)]
    pub order: Order,
    /// The machine the load ran on.
    #[serde(default)]
    pub host: Host,
    /// The profile's labels, which tell results of different places apart.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// The cluster as it was when the run began; null where no target used one.
    #[serde(default)]
    pub cluster: Option<Cluster>,
    /// What a reader must know about the plan, such as blocks left out because `bs` does not divide the image.
    #[serde(default)]
    pub notes: Vec<Problem>,
    /// Every trial that is over, in the order they ran, with those that were repeated.
    #[serde(default)]
    pub trials: Vec<Trial>,
    /// What the trials prove about the arms.
    #[serde(default)]
    pub comparisons: Vec<Comparison>,
}

impl ResultFile {
    /// The result of a run that is about to begin: this tool, this profile, nothing measured.
    #[must_use]
    pub fn new(profile: serde_json::Value, started: Timestamp) -> Self {
        Self {
            format: FORMAT,
            tool: Tool::this(),
            profile,
            started,
            finished: None,
            planned_trials: 0,
            most_repeats: None,
            seed: 0,
            order: Order::default(),
            host: Host::default(),
            labels: BTreeMap::new(),
            cluster: None,
            notes: Vec::new(),
            trials: Vec::new(),
            comparisons: Vec::new(),
        }
    }

    /// The profile's name, or "unnamed".
    #[must_use]
    pub fn name(&self) -> &str {
        self.profile.get("name").and_then(serde_json::Value::as_str).unwrap_or("unnamed")
    }
}

/// `run.order`: how the trials of different arms were ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Whole trials in random blocks, each of which holds every arm once.
    #[default]
    Interleaved,
    /// Arms held open together and alternated within a trial.
    Sliced,
    /// All repeats of an arm, then those of the next.
    Sequential,
}

/// JSON Schema of the result file.
#[must_use]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(ResultFile)
}
