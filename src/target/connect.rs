//! Connections to the cluster, made under a deadline.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::ceph::{Cluster, Config, Error, Role, within};
use crate::plan::{ClientOption, ClusterSpec};

/// What connecting takes beside waiting for the monitors, which the library bounds itself: reading files, starting threads,
/// name services.
const GRACE: Duration = Duration::from_secs(3);

/// Connects, with options of the connection's own.
///
/// # Errors
/// Of setting an option or of connecting; [`Error::Stuck`] some seconds after the cluster's timeout.
pub async fn connect(
    spec: &ClusterSpec,
    role: Role,
    options: Vec<(String, String)>,
    cancel: &CancellationToken,
) -> Result<Cluster, Error> {
    let spec = spec.clone();
    within("connecting to the cluster", spec.timeout + GRACE, cancel, move || {
        connect_blocking(&spec, role, &options)
    })
    .await
}

/// The options of an arm's clients.
pub(super) fn options_of(options: &[ClientOption]) -> Vec<(String, String)> {
    options.iter().map(|option| (option.name.clone(), option.value.clone())).collect()
}

/// As [`connect`], on a thread that is under a deadline already.
///
/// # Errors
/// Of setting an option or of connecting.
pub(super) fn connect_blocking(
    spec: &ClusterSpec,
    role: Role,
    options: &[(String, String)],
) -> Result<Cluster, Error> {
    let mut config = Config::new(spec.conf.as_deref(), &spec.user, spec.timeout, role)?;
    for (name, value) in options {
        config.set(name, value)?;
    }
    config.connect()
}
