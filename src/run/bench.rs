//! What plans that run one after the other have in common: the connection, the watch, the images and what is in them.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use nix::errno::Errno;
use tokio_util::sync::CancellationToken;

use super::campaign::Campaign;
use super::events::Events;
use super::id::RunId;
use super::ready::Ready;
use super::stage::Stage;
use super::watch::Watch;
use super::{Error, cluster, describe, fill, paths, preflight, record};
use crate::ceph::{Cluster, Image};
use crate::exit::Exit;
use crate::load::Ledger;
use crate::measure::{CpuUsage, Host};
use crate::plan::{Arm, ManagedImages, Plan, Subject, WorkloadPlan};
use crate::report::Phase;
use crate::result::{self, Problem, ResultDirectory, ResultFile, Timestamp};
use crate::target::managed::{self, Made, NAME_PREFIX};
use crate::target::{FileSet, ImageSet, MappedSet, Medium, new_file};
use crate::units::Bytes;

/// Where plans run one after the other: a cluster, and images that stay from one to the next.
#[derive(Debug)]
pub struct Bench {
    id: RunId,
    pub(super) admin: Option<Cluster>,
    pub(super) watch: Watch,
    /// What the host's processors do by themselves; none where Ceph daemons share the host.
    pub(super) idle: Option<CpuUsage>,
    /// The images of each arm, or those that all arms share.
    pub(super) images: Vec<Prepared>,
    host: result::Host,
    cluster: Option<result::Cluster>,
    notes: Vec<Problem>,
    /// How many trials were begun, repeated ones counted once.
    begun: usize,
}

/// What an arm's I/O goes to, and the state it is in.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) medium: Medium,
    pub(super) size: Bytes,
    pub(super) ledger: Option<Arc<Ledger>>,
    /// Its size and the rest is known, and what is to be made is there.
    created: bool,
    /// Every block holds data; not so before the first fill and after a workload that trims.
    filled: bool,
    /// What was made of its images.
    made: Made,
    /// What was made of its file.
    file: new_file::Made,
    managed: Option<ManagedImages>,
}

impl Bench {
    /// Connects, and checks what the plan needs; nothing is made yet. Later plans have the same targets.
    ///
    /// # Errors
    /// What keeps the plan from being run.
    pub async fn open(plan: &Plan, cancel: &CancellationToken) -> Result<Self, Error> {
        let id = RunId::new();
        let arms = plan.arms.iter().enumerate().take(plan.image_sets());
        let mut bench = Self {
            id,
            admin: None,
            watch: Watch::of_nothing(),
            idle: None,
            images: arms.map(|(index, arm)| Prepared::new(arm, id, index)).collect(),
            // Before Ceph's libraries are loaded, which may bring an allocator that nobody uses.
            host: record::host(Host::probe()),
            cluster: None,
            notes: Vec::new(),
            begun: 0,
        };
        let Ready { admin, notes } = Ready::check(plan, cancel).await?;
        bench.notes = notes;
        if let Some(admin) = admin {
            bench.cluster = Some(cluster::describe(plan, &admin, cancel).await?);
            bench.watch = Watch::open(plan, cancel).await?;
            bench.admin = Some(admin);
        }
        bench.idle = preflight::idle_baseline(cancel).await;
        Ok(bench)
    }

    /// The result of a plan of which no trial has run.
    #[must_use]
    pub fn result(&self, plan: &Plan, started: Timestamp) -> ResultFile {
        let mut result = ResultFile::new(plan.profile.clone(), started);
        result.host = self.host.clone();
        result.cluster = self.cluster.clone();
        result.notes.clone_from(&self.notes);
        describe(plan, &mut result);
        result
    }

    /// Makes and fills what the plan needs, which running it would do too.
    ///
    /// # Errors
    /// Of making or filling; [`Error::Interrupted`].
    pub async fn prepare(
        &mut self,
        plan: &Plan,
        events: &Events,
        cancel: &CancellationToken,
    ) -> Result<(), Error> {
        self.create(plan, events, cancel).await?;
        for arm in 0..plan.image_sets() {
            self.fill(plan, arm, events, cancel).await?;
        }
        Ok(())
    }

    /// Runs a plan, adding its trials to those that `result` has, and keeps the images.
    pub async fn run(
        &mut self,
        plan: &Plan,
        result: ResultFile,
        directory: &ResultDirectory,
        events: &Events,
        cancel: &CancellationToken,
    ) -> (ResultFile, Result<Exit, Error>) {
        Campaign::new(plan, self, result, directory, events, cancel).run().await
    }

    /// How many trials were begun so far.
    #[must_use]
    pub const fn begun(&self) -> usize {
        self.begun
    }

    /// Counts trials that begin; the number of the first of them, from 0.
    pub(super) const fn begin(&mut self, trials: usize) -> usize {
        self.begun += trials;
        self.begun - trials
    }

    /// Makes the images that are not there yet, and finds out about those that are.
    pub(super) async fn create(
        &mut self,
        plan: &Plan,
        events: &Events,
        cancel: &CancellationToken,
    ) -> Result<(), Error> {
        for (arm, prepared) in plan.arms.iter().zip(&mut self.images).filter(|(_, images)| !images.created) {
            if arm.subject.is_made() {
                events.phase(Phase::Create, Duration::ZERO);
            }
            match (&arm.subject, &self.admin, &prepared.medium) {
                (Subject::Managed(managed), Some(admin), medium) => {
                    let run = self.id.to_string();
                    let names = medium.images().map_or(&[][..], |images| &images.names);
                    managed::create(admin, managed, &run, names, &mut prepared.made, cancel).await?;
                }
                (Subject::Existing(existing), Some(admin), _) => {
                    prepared.size = preflight::size_of(admin, existing, cancel).await?;
                }
                (Subject::Kernel(path), _, Medium::Files(files)) if path.is_new() => {
                    paths::make(plan, files, prepared.size, &mut prepared.file, cancel).await?;
                }
                (Subject::Kernel(_), _, Medium::Files(files)) => {
                    prepared.size = paths::size_of(plan, files, cancel).await?;
                }
                _ => {}
            }
            let ledger = |unit| Arc::new(Ledger::new(self.id.number(), arm.images(), prepared.size, unit));
            prepared.ledger = plan.verify_unit.map(ledger);
            prepared.created = true;
        }
        Ok(())
    }

