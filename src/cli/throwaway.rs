//! Commands on a throwaway cluster that lasts as long as they do: `--lab`.

use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use super::{Failure, runtime};
use crate::console;
use crate::lab::{self, Lab, LabSpec, Watcher};
use crate::plan::ClusterSpec;
use crate::run;

/// Carries out a command on a runtime; where pools are given, with a throwaway cluster of this host that has them, and that
/// is taken down whatever happens.
///
/// # Errors
/// [`Failure`] of the command, or of the cluster.
pub(super) fn with_lab<T>(
    pools: Option<Vec<String>>,
    command: impl AsyncFnOnce(Option<&Lab>, CancellationToken) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let dir = std::env::temp_dir().join(format!("cephmark-run-{}", std::process::id()));
    let lab_dir = dir.clone();
    let take_lab_down = move || {
        if let Ok(Some(lab)) = lab::Cluster::find(&lab_dir) {
            // There is nobody left to be told.
            let _ = lab.down();
        }
    };
    runtime(take_lab_down, async |interrupted| {
        let lab = match pools {
            Some(pools) => Some(start(dir, pools, &interrupted).await?),
            None => None,
        };
        let outcome = command(lab.as_ref(), interrupted).await;
        if let Some(lab) = lab {
            tokio::task::spawn_blocking(move || lab.end()).await.map_err(run::Error::from_join)??;
        }
        outcome
    })
}

async fn start(dir: PathBuf, pools: Vec<String>, interrupted: &CancellationToken) -> Result<Lab, Failure> {
    let spec = LabSpec { pools, ..LabSpec::new(dir) };
    let token = interrupted.clone();
    let up = tokio::task::spawn_blocking(move || {
        let say = |line: &str| console::say(format_args!("lab: {line}"));
        Lab::up(&spec, &Watcher::new(&say, &|| token.is_cancelled()))
    });
    Ok(up.await.map_err(run::Error::from_join)??)
}

/// Makes a plan use the lab, if there is one.
pub(super) fn use_lab(cluster: &mut ClusterSpec, lab: Option<&Lab>) {
    if let Some(lab) = lab {
        cluster.conf = Some(lab.conf());
        cluster.user = "client.admin".to_owned();
    }
}
