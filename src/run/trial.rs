//! One trial: clients opened afresh, ramp, clean caches, the measured window, the flush, everything read back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::events::Events;
use super::stage::{Driven, Stage};
use super::{Error, record};
use crate::ceph::{self, ImageInfo};
use crate::load::Ledger;
use serde_json::Value;

use crate::measure::{CpuUsage, Second, Tally};
use crate::plan::{Arm, ClusterSpec, Job, RunSpec, WorkloadPlan};
use crate::report::Phase;
use crate::result::{Timestamp, Trial};
use crate::target::{Clients, Effective, ImageSet, Session};
use crate::units::Bytes;

/// What a trial needs to know.
#[derive(Debug)]
pub(super) struct Setting<'a> {
    /// The cluster.
    pub cluster: &'a ClusterSpec,
    /// How trials are run.
    pub run: &'a RunSpec,
    /// The arm.
    pub arm: &'a Arm,
    /// The workload.
    pub workload: &'a WorkloadPlan,
    /// The jobs, fitted to the arm's images.
    pub jobs: Vec<Job>,
    /// The arm's images; none for the null target.
    pub images: Option<&'a ImageSet>,
    /// The book of what was written, if any job on the arm verifies.
    pub ledger: Option<Arc<Ledger>>,
    /// What the host's processors do by themselves; none where Ceph daemons share the host.
    pub idle: Option<&'a CpuUsage>,
    /// Where progress goes.
    pub events: &'a Events,
    /// Cancelled by a signal.
    pub cancel: &'a CancellationToken,
}

/// What a trial gave, before it is written down.
#[derive(Debug)]
pub(super) struct Outcome {
    /// A tally for each job.
    pub tallies: Vec<Tally>,
    /// The seconds of each job.
    pub series: Vec<Vec<Second>>,
    /// CPU time of the measured window.
    pub cpu: CpuUsage,
    /// Peak resident memory.
    pub peak_memory: Option<Bytes>,
    /// How long the flush at the end took, or why it failed.
    pub drain: Result<Duration, ceph::Error>,
    /// Options in effect.
    pub effective: Vec<Effective>,
    /// Performance counters before and after the window.
    pub counters: [BTreeMap<String, Value>; 2],
    /// What the images look like; none for the null target.
    pub look: Option<ImageInfo>,
}

impl Outcome {
    fn of(
        driven: Driven,
        drain: Result<Duration, ceph::Error>,
        counters: [BTreeMap<String, Value>; 2],
    ) -> Self {
        let Driven { tallies, series, cpu, peak_memory } = driven;
        Self { tallies, series, cpu, peak_memory, drain, effective: Vec::new(), counters, look: None }
    }
}

/// Runs one trial to its record. A trial whose load failed is a record too; an error is what ends the run.
///
/// # Errors
/// Of setting up; [`Error::Target`] with exit code 5 if the cluster is stuck; [`Error::Interrupted`].
pub(super) async fn run(setting: Setting<'_>, repeat: u32, attempt: u32) -> Result<Trial, Error> {
    let clients = open(&setting).await?;
    let (effective, look) = match &clients {
        Some(clients) => {
            (clients.effective(setting.arm, setting.cancel).await?, Some(clients.look(setting.cancel).await?))
        }
        None => (Vec::new(), None),
    };
    let mut problems = record::overrides(&setting, &effective)?;
    let mut session = Session::start(setting.arm, clients, setting.jobs.clone(), setting.ledger.clone())?;
    let started = Timestamp::now();
    let measured = measure(&setting, &mut session).await;
    if let Err(error) = &measured
        && let Some(clients) = session.clients()
        && let Some(waiting) = clients.requests_in_flight().await
    {
        setting.events.message(format!("{error}; {waiting}"));
    }
    let ended = session.end().await;
    let outcome = Outcome { effective, look, ..measured? };
    if let Err(error) = ended {
        problems.push(record::problem("close_failed", format!("closing after the trial failed: {error}")));
    }
    Ok(record::trial(&setting, repeat, attempt, started, &outcome, problems))
}

async fn open(setting: &Setting<'_>) -> Result<Option<Clients>, Error> {
    let Some(images) = setting.images else { return Ok(None) };
    setting.events.phase(Phase::Open, Duration::ZERO);
    let threads = setting.workload.threads() as usize;
    Ok(Some(Clients::open(setting.cluster, setting.arm, images, threads, setting.cancel).await?))
}

/// Ramp, flush, measured window, flush; the counters on both sides of it.
async fn measure(setting: &Setting<'_>, session: &mut Session) -> Result<Outcome, Error> {
    let stage = Stage { run: setting.run, events: setting.events, cancel: setting.cancel };
    let WorkloadPlan { ramp_time, runtime, .. } = *setting.workload;
    let mut ramp = None;
    if ramp_time > Duration::ZERO {
        let driven = stage.drive(session, Phase::Ramp, ramp_time).await?;
        if driven.failed() {
            return Ok(Outcome::of(driven, Ok(Duration::ZERO), Default::default()));
        }
        session.flush(setting.run.stall).await?;
        ramp = Some(driven);
    }
    let before = session.counters().await?;
    let mut driven = stage.drive(session, Phase::Measure, runtime).await?;
    // What was read wrong in the ramp is as wrong as what was read later.
    for (tally, ramp) in driven.tallies.iter_mut().zip(ramp.into_iter().flat_map(|ramp| ramp.tallies)) {
        tally.checks.merge(ramp.checks);
    }
    setting.events.phase(Phase::Drain, Duration::ZERO);
    let drain = match session.flush(setting.run.stall).await {
        Err(stuck @ ceph::Error::Stuck { .. }) => return Err(stuck.into()),
        drain => drain,
    };
    let counters = [before, session.counters().await?];
    Ok(Outcome::of(driven, drain, counters))
}
