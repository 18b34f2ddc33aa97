//! How full a pool and its cluster are, and how far they may be filled.

use serde::Deserialize;
use serde_json::json;

use super::{Cluster, Error, Pool};
use crate::units::Bytes;

/// How full a cluster is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterUsage {
    /// What all OSDs together hold when full.
    pub total: Bytes,
    /// What they hold now, copies included.
    pub used: Bytes,
    /// The share of an OSD from which on the cluster warns, 0 to 1.
    pub nearfull_ratio: f64,
    /// The share of an OSD from which on writes block, 0 to 1.
    pub full_ratio: f64,
}

/// How full a pool is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoolUsage {
    /// What clients stored, without copies.
    pub stored: Bytes,
    /// What clients can store in addition, as the cluster reckons it; 0 for a pool that it has not yet looked at.
    pub available: Bytes,
    /// How many bytes its quota allows, if it has one.
    pub quota: Option<Bytes>,
    /// How many bytes the OSDs write for each byte stored: copies, or coding chunks.
    pub amplification: f64,
}

#[derive(Deserialize)]
struct Df {
    stats: DfStats,
    #[serde(default)]
    pools: Vec<DfPool>,
}

#[derive(Deserialize)]
struct DfStats {
    total_bytes: u64,
    total_used_raw_bytes: u64,
}

#[derive(Deserialize)]
struct DfPool {
    name: String,
    stats: DfPoolStats,
}

#[derive(Deserialize)]
struct DfPoolStats {
    stored: u64,
    max_avail: u64,
}

#[derive(Deserialize)]
struct OsdDump {
    nearfull_ratio: f64,
    full_ratio: f64,
    #[serde(default)]
    pools: Vec<OsdDumpPool>,
}

#[derive(Deserialize)]
struct OsdDumpPool {
    pool_name: String,
    size: u32,
    #[serde(default)]
    quota_max_bytes: u64,
    #[serde(default)]
    erasure_code_profile: String,
}

impl Cluster {
    /// How full the cluster is.
    ///
    /// # Errors
    /// As [`Cluster::mon_command`].
    pub fn usage(&self) -> Result<ClusterUsage, Error> {
        let df: Df = self.ask(&json!({"prefix": "df"}))?;
        let dump: OsdDump = self.ask(&json!({"prefix": "osd dump"}))?;
        Ok(ClusterUsage {
            total: Bytes(df.stats.total_bytes),
            used: Bytes(df.stats.total_used_raw_bytes),
            nearfull_ratio: dump.nearfull_ratio,
            full_ratio: dump.full_ratio,
        })
    }

    /// How many bytes are written for each byte stored in a pool of this size and erasure code profile.
    fn amplification(&self, size: u32, profile: &str) -> Result<f64, Error> {
        if profile.is_empty() {
            return Ok(size.into());
        }
        #[derive(Deserialize)]
        struct Profile {
            k: String,
        }
        let reply: Profile = self.ask(&json!({"prefix": "osd erasure-code-profile get", "name": profile}))?;
        let data: f64 = reply.k.parse().map_err(|error| Error::Reply {
            command: "osd erasure-code-profile get".to_owned(),
            reason: format!("k is `{}`: {error}", reply.k),
        })?;
        Ok(f64::from(size) / data)
    }
}

impl Pool {
    /// How full the pool is.
    ///
    /// # Errors
    /// As [`Cluster::mon_command`].
    pub fn usage(&self) -> Result<PoolUsage, Error> {
        let df: Df = self.cluster().ask(&json!({"prefix": "df"}))?;
        let dump: OsdDump = self.cluster().ask(&json!({"prefix": "osd dump"}))?;
        // A pool that is only seconds old has no statistics yet.
        let stats = df.pools.into_iter().find(|pool| pool.name == self.name());
        let (stored, available) = stats.map_or((0, 0), |pool| (pool.stats.stored, pool.stats.max_avail));
        let pool = dump.pools.into_iter().find(|pool| pool.pool_name == self.name()).ok_or_else(|| {
            Error::Reply {
                command: "osd dump".to_owned(),
                reason: format!("it does not list the pool {}; was it removed?", self.name()),
            }
        })?;
        Ok(PoolUsage {
            stored: Bytes(stored),
            available: Bytes(available),
            quota: (pool.quota_max_bytes > 0).then_some(Bytes(pool.quota_max_bytes)),
            amplification: self.cluster().amplification(pool.size, &pool.erasure_code_profile)?,
        })
    }
}
