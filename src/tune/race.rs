//! Which settings are tried next, and how often: successive halving with early exits.
//!
//! All settings run in the first blocks. The time is divided among the halvings that lead from there to one setting, so
//! that the fewer are left, the more often each of them runs. Besides, whatever is clearly worse than the leader drops
//! out at once, and where nothing can be better than the leader by what matters the race is over. All blocks count until
//! the end.

use super::fit::Fit;
use crate::plan::FIRST_BLOCKS;

/// Blocks from one look at the scores to the next.
const STEP: u32 = 3;
/// How probable it may be that noise alone throws out one of the settings at a look.
const MISS: f64 = 0.01;
/// How probable it may be, to either side, that the leader of a race that ends early is not the best as far as it matters.
const MISS_LEADER: f64 = 0.1;

/// A race of settings, which are numbered; what the cluster has now is number 0, and runs beside them in the first step.
#[derive(Clone, Debug)]
pub struct Race {
    /// What is still in the race, in the order of numbers.
    field: Vec<usize>,
    /// Scores by block, then by setting; higher is better.
    blocks: Vec<Vec<Option<f64>>>,
    /// The logarithm of the least ratio that matters.
    least: f64,
    /// To how many the field is halved next.
    goal: usize,
    /// Blocks until then; 0 before it is known.
    left: u32,
}

/// Blocks to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What runs in each of them.
    pub arms: Vec<usize>,
    /// How many there are.
    pub blocks: u32,
}

impl Race {
    /// The race of the settings 1 to `settings`, in which differences of less than the fraction `min_effect` do not matter.
    #[must_use]
    pub fn new(settings: usize, min_effect: f64) -> Self {
        let field = (1..=settings).collect();
        Self { field, blocks: Vec::new(), least: min_effect.ln_1p(), goal: settings.div_ceil(2), left: 0 }
    }

    /// What to run next, if there is room for so many trials until the end of the race; `None` once it is over.
    pub fn next(&mut self, room: usize) -> Option<Step> {
        if self.field.len() < 2 || self.is_settled() {
            return None;
        }
        let first = self.blocks.is_empty();
        let arms: Vec<usize> = first.then_some(0).into_iter().chain(self.field.iter().copied()).collect();
        let fit = u32::try_from(room / arms.len()).unwrap_or(u32::MAX);
        if self.left == 0 {
            let halvings = usize::BITS - (self.field.len() - 1).leading_zeros();
            self.left = (fit / halvings).max(if first { FIRST_BLOCKS } else { 1 });
        }
        let most = if first { FIRST_BLOCKS } else { STEP };
        let blocks = self.left.min(most).min(fit);
        self.left -= blocks;
        (blocks > 0).then_some(Step { arms, blocks })
    }

    /// Takes the scores of blocks, each with a place for every setting; what has none there did not run, or not well.
    pub fn take(&mut self, blocks: impl IntoIterator<Item = Vec<Option<f64>>>) {
        self.blocks.extend(blocks);
        if let Some(fit) = self.fit() {
            let worst = fit.means[fit.best()] - fit.margin(MISS / self.field.len() as f64);
            let mut means = fit.means.iter();
            self.field.retain(|_| means.next().is_some_and(|mean| *mean >= worst));
        }
        if self.left == 0 || self.field.len() <= self.goal {
            let ranking = self.ranking();
            let best = &ranking[..self.goal.min(ranking.len())];
            self.field.retain(|arm| best.contains(arm));
            (self.left, self.goal) = (0, self.field.len().div_ceil(2));
        }
    }

    /// Takes a setting out, whatever its scores.
    pub fn drop_out(&mut self, arm: usize) {
        self.field.retain(|other| *other != arm);
    }

    /// What is still in the race.
    #[must_use]
    pub fn field(&self) -> &[usize] {
        &self.field
    }

    /// The best one so far; `None` before there are scores, unless there is only one.
    #[must_use]
    pub fn leader(&self) -> Option<usize> {
        match self.field[..] {
            [only] => Some(only),
            _ => (!self.complete().is_empty()).then(|| self.ranking()[0]),
        }
    }

    /// Whether nothing that is left is better than the leader, as far as it matters.
    fn is_settled(&self) -> bool {
        let Some(fit) = self.fit() else { return false };
        let margin = fit.margin(MISS_LEADER / (self.field.len() - 1) as f64);
        let best = fit.best();
        let mut others = fit.means.iter().enumerate().filter(|(place, _)| *place != best);
        others.all(|(_, mean)| mean - fit.means[best] + margin <= self.least)
    }

    /// The field, the best first; in its own order before there are scores.
    fn ranking(&self) -> Vec<usize> {
        let blocks = self.complete();
        let sum = |place: usize| blocks.iter().map(|block| block[place]).sum::<f64>();
        let mut places: Vec<(f64, usize)> =
            self.field.iter().enumerate().map(|(place, arm)| (sum(place), *arm)).collect();
        places.sort_by(|a, b| b.0.total_cmp(&a.0));
        places.into_iter().map(|(_, arm)| arm).collect()
    }

    fn fit(&self) -> Option<Fit> {
        Fit::of(&self.complete())
    }

    /// The scores of the field in the blocks in which all of it has one.
    fn complete(&self) -> Vec<Vec<f64>> {
        let of_field = |block: &Vec<Option<f64>>| self.field.iter().map(|arm| block[*arm]).collect();
        self.blocks.iter().filter_map(of_field).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks in which settings, the current one first, have these scores and next to no noise.
    fn blocks(scores: &[f64], count: u32) -> Vec<Vec<Option<f64>>> {
        let noise = |block: u32, place: usize| f64::from((block + 2 * place as u32) % 3) * 1e-4;
        let block = |block| {
            scores.iter().enumerate().map(|(place, score)| Some(score + noise(block, place))).collect()
        };
        (0..count).map(block).collect()
    }

    #[test]
    fn all_settings_and_the_current_one_run_twice_and_then_the_better_half() {
        let mut race = Race::new(4, 0.03);
        assert_eq!(race.next(100), Some(Step { arms: vec![0, 1, 2, 3, 4], blocks: 2 }));
        race.take(blocks(&[0.0, 0.0, 1.0, 1.05, 0.0], 2));
        assert_eq!(race.field(), [3], "what is clearly worse is out at once, and the second too");
        assert_eq!((race.next(90), race.leader()), (None, Some(3)));
    }

    #[test]
    fn a_race_is_over_where_nothing_can_be_better_by_what_matters() {
        let mut race = Race::new(3, 0.03);
        race.next(100);
        race.take(blocks(&[0.0; 4], 2));
        assert!(race.field().len() > 1, "nothing is worse");
        assert_eq!(race.next(90), None);
    }

    #[test]
    fn no_step_takes_more_than_there_is_room_for() {
        let mut race = Race::new(4, 0.03);
        assert_eq!(race.next(9).map(|step| step.blocks), Some(1));
        assert_eq!(Race::new(4, 0.03).next(4), None);
        assert_eq!(race.leader(), None, "there are no scores yet");
    }

    #[test]
    fn what_drops_out_is_not_the_leader_however_good_it_was() {
        let mut race = Race::new(2, 0.03);
        race.next(100);
        race.drop_out(2);
        race.take(blocks(&[0.0, 1.0, 2.0], 2));
        assert_eq!((race.leader(), race.next(90)), (Some(1), None));
    }
}
