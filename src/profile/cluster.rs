//! Which cluster to use, and as whom.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Time;

/// Which cluster to use, and as whom.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cluster {
    /// Path of `ceph.conf`. Without it `CEPH_CONF` counts, then Ceph's own search path.
    pub conf: Option<PathBuf>,
    /// Ceph user, with its type.
    pub user: String,
    /// How long connecting and every single command may take.
    pub timeout: Time,
}

impl Default for Cluster {
    fn default() -> Self {
        Self { conf: None, user: "client.admin".to_owned(), timeout: Time::from_secs(15) }
    }
}