    /// Fills what an arm's I/O goes to, if it is to be filled and is not.
    pub(super) async fn fill(
        &mut self,
        plan: &Plan,
        arm: usize,
        events: &Events,
        cancel: &CancellationToken,
    ) -> Result<(), Error> {
        let (prepared, arm) = (&mut self.images[plan.image_set(arm)], &plan.arms[arm]);
        if prepared.filled || !arm.subject.prefill() {
            return Ok(());
        }
        prepared.medium.set_writable(true);
        let ledger = prepared.ledger.clone().zip(plan.verify_unit);
        let stage = Stage { run: &plan.run, events, cancel };
        fill::fill(stage, &plan.cluster, arm, &prepared.medium, prepared.size, ledger).await?;
        prepared.filled = true;
        Ok(())
    }

    /// Takes note of what a workload is about to do to the images of an arm.
    pub(super) fn get_ready(&mut self, plan: &Plan, arm: usize, workload: &WorkloadPlan) {
        let prepared = &mut self.images[plan.image_set(arm)];
        prepared.filled &= !workload.unfills();
        prepared.medium.set_writable(workload.changes_data() || prepared.managed.is_some());
    }

    /// Removes every image and file that was made, after what ended badly, if anything did. What can't be removed is named,
    /// and the rest removed.
    ///
    /// # Errors
    /// The first that could not be removed.
    pub async fn clean_up(&mut self, events: &Events, after: Option<&Error>) -> Result<(), Error> {
        events.phase(Phase::CleanUp, Duration::ZERO);
        let files = self.remove_files(events).await;
        // What a signal ended did not end in time: the cluster is asked nothing more.
        let is_stuck = matches!(after, Some(Error::GaveUp(_)));
        self.remove_images(events, is_stuck).await.and(files)
    }

    async fn remove_files(&mut self, events: &Events) -> Result<(), Error> {
        let mut outcome = Ok(());
        for prepared in self.images.iter_mut().filter(|prepared| prepared.file.exists) {
            if let Medium::Files(files) = &prepared.medium
                && let Err(error) = paths::remove(files, &mut prepared.file).await
            {
                events.message(format!("{} is left behind: {error}", files.path.display()));
                outcome = outcome.and(Err(error));
            }
        }
        outcome
    }

    async fn remove_images(&mut self, events: &Events, is_stuck: bool) -> Result<(), Error> {
        let Some(admin) = &self.admin else { return Ok(()) };
        let (mut outcome, mut stuck) = (Ok(()), is_stuck);
        for prepared in &mut self.images {
            let (Some(managed), Some(images)) = (&prepared.managed, prepared.medium.images()) else {
                continue;
            };
            let mut made = mem::take(&mut prepared.made);
            // The first goes last: as long as it is held open, `clean` knows that the run is at work on the others.
            for (number, name) in images.names.iter().enumerate().take(made.count).rev() {
                let held = made.held.take_if(|_| number == 0);
                // Each further call to a cluster that is stuck would wait for its deadline too.
                if stuck {
                    held.into_iter().for_each(Image::leave_behind);
                    left_behind(events, managed, name, "the cluster is stuck");
                } else if let Err(error) = managed::remove(admin, managed, name, held).await {
                    stuck = error.exit() == Exit::Stuck || error.errno() == Some(Errno::ETIMEDOUT);
                    left_behind(events, managed, name, &error.to_string());
                    outcome = outcome.and(Err(Error::Ceph(error)));
                }
            }
        }
        outcome
    }
}

fn left_behind(events: &Events, managed: &ManagedImages, name: &str, reason: &str) {
    let place = managed::place(managed);
    events.message(format!("{place}/{name} is left behind: {reason}; `cephmark clean` removes it later"));
}

impl Prepared {
    fn new(arm: &Arm, id: RunId, index: usize) -> Self {
        let run = id.to_string();
        let images = |images: ImageSet| match &arm.mapping {
            Some(mapping) => {
                let mark = format!("{NAME_PREFIX}{run}-{}", std::process::id());
                Medium::Mapped(MappedSet { images, mapping: mapping.clone(), mark })
            }
            None => Medium::Images(images),
        };
        let medium = match &arm.subject {
            Subject::Managed(managed) => {
                images(managed::image_set(managed, managed::image_names(&run, index, managed.images)))
            }
            Subject::Existing(existing) => images(ImageSet::existing(existing)),
            Subject::Kernel(path) if path.is_new() => {
                Medium::Files(FileSet::new(path, new_file::file_name(&path.path, &run, index)))
            }
            Subject::Kernel(path) => Medium::Files(FileSet::new(path, path.path.clone())),
            Subject::Null(_) => Medium::Null,
        };
        let managed = match &arm.subject {
            Subject::Managed(managed) => Some(managed.clone()),
            Subject::Existing(_) | Subject::Kernel(_) | Subject::Null(_) => None,
        };
        Self {
            medium,
            size: arm.image_size().unwrap_or_default(),
            ledger: None,
            created: false,
            filled: false,
            made: Made::default(),
            file: new_file::Made::default(),
            managed,
        }
    }
}
