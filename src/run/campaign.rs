//! All trials of a plan, from the first image made to the last one removed.

use std::borrow::Cow;
use std::mem;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::bench::Bench;
use super::course::Course;
use super::events::Events;
use super::held::Setting;
use super::resume::{self, Key};
use super::{Error, paths, preflight, record, sliced, trial};
use crate::compare;
use crate::exit::Exit;
use crate::plan::{Arm, Plan, Subject, TrialPlan, WorkloadPlan};
use crate::report::{Event, TrialLine};
use crate::result::{ResultDirectory, ResultFile, Status, Timestamp, Trial};

/// All trials of a plan.
#[derive(Debug)]
pub(super) struct Campaign<'a> {
    plan: &'a Plan,
    bench: &'a mut Bench,
    result: ResultFile,
    /// The result has trials of this very plan, which were over before the run was interrupted.
    resumes: bool,
    directory: &'a ResultDirectory,
    events: &'a Events,
    cancel: &'a CancellationToken,
}

impl<'a> Campaign<'a> {
    /// A campaign about to begin; `result` is what is known before its first trial, and may hold trials of others.
    #[must_use]
    pub(super) fn new(
        plan: &'a Plan,
        bench: &'a mut Bench,
        result: ResultFile,
        directory: &'a ResultDirectory,
        events: &'a Events,
        cancel: &'a CancellationToken,
    ) -> Self {
        Self { plan, bench, result, resumes: false, directory, events, cancel }
    }

    /// The same for a plan that was interrupted: what is over is not run again.
    #[must_use]
    pub(super) fn resuming(self) -> Self {
        Self { resumes: true, ..self }
    }

    /// Runs everything, and gives the result with the exit code; what was made stays.
    pub(super) async fn run(mut self) -> (ResultFile, Result<Exit, Error>) {
        let outcome = self.trials().await;
        self.end(outcome)
    }

    /// Runs everything, removes what was made whatever happened, and gives the result with the exit code.
    pub(super) async fn run_and_clean_up(mut self) -> (ResultFile, Result<Exit, Error>) {
        let outcome = self.trials().await;
        let cleaned = self.bench.clean_up(self.events, outcome.as_ref().err()).await;
        self.end(outcome.and(cleaned))
    }

    fn end(mut self, outcome: Result<(), Error>) -> (ResultFile, Result<Exit, Error>) {
        self.result.finished = Some(Timestamp::now());
        let saved = self.save();
        let exit = outcome.and(saved).map(|()| self.exit());
        (self.result, exit)
    }

    async fn trials(&mut self) -> Result<(), Error> {
        let planned_before = self.result.planned_trials;
        self.result.planned_trials += self.plan.trials.len() as u32;
        self.save()?;
        self.bench.create(self.plan, self.events, self.cancel).await?;
        let spent = if self.resumes { resume::spent(&self.result, self.plan) } else { Duration::ZERO };
        let (mut course, mut ran, mut repeat) = (Course::new(self.plan).after(spent), 0, 0);
        for unit in self.plan.units() {
            if mem::replace(&mut repeat, unit[0].repeat) != repeat {
                self.look(&mut course, repeat);
            }
            if course.wants(unit[0].workload) {
                let index = self.bench.begin(unit.len());
                if !self.is_over(unit) {
                    self.repeat(index, unit).await?;
                }
                ran += unit.len();
            }
        }
        let last = self.plan.trials.last().map_or(0, |trial| trial.repeat);
        self.look(&mut course, last + 1);
        self.result.planned_trials = planned_before + ran as u32;
        Ok(())
    }

    fn look(&self, course: &mut Course<'_>, repeat: u32) {
        if let Some(look) = course.reach(repeat, &self.before(repeat), Instant::now()) {
            self.events.send(Event::Look(look));
        }
    }

    /// What there was before a repeat. A run that is resumed has trials of later ones already, on which the looks back must
    /// not rely.
    fn before(&self, repeat: u32) -> Cow<'_, ResultFile> {
        if !self.resumes || self.result.trials.iter().all(|trial| trial.repeat < repeat) {
            return Cow::Borrowed(&self.result);
        }
        let mut before = self.result.clone();
        before.trials.retain(|trial| trial.repeat < repeat);
        before.comparisons = compare::within_run(&before);
        Cow::Owned(before)
    }

    /// Whether every trial of what runs together ended well before the run was resumed.
    fn is_over(&self, unit: &[TrialPlan]) -> bool {
        let valid = |key: &Key| self.attempts(key).any(|trial| trial.status == Status::Valid);
        self.resumes && unit.iter().all(|trial| valid(&Key::planned(self.plan, trial)))
    }

    fn attempts(&self, key: &Key) -> impl Iterator<Item = &Trial> {
        self.result.trials.iter().filter(move |trial| Key::of(trial) == *key)
    }

    /// The number of the first attempt at what runs together, after those before the run was resumed.
    fn first_attempt(&self, unit: &[TrialPlan]) -> u32 {
        let key = Key::planned(self.plan, &unit[0]);
        let past = self.attempts(&key).filter(|_| self.resumes).map(|trial| trial.attempt + 1);
        past.max().unwrap_or(0)
    }

    /// One repeat of what runs together: attempts until none is invalid, or there are no retries left.
    async fn repeat(&mut self, index: usize, unit: &[TrialPlan]) -> Result<(), Error> {
        let first = self.first_attempt(unit);
        for attempt in first..=first + self.plan.run.retries {
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
            self.bench.fill(plan, trial.arm, self.events, self.cancel).await?;
            self.bench.get_ready(plan, trial.arm, workload);
            self.refuse_if_open_elsewhere(&plan.arms[trial.arm], workload).await?;
        }
        self.events.send(Event::Trial { index, arm: names.join(", "), workload: workload.title.clone() });
        self.wait_until_clean().await?;
        let setting = |trial: &TrialPlan| {
            let prepared = &self.bench.images[plan.image_set(trial.arm)];
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
                idle: self.bench.idle.as_ref(),
                events: self.events,
                cancel: self.cancel,
            })
        };
        if let [trial] = unit {
            return Ok(vec![trial::run(setting(trial)?, &mut self.bench.watch).await?]);
        }
        let settings: Result<Vec<_>, _> = unit.iter().map(setting).collect();
        sliced::run(settings?, &mut self.bench.watch).await
    }

    async fn wait_until_clean(&mut self) -> Result<(), Error> {
        let clean = self.bench.watch.wait_until_clean(self.events, self.cancel).await;
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

    /// An image or file of the user's is not overwritten while anybody else has it open.
    async fn refuse_if_open_elsewhere(&self, arm: &Arm, workload: &WorkloadPlan) -> Result<(), Error> {
        match (&arm.subject, &self.bench.admin) {
            (Subject::Existing(existing), Some(admin)) if workload.changes_data() => {
                preflight::refuse_if_open_elsewhere(admin, existing, self.cancel).await
            }
            (Subject::Kernel(path), _) if workload.changes_data() => {
                paths::refuse_if_used_elsewhere(self.plan, path, self.cancel).await
            }
            _ => Ok(()),
        }
    }

    fn save(&mut self) -> Result<(), Error> {
        self.result.comparisons = compare::within_run(&self.result);
        Ok(self.result.save(self.directory.path())?)
    }

    /// Whether every planned trial ended with a valid attempt.
    fn exit(&self) -> Exit {
        if resume::all_are_valid(&self.result) { Exit::Success } else { Exit::Trial }
    }
}
