//! A tuning from end to end: images, the search, the confirmation, what is written down, clean-up.

use tokio_util::sync::CancellationToken;

use super::advice::Advice;
use super::clock::Clock;
use super::effects::effects;
use super::outcome::{Conclusion, Confirmed, FILE_NAME, LeftOut, Outcome, Tried};
use super::search::Found;
use super::{Error, bounds};
use crate::exit::Exit;
use crate::plan::{Plan, Tuning};
use crate::report::Event;
use crate::result::{Metric, ResultDirectory, ResultFile, SEARCH_OF_TUNING, Timestamp, Tool};
use crate::run::{Bench, Events};

/// The directory of the confirmation's result.
const CONFIRMATION: &str = "confirmation";

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
    let search = ResultDirectory::prepare(Some(&directory.path().join(SEARCH_OF_TUNING)), "", started)?;
    let discard = || {
        search.discard();
        directory.discard();
    };
    let bench = Bench::open(&tuning.plan, cancel).await.inspect_err(|_| discard())?;
    let mut tuner = Tuner { tuning, started, clock, bench, exit: Exit::Success, events, cancel };
    let found = tuner.find(&directory, &search).await;
    let failed = match &found {
        Err(Error::Run(error)) => Some(error),
        _ => None,
    };
    let cleaned = tuner.bench.clean_up(events, failed).await;
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
pub(super) struct Tuner<'a> {
    pub(super) tuning: &'a Tuning,
    pub(super) started: Timestamp,
    pub(super) clock: Clock,
    pub(super) bench: Bench,
    pub(super) exit: Exit,
    pub(super) events: &'a Events,
    pub(super) cancel: &'a CancellationToken,
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

    pub(super) fn metric(&self) -> Metric {
        self.tuning.objective.metric()
    }

    /// Tells how much is to come at the most.
    pub(super) fn announce(&self) {
        let (left, each) = (self.clock.left(), self.clock.each());
        let more = (left.as_secs_f64() / each.as_secs_f64()) as usize * self.tuning.plan.workloads.len();
        self.events.send(Event::Run { trials: self.bench.begun() + more, at_most: true, expected: left });
    }

    pub(super) const fn note(&mut self, exit: Exit) {
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
