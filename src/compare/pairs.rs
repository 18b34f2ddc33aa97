//! Arms of one run against its baseline, paired by block.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::block::Block;
use super::claim::{self, Claim};
use super::figure::{self, WHOLE_TRIAL};
use super::runs::Error;
use super::workloads::{self, Workload};
use crate::lane::Op;
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

/// As [`within_run`], against another baseline: an arm, or a target that has just one.
///
/// # Errors
/// [`Error::Baseline`] if there is no such arm.
pub fn within_run_against(result: &ResultFile, baseline: &str) -> Result<Vec<Comparison>, Error> {
    let mut trials: Vec<&Trial> = result.trials.iter().collect();
    let arms = arms(result, &trials);
    trials.retain(|trial| trial.target == baseline);
    let of_target = self::arms(result, &trials);
    let arm = match &of_target[..] {
        _ if arms.contains(&baseline) => baseline,
        [one] => one,
        _ => {
            let names = arms.into_iter().map(str::to_owned).collect();
            return Err(Error::Baseline { name: baseline.to_owned(), names });
        }
    };
    let mut result = result.clone();
    result.profile["compare"]["baseline"] = arm.into();
    Ok(within_run(&result))
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

/// What is compared: each metric of each job and operation that a trial has, and then those of the whole trial. How many
/// syncs there are follows from the writes between them, or is one, so they have response times alone.
#[must_use]
pub fn figures<'a>(metrics: &[Metric], trials: &[&'a Trial]) -> Vec<(&'a str, &'a str, Metric)> {
    let place = |op: &str| Op::ALL.iter().position(|known| known.name() == op);
    let pairs = trials.iter().flat_map(|trial| {
        trial.jobs.iter().flat_map(|(job, ops)| ops.keys().map(|op| (job.as_str(), op.as_str())))
    });
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_by_key(|(job, op)| (*job, place(op), *op));
    pairs.dedup();
    let of_whole_trial = |metric: Metric| metric == Metric::UsPerIo;
    let is_sync = |op: &str| [Op::Sync, Op::DataSync].iter().any(|sync| sync.name() == op);
    let is_rate = |metric: Metric| matches!(metric, Metric::Iops | Metric::BytesPerS);
    pairs
        .into_iter()
        .chain([("", WHOLE_TRIAL)])
        .flat_map(|(job, op)| metrics.iter().map(move |metric| (job, op, *metric)))
        .filter(|(_, op, metric)| of_whole_trial(*metric) == (*op == WHOLE_TRIAL))
        .filter(|(_, op, metric)| !(is_sync(op) && is_rate(*metric)))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::result::{Figures, LatencyNs, Ops, Status, Timestamp, Verdict};

    /// A trial whose IOPS and mean latency are the same number.
    fn trial(arm: &str, repeat: u32, figure: f64) -> Trial {
        let latency_ns = LatencyNs { mean: Some(figure), ..LatencyNs::default() };
        let figures = Figures { ios: 1, iops: figure, latency_ns, ..Figures::default() };
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
        let profile = json!({"compare": {"baseline": baseline, "metrics": ["iops", "mean"]}});
        ResultFile { trials, ..ResultFile::new(profile, Timestamp::now()) }
    }

    fn trials(blocks: &[(f64, f64)]) -> Vec<Trial> {
        let both = |(repeat, (slow, fast)): (usize, &(f64, f64))| {
            [trial("slow", repeat as u32, *slow), trial("fast", repeat as u32, *fast)]
        };
        blocks.iter().enumerate().flat_map(both).collect()
    }

    /// `fast` does half as much again as `slow`, give or take a few percent that both share, and one that they do not.
    const BLOCKS: [(f64, f64); 4] = [(1000.0, 1500.0), (960.0, 1430.0), (1040.0, 1570.0), (990.0, 1485.0)];

    #[test]
    fn syncs_are_compared_by_their_response_times_alone() {
        let mut trials = trials(&BLOCKS);
        for trial in &mut trials {
            let ops = trial.jobs.get_mut("").expect("the only job");
            let figures = ops["read"].clone();
            ops.extend([Op::Sync, Op::DataSync].map(|op| (op.name().to_owned(), figures.clone())));
        }
        let compared: Vec<_> = within_run(&result("slow", trials))
            .into_iter()
            .map(|comparison| (comparison.op, comparison.metric))
            .collect();
        let expected = [
            ("read", Metric::Iops),
            ("read", Metric::Mean),
            (Op::Sync.name(), Metric::Mean),
            (Op::DataSync.name(), Metric::Mean),
        ];
        assert_eq!(compared, expected.map(|(op, metric)| (op.to_owned(), metric)));
    }

    #[test]
    fn more_iops_are_better_and_more_time_is_worse() {
        let [iops, mean] = &within_run(&result("slow", trials(&BLOCKS)))[..] else {
            panic!("two comparisons")
        };
        assert_eq!(
            (iops.candidate.as_str(), iops.metric, iops.verdict),
            ("fast", Metric::Iops, Verdict::Better)
        );
        assert_eq!((mean.metric, mean.verdict), (Metric::Mean, Verdict::Worse));
        assert!((iops.ratio - 1.5).abs() < 0.01, "{}", iops.ratio);
    }

    #[test]
    fn another_baseline_can_be_named_and_one_that_is_not_there_is_refused() {
        let result = result("slow", trials(&BLOCKS));
        let other = &within_run_against(&result, "fast").expect("an arm")[0];
        assert_eq!((other.baseline.as_str(), other.verdict), ("fast", Verdict::Worse));
        let message = within_run_against(&result, "fat").expect_err("no such arm").to_string();
        assert_eq!(message, "there is no arm `fat`; there is fast, slow");
    }

    #[test]
    fn a_target_of_two_arms_is_no_baseline() {
        let mut trials = trials(&BLOCKS);
        trials.iter_mut().for_each(|trial| trial.target = "t".to_owned());
        assert!(within_run_against(&result("slow", trials), "t").is_err());
    }

    #[test]
    fn without_a_baseline_it_is_the_first_arm_of_the_profile() {
        let mut result = result("slow", trials(&BLOCKS));
        result.profile = json!({"targets": {"slow": {}, "fast": {}}});
        assert_eq!(within_run(&result)[0].baseline, "slow");
        result.profile = json!({"targets": {"fast": {}, "slow": {}}});
        assert_eq!(within_run(&result)[0].baseline, "fast");
    }

    #[test]
    fn one_arm_or_one_repeat_proves_nothing() {
        let one_arm = trials(&BLOCKS).into_iter().filter(|trial| trial.arm == "slow").collect();
        assert_eq!(within_run(&result("slow", one_arm)), []);
        assert_eq!(within_run(&result("slow", trials(&BLOCKS[..1]))), []);
    }

    fn blocks() -> impl Strategy<Value = Vec<(f64, f64)>> {
        let alike = (1.0_f64..1e6, -0.2_f64..0.2).prop_map(|(figure, by)| (figure, figure * (1.0 + by)));
        prop_oneof![
            prop::collection::vec(alike, 2..8),
            prop::collection::vec((1.0_f64..1e6, 1.0_f64..1e6), 2..8),
        ]
    }

    fn alike(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-9
    }

    proptest! {
        #[test]
        fn swapping_the_arms_inverts_ratios_and_verdicts(blocks in blocks()) {
            let there = within_run(&result("slow", trials(&blocks)));
            let back = within_run(&result("fast", trials(&blocks)));
            prop_assert_eq!((there.len(), back.len()), (2, 2));
            for (there, back) in there.iter().zip(&back) {
                prop_assert!(alike(there.ratio, 1.0 / back.ratio), "{:?} {:?}", there, back);
                prop_assert!(alike(there.ci[0], 1.0 / back.ci[1]) && alike(there.ci[1], 1.0 / back.ci[0]));
                let inverted = match back.verdict {
                    Verdict::Better => Verdict::Worse,
                    Verdict::Worse => Verdict::Better,
                    unchanged => unchanged,
                };
                prop_assert_eq!(there.verdict, inverted);
            }
        }

        #[test]
        fn scaling_all_values_changes_nothing(blocks in blocks(), scale in 1e-3_f64..1e3) {
            let scaled: Vec<_> = blocks.iter().map(|(slow, fast)| (slow * scale, fast * scale)).collect();
            let plain = within_run(&result("slow", trials(&blocks)));
            let scaled = within_run(&result("slow", trials(&scaled)));
            for (plain, scaled) in plain.iter().zip(&scaled) {
                prop_assert!(alike(plain.ratio, scaled.ratio), "{:?} {:?}", plain, scaled);
                prop_assert!(alike(plain.ci[0], scaled.ci[0]) && alike(plain.ci[1], scaled.ci[1]));
                prop_assert_eq!(plain.verdict, scaled.verdict);
            }
        }

        #[test]
        fn a_block_with_a_missing_arm_is_dropped_whole(blocks in blocks(), stray in 1.0_f64..1e6) {
            let whole = trials(&blocks);
            let next = blocks.len() as u32;
            let mut with_stray = whole.clone();
            with_stray.push(trial("fast", next, stray));
            with_stray.push(Trial { status: Status::Invalid, ..trial("slow", next, stray) });
            with_stray.push(trial("slow", next + 1, stray));
            prop_assert_eq!(within_run(&result("slow", with_stray)), within_run(&result("slow", whole)));
        }
    }
}
