//! How the cluster is, cheaply: what its monitors answer from memory, with or without a manager.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;

use super::{Cluster, Error};

/// The state of a cluster as its monitors know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Version of the OSD map; it grows with every change of an OSD, a pool or a flag.
    pub osd_epoch: u64,
    /// The monitors that are in quorum.
    pub monitors: Vec<String>,
    /// Whether a manager is active. Without one [`Self::pgs`], and the health of what OSDs report, stay as they last were.
    pub manager: bool,
    /// States of the placement groups of all pools, such as `active+clean`, and how many are in each.
    pub pgs: Vec<(String, u64)>,
    /// Health checks that complain: code, such as `SLOW_OPS`, to a line of text.
    pub health: BTreeMap<String, String>,
}

/// The OSDs and the pools, as the monitors decide on them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct OsdMap {
    /// Its version.
    pub epoch: u64,
    /// Every OSD that exists.
    pub osds: Vec<Osd>,
    /// Every pool.
    pub pools: Vec<PoolState>,
}

/// An OSD in the map.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Osd {
    /// Its number.
    #[serde(rename = "osd")]
    pub id: u32,
    /// 1 if it runs.
    up: u8,
    /// 1 if data is placed on it.
    #[serde(rename = "in")]
    taking_data: u8,
    /// Version of the map in which it last came up: another one after each restart.
    pub up_from: u64,
}

/// A pool in the OSD map.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PoolState {
    /// Its number, with which the names of its placement groups begin.
    #[serde(rename = "pool")]
    pub id: u64,
    /// Its name.
    #[serde(rename = "pool_name")]
    pub name: String,
    /// Its flags, comma-separated, such as `hashpspool,nearfull`.
    #[serde(rename = "flags_names")]
    flags: String,
}

impl Osd {
    /// Whether it runs.
    #[must_use]
    pub const fn is_up(&self) -> bool {
        self.up == 1
    }

    /// Whether data is placed on it.
    #[must_use]
    pub const fn is_in(&self) -> bool {
        self.taking_data == 1
    }
}

impl PoolState {
    /// Whether it has a flag, such as `nearfull`.
    #[must_use]
    pub fn has(&self, flag: &str) -> bool {
        self.flags.split(',').any(|known| known == flag)
    }
}

impl Cluster {
    /// How the cluster is. The monitors answer from memory, in a few kilobytes whatever the cluster's size.
    ///
    /// # Errors
    /// As [`Cluster::mon_command`].
    pub fn status(&self) -> Result<Status, Error> {
        let reply: StatusReply = self.ask(&json!({"prefix": "status"}))?;
        Ok(Status {
            osd_epoch: reply.osdmap.epoch,
            monitors: reply.quorum_names,
            manager: reply.mgrmap.available,
            pgs: reply.pgmap.pgs_by_state.into_iter().map(|pgs| (pgs.state_name, pgs.count)).collect(),
            health: reply
                .health
                .checks
                .into_iter()
                .map(|(code, check)| (code, check.summary.message))
                .collect(),
        })
    }

    /// The OSDs and the pools: some hundred bytes for each, from the monitors' memory.
    ///
    /// # Errors
    /// As [`Cluster::mon_command`].
    pub fn osd_map(&self) -> Result<OsdMap, Error> {
        self.ask(&json!({"prefix": "osd dump"}))
    }

    /// The placement groups of all pools: the pool's number and the group's state. Needs a manager: without one it takes
    /// the connection's timeout, and fails.
    ///
    /// # Errors
    /// As [`Cluster::mon_command`].
    pub fn pg_states(&self) -> Result<Vec<(u64, String)>, Error> {
        let reply: PgDump = self.ask(&json!({"prefix": "pg dump", "dumpcontents": ["pgs_brief"]}))?;
        let pool = |pgid: &str| pgid.split('.').next()?.parse().ok();
        Ok(reply.pg_stats.into_iter().filter_map(|pg| Some((pool(&pg.pgid)?, pg.state))).collect())
    }
}

#[derive(Deserialize)]
struct StatusReply {
    health: Health,
    quorum_names: Vec<String>,
    osdmap: Epoch,
    pgmap: PgMap,
    mgrmap: MgrMap,
}

#[derive(Deserialize)]
struct Health {
    checks: BTreeMap<String, HealthCheck>,
}

#[derive(Deserialize)]
struct HealthCheck {
    summary: Summary,
}

#[derive(Deserialize)]
struct Summary {
    message: String,
}

#[derive(Deserialize)]
struct Epoch {
    epoch: u64,
}

#[derive(Deserialize)]
struct PgMap {
    #[serde(default)]
    pgs_by_state: Vec<PgsInState>,
}

#[derive(Deserialize)]
struct PgsInState {
    state_name: String,
    count: u64,
}

#[derive(Deserialize)]
struct MgrMap {
    available: bool,
}

#[derive(Deserialize)]
struct PgDump {
    pg_stats: Vec<Pg>,
}

#[derive(Deserialize)]
struct Pg {
    pgid: String,
    state: String,
}
