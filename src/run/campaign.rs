//! All trials of a plan, from the first image made to the last one removed.

use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use tokio_util::sync::CancellationToken;

use super::course::Course;
use super::events::Events;
use super::held::Setting;
use super::id::RunId;
use super::stage::Stage;
use super::watch::Watch;
use super::{Error, fill, paths, preflight, record, sliced, trial};
use crate::ceph::{Cluster, Image};
use crate::compare;
use crate::exit::Exit;
use crate::load::Ledger;
use crate::measure::CpuUsage;
use crate::plan::{Arm, ManagedImages, Plan, Subject, TrialPlan, WorkloadPlan};
use crate::report::{Event, Phase, TrialLine};
use crate::result::{ResultDirectory, ResultFile, Status, Timestamp, Trial};
use crate::target::managed::{self, Made, NAME_PREFIX};
use crate::target::{FileSet, ImageSet, MappedSet, Medium, new_file};
use crate::units::Bytes;

/// All trials of a plan.
#[derive(Debug)]
pub(super) struct Campaign<'a> {
    plan: &'a Plan,
    id: RunId,
    admin: Option<Cluster>,
    watch: Watch,
    arms: Vec<Prepared>,
    idle: Option<CpuUsage>,
    result: ResultFile,
    directory: &'a ResultDirectory,
    events: &'a Events,
    cancel: &'a CancellationToken,
}

/// What an arm has for the whole run.
#[derive(Debug)]
struct Prepared {
    medium: Medium,
    size: Bytes,
    ledger: Option<Arc<Ledger>>,
    /// Every block holds data; not so before the first fill and after a workload that trims.
    filled: bool,
    /// What was made of its images.
    made: Made,
    /// Its file was made.
    has_file: bool,
}

impl<'a> Campaign<'a> {
    /// A campaign about to begin; `result` is what is known before the first trial.
    #[must_use]
    pub(super) fn new(
        plan: &'a Plan,
        admin: Option<Cluster>,
        watch: Watch,
        result: ResultFile,
        directory: &'a ResultDirectory,
        events: &'a Events,
        cancel: &'a CancellationToken,
    ) -> Self {
        let id = RunId::new();
        let arms = plan.arms.iter().enumerate().map(|(index, arm)| Prepared::new(arm, id, index)).collect();
        Self { plan, id, admin, watch, arms, idle: None, result, directory, events, cancel }
    }

    /// Runs everything, removes what was made whatever happened, and gives the result with the exit code.
    pub(super) async fn run(mut self) -> (ResultFile, Result<Exit, Error>) {
        let outcome = self.trials().await;
        let cleaned = self.clean_up().await;
        self.result.finished = Some(Timestamp::now());
        let saved = self.save();
        let exit = outcome.and(cleaned).and(saved).map(|()| self.exit());
        (self.result, exit)
    }

    async fn trials(&mut self) -> Result<(), Error> {
        self.save()?;
        self.events.send(Event::Run {
            trials: self.plan.trials.len(),
            at_most: self.plan.run.until_decided,
            expected: self.plan.needs.duration,
        });
        self.idle = preflight::idle_baseline(self.cancel).await;
        for arm in 0..self.arms.len() {
            self.create(arm).await?;
        }
        let (mut course, mut index) = (Course::new(self.plan), 0);
        for unit in self.plan.units() {
            self.look(&mut course, unit[0].repeat);
            if course.wants(unit[0].workload) {
                self.repeat(index, unit).await?;
                index += unit.len();
            }
        }
        self.look(&mut course, self.plan.run.repeats);
        self.result.planned_trials = index as u32;
        Ok(())
    }

    fn look(&self, course: &mut Course<'_>, repeat: u32) {
        if let Some(look) = course.reach(repeat, &self.result, Instant::now()) {
            self.events.send(Event::Look(look));
        }
    }

