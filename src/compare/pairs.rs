//! Arms of one run against its baseline, paired by block.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::block::Block;
use super::claim::{self, Claim};
use super::figure::{self, WHOLE_TRIAL};
use super::workloads::{self, Workload};
use crate::profile::Compare;
use crate::result::{Comparison, Metric, ResultFile, Trial};
use crate::stats::{Looks, mean_log_ratio, paired};

/// Every arm against the baseline, by each metric of each job and operation: trials of one repeat make a block, and a
/// block that lacks an arm is left out whole. A run of one repeat proves nothing.
#[must_use]
pub fn within_run(result: &ResultFile) -> Vec<Comparison> {
    let terms = terms(result);
    let mut claims = Vec::new();
    for (workload, trials) in workloads::grouped(result.trials.iter().map(|trial| (trial, ()))) {
        let trials: Vec<_> = trials.into_iter().map(|(trial, ())| trial).collect();
        compare_arms(result, &terms, &workload, &trials, &mut claims);
    }
    let looks = result.most_repeats.map(Looks::until);
    claim::judged(claims, &terms, looks.as_ref())
}

/// `compare:` of the profile that was run.
pub(super) fn terms(result: &ResultFile) -> Compare {
    let written = result.profile.get("compare");
    written.and_then(|terms| Compare::deserialize(terms).ok()).unwrap_or_default()
}

fn compare_arms<'a>(
    result: &ResultFile,
    terms: &Compare,
    workload: &Workload<'a>,
    trials: &[&'a Trial],
    claims: &mut Vec<Claim<'a>>,
) {
    let arms = arms(result, trials);
    let Some(baseline) = baseline(terms, trials, &arms) else { return };
    let whole_host = figure::costs_whole_host(trials);
    let mut blocks: BTreeMap<u32, BTreeMap<&str, &Trial>> = BTreeMap::new();
    for trial in trials {
        blocks.entry(trial.repeat).or_default().insert(&trial.arm, trial);
    }
    let blocks: Vec<Block<'_>> = blocks.values().map(|trials| Block::of(&arms, trials, whole_host)).collect();
    for (job, op, metric) in figures(&terms.metrics, trials) {
        let figures: Vec<_> = blocks.iter().map(|block| block.figures(job, op, metric)).collect();
        for (candidate, arm) in arms.iter().enumerate().filter(|(index, _)| *index != baseline) {
            let ratios: Vec<f64> =
                figures.iter().filter_map(|rounds| mean_log_ratio(rounds, baseline, candidate)).collect();
            let Some(mean) = paired(&ratios) else { continue };
            let (workload, baseline) = (workload.clone(), arms[baseline].to_owned());
            claims.push(Claim { workload, job, op, metric, baseline, candidate: (*arm).to_owned(), mean });
        }
    }
}

/// The arms in the order of the profile; that in which they happened to run says nothing.
fn arms<'a>(result: &ResultFile, trials: &[&'a Trial]) -> Vec<&'a str> {
    let mut trials = trials.to_vec();
    trials.sort_by(|a, b| result.arms_in_profile_order(a, b));
    let mut arms: Vec<&str> = trials.into_iter().map(|trial| trial.arm.as_str()).collect();
    arms.dedup();
    arms
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::result::{Figures, Ops, Status, Timestamp, Verdict};

    fn trial(arm: &str, repeat: u32, iops: f64) -> Trial {
        let figures = Figures { ios: 1, iops, ..Figures::default() };
        let ops = Ops::from([("read".to_owned(), figures)]);
        Trial {
            arm: arm.to_owned(),
            target: arm.to_owned(),
            workload: "reads".to_owned(),
            repeat,
            status: Status::Valid,
            jobs: [(String::new(), ops)].into(),
            ..Trial::failed()
        }
    }

    fn result(baseline: &str, trials: Vec<Trial>) -> ResultFile {
        let profile = json!({"compare": {"baseline": baseline, "metrics": ["iops"]}});
        ResultFile { trials, ..ResultFile::new(profile, Timestamp::now()) }
    }

    /// `fast` does half as much again as `slow`, give or take a few percent that both share, and one that they do not.
    fn trials() -> Vec<Trial> {
        let blocks = [(1000.0, 1.50), (960.0, 1.49), (1040.0, 1.51), (990.0, 1.50)];
        let both = |(repeat, (iops, by)): (usize, (f64, f64))| {
            [trial("slow", repeat as u32, iops), trial("fast", repeat as u32, iops * by)]
        };
        blocks.into_iter().enumerate().flat_map(both).collect()
    }

    #[test]
    fn a_difference_is_found_and_swapping_the_arms_inverts_it() {
        let [up] = &within_run(&result("slow", trials()))[..] else { panic!("one comparison") };
        let [down] = &within_run(&result("fast", trials()))[..] else { panic!("one comparison") };
        assert_eq!((up.candidate.as_str(), up.verdict), ("fast", Verdict::Better));
        assert_eq!((down.candidate.as_str(), down.verdict), ("slow", Verdict::Worse));
        assert!((up.ratio - 1.5).abs() < 0.01, "{}", up.ratio);
        assert!((up.ratio * down.ratio - 1.0).abs() < 1e-12);
        assert!((up.ci[0] * down.ci[1] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_block_that_lacks_an_arm_says_nothing() {
        let whole = within_run(&result("slow", trials()));
        let mut with_stray = trials();
        with_stray.push(trial("fast", 4, 1.0));
        with_stray.push(Trial { status: Status::Invalid, ..trial("slow", 4, 9e9) });
        assert_eq!(within_run(&result("slow", with_stray)), whole);
    }

    #[test]
    fn one_arm_or_one_repeat_proves_nothing() {
        let one_arm = trials().into_iter().filter(|trial| trial.arm == "slow").collect();
        assert_eq!(within_run(&result("slow", one_arm)), []);
        assert_eq!(within_run(&result("slow", trials().drain(..2).collect())), []);
    }
}
