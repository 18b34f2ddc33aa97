//! Arms of one run against its baseline, paired by block.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::figure::{self, WHOLE_TRIAL};
use crate::profile::Compare;
use crate::result::{Comparison, Metric, ResultFile, Status, Trial};
use crate::stats::{Family, Mean, Ratio, complete, log_ratios, paired};

/// What both arms of a comparison ran: the workload, and its swept settings.
type Workload<'a> = (&'a str, BTreeMap<&'a str, &'a str>);

/// A comparison whose interval waits for the number of all of them.
struct Open<'a> {
    workload: Workload<'a>,
    job: &'a str,
    op: &'a str,
    metric: Metric,
    baseline: &'a str,
    candidate: &'a str,
    mean: Mean,
}

/// Every arm against the baseline, by each metric of each job and operation: trials of one repeat make a block, and a block
/// that lacks an arm is left out whole. Needs two blocks; a run of one repeat proves nothing.
#[must_use]
pub fn within_run(result: &ResultFile) -> Vec<Comparison> {
    let terms = terms(result);
    let mut open = Vec::new();
    for (workload, trials) in by_workload(result) {
        compare_arms(&terms, &workload, &trials, &mut open);
    }
    let family = Family::of(open.len());
    open.into_iter().map(|one| one.judged(&terms, &family)).collect()
}

/// `compare:` of the profile that was run.
fn terms(result: &ResultFile) -> Compare {
    let written = result.profile.get("compare");
    written.and_then(|terms| Compare::deserialize(terms).ok()).unwrap_or_default()
}

fn by_workload(result: &ResultFile) -> Vec<(Workload<'_>, Vec<&Trial>)> {
    let mut found: Vec<(Workload<'_>, Vec<&Trial>)> = Vec::new();
    for trial in result.trials.iter().filter(|trial| trial.status == Status::Valid) {
        let settings = trial.settings.iter().filter(|(path, _)| !path.starts_with("targets."));
        let settings = settings.map(|(path, value)| (path.as_str(), value.as_str())).collect();
        let workload = (trial.workload.as_str(), settings);
        match found.iter_mut().find(|(known, _)| *known == workload) {
            Some((_, trials)) => trials.push(trial),
            None => found.push((workload, vec![trial])),
        }
    }
    found
}

fn compare_arms<'a>(
    terms: &Compare,
    workload: &Workload<'a>,
    trials: &[&'a Trial],
    open: &mut Vec<Open<'a>>,
) {
    let arms = arms(trials);
    let Some(baseline) = baseline(terms, trials, &arms) else { return };
    let repeats: BTreeSet<u32> = trials.iter().map(|trial| trial.repeat).collect();
    for (job, op, metric) in figures(terms, trials) {
        let of_arm = |repeat: u32, arm: &str| {
            let trial = trials.iter().find(|trial| trial.repeat == repeat && trial.arm == arm)?;
            figure::value(trial, job, op, metric)
        };
        let blocks = repeats.iter().map(|repeat| arms.iter().map(|arm| of_arm(*repeat, arm)).collect());
        let blocks = complete(&blocks.collect::<Vec<Vec<Option<f64>>>>());
        for (candidate, arm) in arms.iter().enumerate().filter(|(index, _)| *index != baseline) {
            let Some(mean) = paired(&log_ratios(&blocks, baseline, candidate)) else { continue };
            let workload = workload.clone();
            open.push(Open { workload, job, op, metric, baseline: arms[baseline], candidate: arm, mean });
        }
    }
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
fn figures<'a>(terms: &Compare, trials: &[&'a Trial]) -> Vec<(&'a str, &'a str, Metric)> {
    let pairs = trials.iter().flat_map(|trial| {
        trial.jobs.iter().flat_map(|(job, ops)| ops.keys().map(move |op| (job.as_str(), op.as_str())))
    });
    let pairs: BTreeSet<_> = pairs.chain([("", WHOLE_TRIAL)]).collect();
    let of_whole_trial = |metric: Metric| metric == Metric::UsPerIo;
    pairs
        .into_iter()
        .flat_map(|(job, op)| terms.metrics.iter().map(move |metric| (job, op, *metric)))
        .filter(|(_, op, metric)| of_whole_trial(*metric) == (*op == WHOLE_TRIAL))
        .collect()
}

impl Open<'_> {
    fn judged(self, terms: &Compare, family: &Family) -> Comparison {
        let ratio = Ratio::of(&self.mean, family);
        let (workload, settings) = self.workload;
        let owned = |(path, value): (&str, &str)| (path.to_owned(), value.to_owned());
        Comparison {
            workload: workload.to_owned(),
            settings: settings.into_iter().map(owned).collect(),
            job: self.job.to_owned(),
            op: self.op.to_owned(),
            metric: self.metric,
            baseline: self.baseline.to_owned(),
            candidate: self.candidate.to_owned(),
            ratio: ratio.value,
            ci: [ratio.low, ratio.high],
            level: Ratio::LEVEL,
            p_value: ratio.p_value,
            verdict: ratio.verdict(terms.min_effect.fraction(), self.metric.higher_is_better()),
        }
    }
}
