//! The cluster that answered.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What of a cluster moves the figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cluster {
    /// Its id; results of different clusters never compare without a warning.
    pub fsid: String,
    /// Version and name of its monitors, such as `16.2.15 pacific`.
    pub release: String,
    /// Version of the client libraries in this process, such as `16.2.15`.
    pub client_release: String,
    /// Its health when the run began, such as `HEALTH_OK`.
    pub health: String,
    /// OSDs that were up and in.
    pub osds: u32,
    /// The pools under test, by name.
    pub pools: BTreeMap<String, Pool>,
}

/// A pool under test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Pool {
    /// `replicated` or `erasure`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Copies of each object, or data plus coding chunks.
    pub size: u32,
    /// Copies or chunks without which it takes no I/O.
    pub min_size: u32,
    /// Placement groups.
    pub pg_num: u32,
}
