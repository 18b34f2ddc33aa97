//! A block: the trials of one repeat, which ran next to each other.

use std::collections::BTreeMap;

use super::figure::Piece;
use crate::result::{Metric, Trial};
use crate::stats::complete;

/// A piece of each arm, in the order of the arms; none where an arm has no valid trial.
type Round<'a> = Vec<Option<Piece<'a>>>;

/// The trials of one repeat.
#[derive(Debug)]
pub(super) struct Block<'a> {
    whole: Round<'a>,
    /// The slices that the trials consist of, where arms alternated.
    rounds: Vec<Round<'a>>,
}

impl<'a> Block<'a> {
    /// The block of these arms' trials.
    pub(super) fn of(arms: &[&str], trials: &BTreeMap<&str, &'a Trial>, whole_host: bool) -> Self {
        let trials: Vec<Option<&Trial>> = arms.iter().map(|arm| trials.get(arm).copied()).collect();
        let whole = trials.iter().map(|trial| trial.map(|trial| Piece::of(trial, whole_host))).collect();
        let slices: Vec<BTreeMap<u32, Piece<'_>>> = trials
            .iter()
            .map(|trial| trial.map(|trial| Piece::slices_of(trial, whole_host)).unwrap_or_default())
            .collect();
        let rounds = slices.first().into_iter().flat_map(BTreeMap::keys);
        let round = |round: &u32| slices.iter().map(|slices| slices.get(round).copied()).collect();
        Self { whole, rounds: rounds.map(round).collect() }
    }

    /// A figure of every arm, for each round of slices; or for the whole trials, where there are no slices, or any has too
    /// few I/Os for the figure. Nothing where an arm lacks it.
    pub(super) fn figures(&self, job: &str, op: &str, metric: Metric) -> Vec<Vec<f64>> {
        let value = |piece: &Option<Piece<'_>>| piece.and_then(|piece| piece.value(job, op, metric));
        let values = |round: &Round<'_>| round.iter().map(value).collect();
        let found = complete(&self.rounds.iter().map(values).collect::<Vec<_>>());
        // To leave out single slices would leave out the slow ones.
        if found.is_empty() || found.len() < self.rounds.len() {
            return complete(&[values(&self.whole)]);
        }
        found
    }
}
