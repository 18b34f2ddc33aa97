//! An arm held open under load: its clients opened afresh, what was read back of them, its load threads.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::events::Events;
use super::stage::{Stage, Stretch};
use super::{Error, judge, record};
use crate::ceph;
use crate::exit::Exit;
use crate::load::Ledger;
use crate::measure::{CpuUsage, Second, Tally};
use crate::plan::{Arm, CacheState, ClusterSpec, Job, RunSpec, Subject, WorkloadPlan};
use crate::report::Phase;
use crate::result::{Problem, Slice};
use crate::target::{self, Effective, Medium, Opened, Session, fill, warm};
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
    /// Which repeat of the two it is, from 0.
    pub repeat: u32,
    /// Which attempt at the repeat it is, from 0.
    pub attempt: u32,
    /// The jobs, fitted to the arm's images.
    pub jobs: Vec<Job>,
    /// What the arm's I/O goes to.
    pub medium: &'a Medium,
    /// The book of what was written, if any job on the arm verifies.
    pub ledger: Option<Arc<Ledger>>,
    /// What the host's processors do by themselves; none where Ceph daemons share the host.
    pub idle: Option<&'a CpuUsage>,
    /// Where progress goes.
    pub events: &'a Events,
    /// Cancelled by a signal.
    pub cancel: &'a CancellationToken,
}

/// What load on an arm gave, before it is written down.
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
    /// How long the flush at the end took.
    pub drain: Duration,
    /// Performance counters before and after the window.
    pub counters: [BTreeMap<String, Value>; 2],
    /// Performance counters as the window closed, before its flush, where a cache may owe something.
    pub at_stop: Option<BTreeMap<String, Value>>,
    /// The slices that all of this is the sum of, where arms alternated.
    pub slices: Vec<Slice>,
}

/// What is known of an arm that is, or was, held open.
#[derive(Debug)]
pub(super) struct About<'a> {
    /// What it was opened for.
    pub setting: Setting<'a>,
    /// Options in effect.
    pub effective: Vec<Effective>,
    /// What else is in effect that a fair comparison wants alike.
    pub conditions: BTreeMap<String, String>,
    /// Whether a write is durable once it is acknowledged; `None` where it is not known.
    pub durable_on_ack: Option<bool>,
    /// What the user should know of it.
    pub problems: Vec<Problem>,
    /// What failed outside of the measured windows: in the ramp, in a flush.
    pub failures: Vec<Problem>,
}

impl<'a> About<'a> {
    /// Reads back what is in effect.
    async fn of(setting: Setting<'a>, opened: &Opened) -> Result<Self, Error> {
        let Setting { arm, cancel, .. } = setting;
        let effective = opened.effective(arm, cancel).await?;
        let conditions = opened.conditions(cancel).await?;
        let durable_on_ack = opened.durable_on_ack(&effective);
        let problems = record::overrides(&setting, &effective)?;
        Ok(Self { setting, effective, conditions, durable_on_ack, problems, failures: Vec::new() })
    }

    /// What is in effect of a Ceph option, or of another condition.
    pub(super) fn in_effect(&self, name: &str) -> Option<String> {
        let option = self.effective.iter().find(|option| option.name == name).map(|option| &option.value);
        option.or_else(|| self.conditions.get(name)).cloned()
    }
}

/// An arm held open under load.
#[derive(Debug)]
pub(super) struct Held<'a> {
    /// What is known of it.
    pub about: About<'a>,
    /// Its clients and load threads.
    pub session: Session,
}

impl<'a> Held<'a> {
    /// Opens the arm, and reads back what is in effect.
    ///
    /// # Errors
    /// Of setting up; [`Error::Target`] if a swept setting is not in effect.
    pub(super) async fn open(setting: Setting<'a>) -> Result<Self, Error> {
        setting.events.phase(Phase::Open, Duration::ZERO);
        let Setting { cluster, arm, cancel, .. } = setting;
        let threads = setting.workload.threads() as usize;
        let opened = setting.medium.open(cluster, arm, threads, cancel).await?;
        let about = match About::of(setting, &opened).await {
            Ok(about) => about,
            Err(error) => {
                // The first error is the one to tell.
                let _ = opened.close().await;
                return Err(error);
            }
        };
        let Setting { jobs, ledger, .. } = &about.setting;
        let session = Session::start(arm, opened, jobs.clone(), ledger.clone())?;
        Ok(Self { about, session })
    }

