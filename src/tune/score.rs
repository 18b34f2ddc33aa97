//! What a trial is worth to the objective: one number, higher is better, in which factors become differences.

use crate::compare;
use crate::plan::Plan;
use crate::result::{Metric, ResultFile, Status, Trial};

/// The scores of the blocks from `first` on, each with a place for every arm of the plan. An arm has one where all its
/// trials of the block are valid.
#[must_use]
pub(super) fn scores(result: &ResultFile, plan: &Plan, metric: Metric, first: u32) -> Vec<Vec<Option<f64>>> {
    let last = result.trials.iter().map(|trial| trial.repeat).max();
    let blocks = first..last.map_or(first, |last| last + 1);
    blocks
        .map(|block| plan.arms.iter().map(|arm| score(result, plan, metric, &arm.name, block)).collect())
        .collect()
}

fn score(result: &ResultFile, plan: &Plan, metric: Metric, arm: &str, block: u32) -> Option<f64> {
    let valid = result.trials.iter().filter(|trial| trial.arm == arm && trial.repeat == block);
    let valid: Vec<&Trial> = valid.filter(|trial| trial.status == Status::Valid).collect();
    if valid.len() < plan.workloads.len() {
        return None;
    }
    let values: Option<Vec<f64>> = valid.into_iter().flat_map(|trial| logs(trial, metric)).collect();
    values.filter(|values| !values.is_empty()).map(|values| values.iter().sum::<f64>() / values.len() as f64)
}

/// The logarithm of each figure that comparisons by this metric are of, so turned that higher is better.
fn logs(trial: &Trial, metric: Metric) -> Vec<Option<f64>> {
    let sign = if metric.higher_is_better() { 1.0 } else { -1.0 };
    let figures = compare::figures(&[metric], &[trial]);
    let value = |(job, op, metric)| compare::value(trial, job, op, metric).filter(|value| *value > 0.0);
    figures.into_iter().map(|figure| value(figure).map(|value| sign * value.ln())).collect()
}
