//! Results of other days, hosts or versions against each other: no pairs, so each side must vouch for itself.

use std::collections::{BTreeMap, BTreeSet};

use super::claim::{self, Claim};
use super::figure::{self, Piece};
use super::workloads;
use super::{pairs, sides};
use crate::profile::Compare;
use crate::result::{Comparison, Metric, ResultFile, SeriesPoint, Trial};
use crate::stats::Mean;

/// Why results can't be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// They ran other loads under one name.
    #[error(
        "workload {workload} differs between {first} and {second} in {key}: only like loads can be compared"
    )]
    Workload {
        /// The workload.
        workload: String,
        /// A result.
        first: String,
        /// The other result.
        second: String,
        /// The first key that differs.
        key: String,
    },
    /// No arm has the name that was asked for.
    #[error("there is no arm `{name}`; there is {}", names.join(", "))]
    Baseline {
        /// What was asked for.
        name: String,
        /// The arms' names.
        names: Vec<String>,
    },
    /// Nothing that two arms have in common.
    #[error("the results have no workload in common that two arms ran")]
    NothingInCommon,
    /// Two arms ran the same, but too little of it.
    #[error(
        "two arms ran workload {workload}, but a single trial of less than four seconds does not tell how sure its figures \
         are; raise run.repeats or run.runtime"
    )]
    TooShort {
        /// The first such workload.
        workload: String,
    },
}

/// What results say about each other.
#[derive(Clone, Debug)]
pub struct Across {
    /// Every arm against the baseline.
    pub comparisons: Vec<Comparison>,
    /// What differs between the arms beside what was asked, and what weakens the evidence.
    pub warnings: Vec<String>,
}

/// Every arm of every result against the baseline: the arm of that name, or the first of the first result. Arms of the same
/// name in several results are told apart by the results' labels, or else by their place in the list.
///
/// # Errors
/// [`Error`] where results can't be compared at all.
pub fn across_runs(results: &[ResultFile], baseline: Option<&str>) -> Result<Across, Error> {
    sides::refuse_other_loads(results)?;
    let names = sides::names(results);
    let all = || {
        results
            .iter()
            .enumerate()
            .flat_map(|(run, result)| result.trials.iter().map(move |trial| (trial, run)))
    };
    let name = |(trial, run): &(&Trial, usize)| names[&(*run, trial.arm.as_str())].clone();
    let baseline = match baseline {
        None => all().next().as_ref().map(name).ok_or(Error::NothingInCommon)?,
        Some(asked) => {
            let known: BTreeSet<&String> = names.values().collect();
            let one = known.iter().find(|known| known.as_str() == asked);
            one.map(|name| (*name).clone()).ok_or_else(|| Error::Baseline {
                name: asked.to_owned(),
                names: known.iter().map(|known| (*known).clone()).collect(),
            })?
        }
    };
    let terms = Compare { metrics: metrics(results), ..pairs::terms(&results[0]) };
    let (mut claims, mut shared) = (Vec::new(), None);
    for (workload, trials) in workloads::grouped(all()) {
        let mut arms: BTreeMap<String, Vec<&Trial>> = BTreeMap::new();
        for pair in &trials {
            arms.entry(name(pair)).or_default().push(pair.0);
        }
        let Some(base) = arms.remove(&baseline) else { continue };
        for (candidate, trials) in arms {
            shared.get_or_insert(workload.0);
            let both: Vec<&Trial> = base.iter().chain(&trials).copied().collect();
            let whole_host = figure::costs_whole_host(&both);
            for (job, op, metric) in pairs::figures(&terms.metrics, &both) {
                let side = |trials: &[&Trial]| mean(trials, whole_host, (job, op, metric));
                let Some((mine, theirs)) = side(&trials).zip(side(&base)) else { continue };
                let (baseline, candidate) = (baseline.clone(), candidate.clone());
                claims.push(Claim {
                    workload: workload.clone(),
                    job,
                    op,
                    metric,
                    baseline,
                    candidate,
                    mean: mine.minus(&theirs),
                });
            }
        }
    }
    if claims.is_empty() {
        return Err(shared
            .map_or(Error::NothingInCommon, |workload| Error::TooShort { workload: workload.to_owned() }));
    }
    let warnings = sides::warnings(results, &names);
    Ok(Across { comparisons: claim::judged(claims, &terms, None), warnings })
}

/// The metrics of all profiles, in the order of reports.
fn metrics(results: &[ResultFile]) -> Vec<Metric> {
    let asked: BTreeSet<Metric> = results.iter().flat_map(|result| pairs::terms(result).metrics).collect();
    Metric::ALL.into_iter().filter(|metric| asked.contains(metric)).collect()
}

/// The mean of the logarithm of a figure: over repeats, or of a single trial over its seconds; of both, neighbours may be
/// alike. `None` where neither tells how sure it is.
fn mean(trials: &[&Trial], whole_host: bool, (job, op, metric): (&str, &str, Metric)) -> Option<Mean> {
    let value = |trial: &&Trial| Piece::of(trial, whole_host).value(job, op, metric);
    let values: Vec<f64> = trials.iter().filter_map(value).filter(|value| *value > 0.0).collect();
    let logs: Vec<f64> = values.iter().copied().map(f64::ln).collect();
    match (&logs[..], trials) {
        ([_, _, _, _, ..], _) => Mean::of_series(&logs),
        ([_, _, ..], _) => Mean::of_independent(&logs),
        ([whole], [trial]) => of_seconds(*whole, &seconds(trial, job, op, metric)),
        _ => None,
    }
}

/// The logarithm of a single trial's figure, as sure as its seconds make it.
fn of_seconds(whole: f64, seconds: &[f64]) -> Option<Mean> {
    let series = Mean::of_series(seconds).filter(|series| series.value > 0.0)?;
    Some(Mean { value: whole, error: series.error / series.value, degrees: series.degrees })
}

fn seconds(trial: &Trial, job: &str, op: &str, metric: Metric) -> Vec<f64> {
    let points = trial.series.iter().filter(|point| point.job == job && point.op == op);
    let figure = |point: &SeriesPoint| match metric {
        Metric::Iops => Some(point.iops),
        Metric::BytesPerS => Some(point.bytes_per_s),
        Metric::Mean => point.mean_ns,
        // Of these a second has too few I/Os, or no figure.
        Metric::P50 | Metric::P99 | Metric::P99_9 | Metric::UsPerIo => None,
    };
    points.filter_map(figure).collect()
}
