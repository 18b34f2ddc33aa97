//! A tuning from end to end: images, the search step by step, the confirmation, what is written down, clean-up.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::advice::Advice;
use super::clock::Clock;
use super::effects::effects;
use super::outcome::{Conclusion, Confirmed, FILE_NAME, LeftOut, Outcome, Tried};
use super::race::Race;
use super::{bounds, score};
use crate::exit::Exit;
use crate::plan::{Plan, Tuning};
use crate::report::Event;
use crate::result::{DirectoryError, Metric, ResultDirectory, ResultFile, Status, Timestamp, Tool};
use crate::run::{self, Bench, Events};

/// The directory of the search's result, in that of the tuning.
const SEARCH: &str = "search";
/// The directory of the confirmation's result.
const CONFIRMATION: &str = "confirmation";

/// Why a tuning ended before it found anything out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A run that it consists of.
    #[error(transparent)]
    Run(#[from] run::Error),
    /// What it found can't be written.
    #[error("can't write {}: {source}; make room, or choose another directory with -o", path.display())]
    Save {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl From<DirectoryError> for Error {
    fn from(error: DirectoryError) -> Self {
        Self::Run(error.into())
    }
}

impl Error {
    /// The exit code of a tuning that ends with it.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Run(error) => error.exit(),
            Self::Save { .. } => Exit::Setup,
        }
    }
}

/// Tunes: searches, confirms, and writes all of it below `out`, or below `results/` without one. What the trials of the
/// search and of the confirmation gave is there as the results of two runs, saved after every trial.
///
/// # Errors
/// What kept it from beginning, or ended it. The trials that were over by then are kept.
pub async fn tune(
    tuning: &Tuning,
    out: Option<&std::path::Path>,
    events: &Events,
    cancel: &CancellationToken,
) -> Result<(Outcome, Exit, ResultDirectory), Error> {
    let started = Timestamp::now();
    let clock = Clock::start(tuning.budget, tuning.plan.once());
    let directory = ResultDirectory::prepare(out, &tuning.plan.name, started)?;
    let search = ResultDirectory::prepare(Some(&directory.path().join(SEARCH)), "", started)?;
    let discard = || {
        search.discard();
        directory.discard();
    };
    let bench = Bench::open(&tuning.plan, cancel).await.inspect_err(|_| discard())?;
    let mut tuner = Tuner { tuning, started, clock, bench, exit: Exit::Success, events, cancel };
    let found = tuner.find(&directory, &search).await;
    let cleaned = tuner.bench.clean_up(events).await;
    if tuner.bench.begun() == 0 {
        discard();
    }
    let outcome = found?;
    outcome
        .save(directory.path())
        .map_err(|source| Error::Save { path: directory.path().join(FILE_NAME), source })?;
    cleaned?;
    Ok((outcome, tuner.exit, directory))
}

/// A tuning under way.
struct Tuner<'a> {
    tuning: &'a Tuning,
    started: Timestamp,
    clock: Clock,
    bench: Bench,
    exit: Exit,
    events: &'a Events,
    cancel: &'a CancellationToken,
}

/// What the search found.
struct Found {
    result: ResultFile,
    /// By block, then by arm.
    scores: Vec<Vec<Option<f64>>>,
    /// How many of the first blocks every arm ran in.
    whole: usize,
    best: Option<usize>,
    /// Why an arm is out.
    out: BTreeMap<usize, String>,
}