    /// One repeat of what runs together: attempts until none is invalid, or there are no retries left.
    async fn repeat(&mut self, index: usize, unit: &[TrialPlan]) -> Result<(), Error> {
        for attempt in 0..=self.plan.run.retries {
            let ran = self.attempt(index, unit, attempt).await;
            let records = match &ran {
                Ok(records) => records.clone(),
                Err(error) if error.exit() == Exit::Interrupted => return ran.map(drop),
                Err(error) => unit.iter().map(|trial| self.broken(trial, attempt, error)).collect(),
            };
            let disturbed = records.iter().all(|record| record.status == Status::Invalid);
            for record in records {
                self.events.send(Event::TrialDone(TrialLine::from(&record)));
                self.result.trials.push(record);
            }
            self.save()?;
            ran?;
            if !disturbed {
                break;
            }
        }
        Ok(())
    }

    async fn attempt(&mut self, index: usize, unit: &[TrialPlan], attempt: u32) -> Result<Vec<Trial>, Error> {
        if self.cancel.is_cancelled() {
            return Err(Error::Interrupted);
        }
        let (plan, workload) = (self.plan, &self.plan.workloads[unit[0].workload]);
        let names: Vec<&str> = unit.iter().map(|trial| plan.arms[trial.arm].name.as_str()).collect();
        for trial in unit {
            self.fill(trial.arm).await?;
            self.arms[trial.arm].get_ready(&plan.arms[trial.arm], workload);
            self.refuse_if_open_elsewhere(&plan.arms[trial.arm], workload).await?;
        }
        self.events.send(Event::Trial { index, arm: names.join(", "), workload: workload.title.clone() });
        self.wait_until_clean().await?;
        let setting = |trial: &TrialPlan| {
            let prepared = &self.arms[trial.arm];
            Ok::<_, Error>(Setting {
                cluster: &plan.cluster,
                run: &plan.run,
                arm: &plan.arms[trial.arm],
                workload,
                repeat: trial.repeat,
                attempt,
                jobs: workload.jobs(prepared.size, trial.repeat)?,
                medium: &prepared.medium,
                ledger: prepared.ledger.clone(),
                idle: self.idle.as_ref(),
                events: self.events,
                cancel: self.cancel,
            })
        };
        if let [trial] = unit {
            return Ok(vec![trial::run(setting(trial)?, &mut self.watch).await?]);
        }
        let settings: Result<Vec<_>, _> = unit.iter().map(setting).collect();
        sliced::run(settings?, &mut self.watch).await
    }

    async fn wait_until_clean(&mut self) -> Result<(), Error> {
        let clean = self.watch.wait_until_clean(self.events, self.cancel).await;
        if let Err(error @ Error::NotClean { .. }) = &clean {
            self.result.notes.push(record::problem("not_clean", error.to_string()));
        }
        clean
    }

    /// The record of a trial that could not be carried to its end.
    fn broken(&self, trial: &TrialPlan, attempt: u32, error: &Error) -> Trial {
        let (arm, workload) = (&self.plan.arms[trial.arm], &self.plan.workloads[trial.workload]);
        Trial {
            arm: arm.name.clone(),
            target: arm.target.clone(),
            workload: workload.name.clone(),
            settings: arm.settings.iter().chain(&workload.settings).cloned().collect(),
            repeat: trial.repeat,
            attempt,
            problems: vec![record::problem("broken", error.to_string())],
            ..Trial::failed()
        }
    }

    /// An image of the user's is not overwritten while anybody else has it open.
    async fn refuse_if_open_elsewhere(&self, arm: &Arm, workload: &WorkloadPlan) -> Result<(), Error> {
        match (&arm.subject, &self.admin) {
            (Subject::Existing(existing), Some(admin)) if workload.changes_data() => {
                preflight::refuse_if_open_elsewhere(admin, existing, self.cancel).await
            }
            _ => Ok(()),
        }
    }

    async fn create(&mut self, index: usize) -> Result<(), Error> {
        let arm = &self.plan.arms[index];
        let prepared = &mut self.arms[index];
        if arm.subject.is_made() {
            self.events.phase(Phase::Create, Duration::ZERO);
        }
        match (&arm.subject, &self.admin, &prepared.medium) {
            (Subject::Managed(managed), Some(admin), medium) => {
                let run = self.id.to_string();
                let names = medium.images().map_or(&[][..], |images| &images.names);
                managed::create(admin, managed, &run, names, &mut prepared.made, self.cancel).await?;
            }
            (Subject::Existing(existing), Some(admin), _) => {
                prepared.size = preflight::size_of(admin, existing, self.cancel).await?;
            }
            (Subject::Kernel(path), _, Medium::Files(files)) if path.is_new() => {
                new_file::create(&files.path, prepared.size)?;
                prepared.has_file = true;
                paths::fits(self.plan, files)?;
            }
            (Subject::Kernel(_), _, Medium::Files(files)) => prepared.size = files.size()?,
            _ => {}
        }
        prepared.ledger = self
            .plan
            .verify_unit
            .map(|unit| Arc::new(Ledger::new(self.id.number(), arm.images(), prepared.size, unit)));
        Ok(())
    }

