//! Whether a plan can be run: everything that is checked of this host and of the cluster before anything is made.

use tokio_util::sync::CancellationToken;

use super::{Error, caches, paths, preflight, record};
use crate::ceph::Cluster;
use crate::plan::Plan;
use crate::result::Problem;

/// What a plan that can be run needs.
#[derive(Debug)]
pub struct Ready {
    /// The connection for set-up and clean-up, if any arm goes to a cluster.
    pub admin: Option<Cluster>,
    /// What the user should know.
    pub notes: Vec<Problem>,
}

impl Ready {
    /// Looks at files and devices, connects, and asks the cluster.
    ///
    /// # Errors
    /// The first thing that keeps the plan from being run.
    pub async fn check(plan: &Plan, cancel: &CancellationToken) -> Result<Self, Error> {
        let coded = |code: &'static str| move |text| record::problem(code, text);
        let mut notes = paths::check(plan, cancel).await?;
        if !preflight::needs_cluster(plan) {
            let notes = notes.into_iter().map(coded("existing_data")).collect();
            return Ok(Self { admin: None, notes });
        }
        preflight::options(plan)?;
        let admin = preflight::connect(&plan.cluster, cancel).await?;
        notes.extend(preflight::cluster(plan, &admin, cancel).await?);
        let of_caches = caches::check(plan, &admin)?.into_iter().map(coded("cache_option"));
        let notes = notes.into_iter().map(coded("existing_data")).chain(of_caches).collect();
        Ok(Self { admin: Some(admin), notes })
    }
}