impl Tuner<'_> {
    async fn find(
        &mut self,
        directory: &ResultDirectory,
        search: &ResultDirectory,
    ) -> Result<Outcome, Error> {
        self.announce();
        self.bench.prepare(&self.tuning.plan, self.events, self.cancel).await?;
        let found = self.search(search).await?;
        let (conclusion, best) = match found.best {
            None => (Conclusion::NothingLeft, None),
            Some(best) => {
                let (conclusion, confirmed) = self.confirm(directory, &found, best).await?;
                (conclusion, Some(confirmed))
            }
        };
        Ok(self.outcome(&found, conclusion, best))
    }

    fn metric(&self) -> Metric {
        self.tuning.objective.metric()
    }

    /// Tells how much is to come at the most.
    fn announce(&self) {
        let (left, each) = (self.clock.left(), self.clock.each());
        let more = (left.as_secs_f64() / each.as_secs_f64()) as usize * self.tuning.plan.workloads.len();
        self.events.send(Event::Run { trials: self.bench.begun() + more, at_most: true, expected: left });
    }

    async fn search(&mut self, directory: &ResultDirectory) -> Result<Found, Error> {
        let plan = &self.tuning.plan;
        let mut race = Race::new(plan.arms.len() - 1, self.tuning.min_effect);
        let mut found = Found {
            result: self.bench.result(plan, self.started),
            scores: Vec::new(),
            whole: 0,
            best: None,
            out: BTreeMap::new(),
        };
        while let Some(step) = race.next(self.clock.room()) {
            let first = found.scores.len();
            let planned = plan.blocks(&step.arms, step.blocks, first as u32, self.clock.for_search());
            for block in planned.trials.chunk_by(|a, b| a.repeat == b.repeat) {
                let block = Plan { trials: block.to_vec(), ..planned.clone() };
                self.block(&block, step.arms.len(), &mut found, directory).await?;
                if self.clock.room() < step.arms.len() {
                    break;
                }
            }
            if step.arms.len() == plan.arms.len() {
                found.whole = found.scores.len();
            }
            self.exclude(&mut race, &mut found);
            race.take(found.scores[first..].iter().cloned());
            self.tell(&race);
        }
        found.best = race.leader();
        Ok(found)
    }

    /// Runs a block of the search. Each is a run of its own, so that what it took tells whether there is time for the next.
    async fn block(
        &mut self,
        plan: &Plan,
        arms: usize,
        found: &mut Found,
        directory: &ResultDirectory,
    ) -> Result<(), Error> {
        self.announce();
        let first = found.scores.len() as u32;
        let began = Instant::now();
        let so_far = found.result.clone();
        let (result, ended) = self.bench.run(plan, so_far, directory, self.events, self.cancel).await;
        found.result = result;
        self.note(ended?);
        self.clock.learn(began.elapsed(), arms);
        found.scores.extend(score::scores(&found.result, plan, self.metric(), first));
        Ok(())
    }

    /// Takes out what failed, and what does not keep a constraint.
    fn exclude(&self, race: &mut Race, found: &mut Found) {
        for arm in race.field().to_vec() {
            let (plan, name) = (&self.tuning.plan, &self.tuning.plan.arms[arm]);
            let failed = found
                .result
                .trials
                .iter()
                .find(|trial| trial.arm == name.name && trial.status == Status::Failed);
            let why = failed
                .map(|trial| trial.problems.first().map_or_else(String::new, |first| first.text.clone()));
            let broken = || bounds::broken(&found.result, plan, name, &self.tuning.constraints);
            if let Some(why) = why.or_else(broken) {
                race.drop_out(arm);
                found.out.insert(arm, why);
            }
        }
    }

    fn tell(&self, race: &Race) {
        let arms = &self.tuning.plan.arms;
        let ahead = race.leader().map_or_else(String::new, |arm| format!("; ahead is {}", arms[arm].name));
        let (left, all) = (race.field().len(), arms.len() - 1);
        self.events.message(format!("search: {left} of {all} settings are left{ahead}"));
    }

    const fn note(&mut self, exit: Exit) {
        if !matches!(exit, Exit::Success) {
            self.exit = exit;
        }
    }

    /// Fresh trials of the best setting against the current ones, until it is known which is better.
    async fn confirm(
        &mut self,
        directory: &ResultDirectory,
        found: &Found,
        best: usize,
    ) -> Result<(Conclusion, Confirmed), Error> {
        let whole = &self.tuning.plan;
        let arm = &whole.arms[best];
        let mut confirmed = Confirmed {
            arm: arm.name.clone(),
            setting: self.tuning.settings[best].clone(),
            comparisons: Vec::new(),
            blocks: 0,
            broken: None,
            advice: Advice::of(arm),
        };
        if is_current(&found.result, whole, best) {
            return Ok((Conclusion::AlreadyCurrent, confirmed));
        }
        let Some(plan) = whole.until_decided(&[0, best], self.clock.each() * 2, self.clock.left()) else {
            return Ok((Conclusion::NotConfirmed, confirmed));
        };
        self.announce();
        self.events.message(format!("confirmation: {} against {}", arm.name, whole.arms[0].name));
        let started = Timestamp::now();
        let directory = ResultDirectory::prepare(Some(&directory.path().join(CONFIRMATION)), "", started)?;
        let result = self.bench.result(&plan, started);
        let (result, ended) = self.bench.run(&plan, result, &directory, self.events, self.cancel).await;
        self.note(ended?);
        confirmed.blocks = result.trials.iter().map(|trial| trial.repeat + 1).max().unwrap_or(0);
        confirmed.broken = bounds::broken(&result, &plan, arm, &self.tuning.constraints);
        confirmed.comparisons = result.comparisons;
        let conclusion = match confirmed.broken {
            Some(_) => Conclusion::ConstraintBroken,
            None => Conclusion::of(&confirmed.comparisons),
        };
        Ok((conclusion, confirmed))
    }

    fn outcome(&self, found: &Found, conclusion: Conclusion, best: Option<Confirmed>) -> Outcome {
        let tuning = self.tuning;
        let left_out = |(setting, reason): &(String, String)| LeftOut {
            setting: setting.clone(),
            reason: reason.clone(),
        };
        Outcome {
            format: 1,
            tool: Tool::this(),
            profile: tuning.plan.profile.clone(),
            started: self.started,
            finished: Timestamp::now(),
            objective: self.metric().name().to_owned(),
            constraints: tuning.constraints.iter().map(ToString::to_string).collect(),
            budget_s: tuning.budget.as_secs_f64(),
            took_s: self.clock.elapsed().as_secs_f64(),
            settings: (0..tuning.settings.len()).map(|arm| self.tried(found, arm)).collect(),
            left_out: tuning.left_out.iter().map(left_out).collect(),
            effects: effects(&tuning.grid, &found.scores[..found.whole], tuning.min_effect),
            conclusion,
            best,
        }
    }

    fn tried(&self, found: &Found, arm: usize) -> Tried {
        let sign = if self.metric().higher_is_better() { 1.0 } else { -1.0 };
        let to = found.best.unwrap_or(0);
        let differences = found.scores.iter().filter_map(|block| Some(block[arm]? - block[to]?));
        let differences: Vec<f64> = differences.collect();
        let mean = differences.iter().sum::<f64>() / differences.len() as f64;
        Tried {
            arm: self.tuning.plan.arms[arm].name.clone(),
            setting: self.tuning.settings[arm].clone(),
            blocks: found.scores.iter().filter(|block| block[arm].is_some()).count() as u32,
            ratio: (!differences.is_empty()).then(|| (sign * mean).exp()),
            out: found.out.get(&arm).cloned(),
        }
    }
}

/// Whether all options had the same values with this arm as with what the cluster has now.
fn is_current(result: &ResultFile, plan: &Plan, arm: usize) -> bool {
    let in_effect = |arm: usize| {
        let trial = result
            .trials
            .iter()
            .find(|trial| trial.arm == plan.arms[arm].name && !trial.effective_options.is_empty())?;
        let values = trial.effective_options.iter().map(|(name, option)| (name, &option.value));
        Some(values.collect::<Vec<_>>())
    };
    in_effect(0).is_some_and(|current| in_effect(arm) == Some(current))
}
