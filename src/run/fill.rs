//! Fills the images of an arm before it is measured.

use std::sync::Arc;
use std::time::Duration;

use super::Error;
use super::stage::{Stage, Stretch};
use crate::load::Ledger;
use crate::plan::{Arm, ClusterSpec, Sharing};
use crate::report::Phase;
use crate::target::{Medium, Session, fill};
use crate::units::Bytes;

/// Writes every block of the images or of the file once, through a client with the cluster's own settings: those under test are for
/// the trials.
///
/// # Errors
/// Of opening; [`Error::Refused`] if a write fails.
pub(super) async fn fill(
    stage: Stage<'_>,
    cluster: &ClusterSpec,
    arm: &Arm,
    medium: &Medium,
    size: Bytes,
    ledger: Option<(Arc<Ledger>, Bytes)>,
) -> Result<(), Error> {
    let mut arm = arm.clone();
    arm.options.clear();
    (arm.handles, arm.connections) = (Sharing::Shared, Sharing::Shared);
    let (ledger, unit) = ledger.unzip();
    let jobs = fill::jobs(arm.images(), size, unit, stage.run.seed);
    let opened = medium.open(cluster, &arm, jobs.len(), stage.cancel).await?;
    let mut session = Session::start(&arm, opened, jobs, ledger)?;
    stage.events.phase(Phase::Fill, Duration::ZERO);
    let filled = stage.drive(&mut session, Stretch::measured(fill::LONG)).await;
    let flushed = match filled {
        // A flush would wait for the same.
        Err(Error::GaveUp(_)) => Ok(Duration::ZERO),
        _ => stage.flush(&session).await,
    };
    let ended = session.end().await;
    // Of a cluster that is stuck the first of these tells most.
    let filled = filled?;
    flushed?;
    ended?;
    match filled.tallies.iter().find_map(|tally| tally.failure.as_ref()) {
        Some(failure) => Err(Error::Refused(format!("filling {} failed: {failure}", arm.name))),
        None => Ok(()),
    }
}