    /// Where its windows of load are driven.
    pub(super) fn stage(&self) -> Stage<'a> {
        let Setting { run, events, cancel, .. } = self.about.setting;
        Stage { run, events, cancel }
    }

    /// The state of the caches that the profile asks for, the load before the measured part, the flush after which caches
    /// are clean, and the drop after which the page cache is empty.
    pub(super) async fn ramp(&mut self) -> Result<(), Error> {
        match self.about.setting.run.cache {
            Some(CacheState::Cold) => self.stage().invalidate(&self.session).await?,
            Some(CacheState::Warm) => self.warm().await?,
            None => {}
        }
        let length = self.about.setting.workload.ramp_time;
        if length > Duration::ZERO {
            let driven = self.stage().drive(&mut self.session, Stretch::ramp(length)).await?;
            let tallies = self.about.setting.jobs.iter().zip(&driven.tallies);
            // What failed, or was read wrong, in the ramp is as wrong as what comes later.
            self.about.failures.extend(tallies.flat_map(|(job, tally)| judge::failures(job, tally)));
            self.flush().await?;
        }
        let Setting { run, arm, .. } = self.about.setting;
        if run.drop_caches && arm.access().is_some() {
            target::drop_page_cache(run.stall).await?;
        }
        Ok(())
    }

    /// A pass over every block that the load may touch.
    async fn warm(&mut self) -> Result<(), Error> {
        let (stage, setting) = (self.stage(), &self.about.setting);
        if matches!(setting.arm.subject, Subject::Null(_)) {
            return Ok(());
        }
        stage.events.phase(Phase::Warm, Duration::ZERO);
        let jobs = warm::jobs(&setting.jobs, setting.arm.images(), setting.arm.handles);
        self.session.change_jobs(setting.arm, jobs.clone(), None).await?;
        let driven = stage.drive(&mut self.session, Stretch::measured(fill::LONG)).await?;
        let tallies = jobs.iter().zip(&driven.tallies);
        self.about.failures.extend(tallies.flat_map(|(job, tally)| judge::failures(job, tally)));
        Ok(self.session.change_jobs(setting.arm, setting.jobs.clone(), setting.ledger.clone()).await?)
    }

    /// Makes durable what the clients hold, and tells how long that took. Data that could not be written, as of a client
    /// that the cluster blocklisted, is a failure of the trial and not of the run.
    pub(super) async fn flush(&mut self) -> Result<Duration, Error> {
        match self.stage().flush(&self.session).await {
            Err(
                stuck @ (Error::GaveUp(_) | Error::Target(target::Error::Ceph(ceph::Error::Stuck { .. }))),
            ) => Err(stuck),
            Err(error) => {
                let text = format!("a flush failed, and with it what was cached is lost: {error}");
                self.about.failures.push(record::problem("flush_failed", text));
                Ok(Duration::ZERO)
            }
            Ok(took) => Ok(took),
        }
    }

    /// Adds to the error of a stuck cluster what the client waits for.
    pub(super) async fn explain(&self, error: Error) -> Error {
        match self.session.clients() {
            Some(clients) if error.exit() == Exit::Stuck => match clients.requests_in_flight().await {
                Some(waiting) => Error::Hangs { cause: Box::new(error), waiting },
                None => error,
            },
            _ => error,
        }
    }

    /// Ends the load threads and closes; what fails of it is a problem of the trial.
    pub(super) async fn close(self) -> About<'a> {
        let Self { mut about, session } = self;
        if let Err(error) = session.end().await {
            let text = format!("closing after the trial failed: {error}");
            about.problems.push(record::problem("close_failed", text));
        }
        about
    }
}
