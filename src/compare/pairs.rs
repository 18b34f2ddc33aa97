//! Arms of one run against its baseline, paired by block.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::claim::{self, Claim};
use super::figure::{Piece, WHOLE_TRIAL};
use super::workloads::{self, Workload};
use crate::profile::Compare;
use crate::result::{Comparison, Metric, ResultFile, Trial};
use crate::stats::{Mean, complete, log_ratios, paired};

/// Every arm against the baseline, by each metric of each job and operation: trials of one repeat, or slices of one round,
/// make a block, and a block that lacks an arm is left out whole. Needs two blocks of trials or four of slices; a run of
/// one repeat proves nothing.
#[must_use]
pub fn within_run(result: &ResultFile) -> Vec<Comparison> {
    let terms = terms(result);
    let mut claims = Vec::new();
    for (workload, trials) in workloads::grouped(result.trials.iter().map(|trial| (trial, ()))) {
        let trials: Vec<_> = trials.into_iter().map(|(trial, ())| trial).collect();
        compare_arms(&terms, &workload, &trials, &mut claims);
    }
    claim::judged(claims, &terms)
}

/// `compare:` of the profile that was run.
pub(super) fn terms(result: &ResultFile) -> Compare {
    let written = result.profile.get("compare");
    written.and_then(|terms| Compare::deserialize(terms).ok()).unwrap_or_default()
}

fn compare_arms<'a>(
    terms: &Compare,
    workload: &Workload<'a>,
    trials: &[&'a Trial],
    claims: &mut Vec<Claim<'a>>,
) {
    let arms = arms(trials);
    let Some(baseline) = baseline(terms, trials, &arms) else { return };
    let mut blocks: BTreeMap<(u32, u32), BTreeMap<&str, Piece<'_>>> = BTreeMap::new();
    for trial in trials {
        for (block, piece) in Piece::of(trial) {
            blocks.entry(block).or_default().insert(&trial.arm, piece);
        }
    }
    let sliced = trials.iter().any(|trial| !trial.slices.is_empty());
    for (job, op, metric) in figures(&terms.metrics, trials) {
        let figures = blocks.values().map(|block| {
            let of_arm = |arm: &&str| block.get(arm).and_then(|piece| piece.value(job, op, metric));
            arms.iter().map(of_arm).collect()
        });
        let figures = complete(&figures.collect::<Vec<Vec<Option<f64>>>>());
        for (candidate, arm) in arms.iter().enumerate().filter(|(index, _)| *index != baseline) {
            let ratios = log_ratios(&figures, baseline, candidate);
            let Some(mean) = mean(&ratios, sliced) else { continue };
            let (workload, baseline) = (workload.clone(), arms[baseline].to_owned());
            claims.push(Claim { workload, job, op, metric, baseline, candidate: (*arm).to_owned(), mean });
        }
    }
}

/// Blocks of whole trials tell nothing of each other; slices follow so closely that neighbours may be alike.
fn mean(log_ratios: &[f64], sliced: bool) -> Option<Mean> {
    if sliced { Mean::of_series(log_ratios) } else { paired(log_ratios) }
}

/// The arms by name, so that the order in which they happened to run says nothing.
fn arms<'a>(trials: &[&'a Trial]) -> Vec<&'a str> {
    let names: BTreeSet<&str> = trials.iter().map(|trial| trial.arm.as_str()).collect();
    names.into_iter().collect()
}

/// The arm that `compare.baseline` names, by its own name or its target's; without it the first.
fn baseline(terms: &Compare, trials: &[&Trial], arms: &[&str]) -> Option<usize> {
    let Some(named) = &terms.baseline else { return (arms.len() > 1).then_some(0) };
    let arm = trials.iter().find(|trial| trial.arm == *named || trial.target == *named)?;
    arms.iter().position(|name| *name == arm.arm)
}

/// What is compared: each metric of each job and operation that a trial has, and those of the whole trial.
pub(super) fn figures<'a>(metrics: &[Metric], trials: &[&'a Trial]) -> Vec<(&'a str, &'a str, Metric)> {
    let pairs = trials.iter().flat_map(|trial| {
        trial.jobs.iter().flat_map(|(job, ops)| ops.keys().map(move |op| (job.as_str(), op.as_str())))
    });
    let pairs: BTreeSet<_> = pairs.chain([("", WHOLE_TRIAL)]).collect();
    let of_whole_trial = |metric: Metric| metric == Metric::UsPerIo;
    pairs
        .into_iter()
        .flat_map(|(job, op)| metrics.iter().map(move |metric| (job, op, *metric)))
        .filter(|(_, op, metric)| of_whole_trial(*metric) == (*op == WHOLE_TRIAL))
        .collect()
}
