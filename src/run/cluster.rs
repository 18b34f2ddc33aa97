//! What a result says of the cluster.

use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::ceph::{self, within};
use crate::plan::Plan;
use crate::result::{Cluster, Pool};

/// A pool as `osd pool ls detail` tells it.
#[derive(Deserialize)]
struct PoolDetail {
    pool_name: String,
    #[serde(default, rename = "type")]
    kind: u32,
    #[serde(default)]
    size: u32,
    #[serde(default)]
    min_size: u32,
    #[serde(default)]
    pg_num: u32,
}

/// Number of erasure-coded pools in Ceph's maps.
const ERASURE: u32 = 3;

/// Describes the cluster and the pools of the plan.
///
/// # Errors
/// Of asking the monitors.
pub(super) async fn describe(
    plan: &Plan,
    admin: &ceph::Cluster,
    cancel: &CancellationToken,
) -> Result<Cluster, ceph::Error> {
    let (names, admin) = (plan.pools(), admin.clone());
    within("describing the cluster", admin.timeout() * 4, cancel, move || {
        let version = admin.version()?;
        let health = admin.mon_command(&json!({"prefix": "health", "format": "json"}))?;
        let pools =
            admin.mon_command(&json!({"prefix": "osd pool ls", "detail": "detail", "format": "json"}))?;
        let pools: Vec<PoolDetail> = pools
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|pool| PoolDetail::deserialize(pool).ok())
            .collect();
        Ok(Cluster {
            fsid: admin.fsid()?,
            release: format!("{} {}", version.number, version.name),
            client_release: format!("librbd {}", ceph::librbd_version()?),
            health: health["status"].as_str().unwrap_or("unknown").to_owned(),
            osds: admin.osds()?.up,
            pools: pools
                .into_iter()
                .filter(|pool| names.contains(&pool.pool_name))
                .map(|pool| {
                    let kind = if pool.kind == ERASURE { "erasure" } else { "replicated" };
                    let PoolDetail { size, min_size, pg_num, .. } = pool;
                    (pool.pool_name, Pool { kind: kind.to_owned(), size, min_size, pg_num })
                })
                .collect(),
        })
    })
    .await
}
