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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Figures, LatencyNs, Ops, Slice, SliceFigures};

    fn latency(mean: f64, p99: Option<u64>) -> LatencyNs {
        LatencyNs { mean: Some(mean), p99, ..LatencyNs::default() }
    }

    /// A trial with slices of these mean latencies.
    fn sliced(means: &[f64], p99: Option<u64>) -> Trial {
        let slice = |(round, mean): (usize, &f64)| {
            let found = SliceFigures { latency_ns: latency(*mean, p99), ..SliceFigures::default() };
            let jobs = [(String::new(), [("read".to_owned(), found)].into())].into();
            Slice { round: round as u32, jobs, ..Slice::default() }
        };
        let whole = Figures { latency_ns: latency(7.0, Some(9)), ..Figures::default() };
        Trial {
            jobs: [(String::new(), Ops::from([("read".to_owned(), whole)]))].into(),
            slices: means.iter().enumerate().map(slice).collect(),
            ..Trial::failed()
        }
    }

    fn figures(a: &Trial, b: &Trial, metric: Metric) -> Vec<Vec<f64>> {
        let trials = [("a", a), ("b", b)].into();
        Block::of(&["a", "b"], &trials, false).figures("", "read", metric)
    }

    #[test]
    fn slices_of_one_round_are_paired() {
        let (a, b) = (sliced(&[1.0, 2.0], Some(5)), sliced(&[3.0, 4.0], Some(5)));
        assert_eq!(figures(&a, &b, Metric::Mean), [[1.0, 3.0], [2.0, 4.0]]);
        assert_eq!(figures(&a, &b, Metric::P99), [[5.0, 5.0], [5.0, 5.0]]);
    }

    #[test]
    fn a_percentile_that_slices_have_too_few_ios_for_is_that_of_the_whole_trial() {
        let mut a = sliced(&[1.0, 2.0], Some(5));
        a.slices[1].jobs.get_mut("").and_then(|ops| ops.get_mut("read")).expect("reads").latency_ns.p99 =
            None;
        assert_eq!(figures(&a, &sliced(&[3.0, 4.0], Some(5)), Metric::P99), [[9.0, 9.0]]);
    }

    #[test]
    fn whole_trials_are_a_pair_and_a_missing_one_leaves_none() {
        let (a, b) = (sliced(&[], None), sliced(&[], None));
        assert_eq!(figures(&a, &b, Metric::P99), [[9.0, 9.0]]);
        let alone = Block::of(&["a", "b"], &[("a", &a)].into(), false);
        assert!(alone.figures("", "read", Metric::P99).is_empty());
    }
}