    /// Fills an arm, if it is to be filled and is not.
    async fn fill(&mut self, index: usize) -> Result<(), Error> {
        let (arm, prepared) = (&self.plan.arms[index], &mut self.arms[index]);
        if prepared.filled || !arm.subject.prefill() {
            return Ok(());
        }
        prepared.medium.set_writable(true);
        let ledger = prepared.ledger.clone().zip(self.plan.verify_unit);
        let stage = Stage { run: &self.plan.run, events: self.events, cancel: self.cancel };
        fill::fill(stage, &self.plan.cluster, arm, &prepared.medium, prepared.size, ledger).await?;
        prepared.filled = true;
        Ok(())
    }

    /// Removes every image and file that was made. What can't be removed is named, and the rest removed.
    async fn clean_up(&mut self) -> Result<(), Error> {
        self.events.phase(Phase::CleanUp, Duration::ZERO);
        let files = self.remove_files();
        self.remove_images().await.and(files)
    }

    fn remove_files(&self) -> Result<(), Error> {
        let mut outcome = Ok(());
        for prepared in self.arms.iter().filter(|prepared| prepared.has_file) {
            if let Medium::Files(files) = &prepared.medium
                && let Err(error) = new_file::remove(&files.path)
            {
                self.events.message(format!("{} is left behind: {error}", files.path.display()));
                outcome = outcome.and(Err(error.into()));
            }
        }
        outcome
    }

    async fn remove_images(&mut self) -> Result<(), Error> {
        let Some(admin) = &self.admin else { return Ok(()) };
        let (mut outcome, mut stuck) = (Ok(()), false);
        for (arm, prepared) in self.plan.arms.iter().zip(&mut self.arms) {
            let (Subject::Managed(managed), Some(images)) = (&arm.subject, prepared.medium.images()) else {
                continue;
            };
            let mut made = mem::take(&mut prepared.made);
            // The first goes last: as long as it is held open, `clean` knows that the run is at work on the others.
            for (number, name) in images.names.iter().enumerate().take(made.count).rev() {
                let held = made.held.take_if(|_| number == 0);
                // Each further call to a cluster that is stuck would wait for its deadline too.
                if stuck {
                    held.into_iter().for_each(Image::leave_behind);
                    left_behind(self.events, managed, name, "the cluster is stuck");
                } else if let Err(error) = managed::remove(admin, managed, name, held).await {
                    stuck = error.exit() == Exit::Stuck || error.errno() == Some(Errno::ETIMEDOUT);
                    left_behind(self.events, managed, name, &error.to_string());
                    outcome = outcome.and(Err(Error::Ceph(error)));
                }
            }
        }
        outcome
    }

    fn save(&mut self) -> Result<(), Error> {
        self.result.comparisons = compare::within_run(&self.result);
        Ok(self.result.save(self.directory.path())?)
    }

    /// Whether every planned trial ended with a valid attempt.
    fn exit(&self) -> Exit {
        let key =
            |trial: &Trial| (trial.arm.clone(), trial.workload.clone(), trial.settings.clone(), trial.repeat);
        let valid: std::collections::BTreeSet<_> =
            self.result.trials.iter().filter(|trial| trial.status == Status::Valid).map(key).collect();
        if valid.len() == self.result.planned_trials as usize { Exit::Success } else { Exit::Trial }
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
        let size = arm.image_size().unwrap_or_default();
        Self { medium, size, ledger: None, filled: false, made: Made::default(), has_file: false }
    }

    /// Takes note of what a workload is about to do to it.
    fn get_ready(&mut self, arm: &Arm, workload: &WorkloadPlan) {
        self.filled &= !workload.unfills();
        self.medium.set_writable(workload.changes_data() || matches!(arm.subject, Subject::Managed(_)));
    }
}
