//! The search for the best setting: blocks of trials of the settings that are left, and what each block tells.

use std::collections::BTreeMap;
use std::time::Instant;

use super::drive::Tuner;
use super::race::Race;
use super::{Error, bounds, score};
use crate::plan::Plan;
use crate::result::{ResultDirectory, ResultFile, Status};

/// What the search found.
pub(super) struct Found {
    /// Its trials.
    pub(super) result: ResultFile,
    /// By block, then by arm.
    pub(super) scores: Vec<Vec<Option<f64>>>,
    /// How many of the first blocks every arm ran in.
    pub(super) whole: usize,
    /// The best setting, if any is left.
    pub(super) best: Option<usize>,
    /// Why an arm is out.
    pub(super) out: BTreeMap<usize, String>,
}

impl Tuner<'_> {
    /// Tries settings until the best is known well enough, or the time for it is over.
    ///
    /// # Errors
    /// What ends the tuning.
    pub(super) async fn search(&mut self, directory: &ResultDirectory) -> Result<Found, Error> {
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
}
