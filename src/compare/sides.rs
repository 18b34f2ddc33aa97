//! What the sides of a comparison across results are called, and what differs between them beside what was asked.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::runs::Error;
use crate::result::{ResultFile, Status, Trial};

/// The name of each arm of each result: its own where that tells it apart, else with the labels of its result, or with the
/// result's place in the list.
pub(super) fn names(results: &[ResultFile]) -> BTreeMap<(usize, &str), String> {
    let arms = || {
        results.iter().enumerate().flat_map(|(run, result)| {
            let arms: BTreeSet<&str> = result.trials.iter().map(|trial| trial.arm.as_str()).collect();
            arms.into_iter().map(move |arm| (run, arm))
        })
    };
    let labelled = |run: usize, arm: &str| {
        let labels = results[run].labels.iter().map(|(key, value)| format!("{key}={value} "));
        labels.collect::<String>() + arm
    };
    arms()
        .map(|(run, arm)| {
            let rivals: Vec<usize> = arms().filter(|(_, other)| *other == arm).map(|(run, _)| run).collect();
            let by_label: BTreeSet<String> = rivals.iter().map(|run| labelled(*run, arm)).collect();
            let name = match rivals.len() {
                1 => arm.to_owned(),
                count if by_label.len() == count => labelled(run, arm),
                _ => format!("{arm} #{}", run + 1),
            };
            ((run, arm), name)
        })
        .collect()
}

/// Only like loads can be compared.
///
/// # Errors
/// [`Error::Workload`] with the first key in which workloads of one name differ.
pub(super) fn refuse_other_loads(results: &[ResultFile]) -> Result<(), Error> {
    let workloads =
        |result: &'_ ResultFile| result.profile.get("workloads").and_then(Value::as_object).cloned();
    for (index, second) in results.iter().enumerate().skip(1) {
        let (Some(ours), Some(theirs)) = (workloads(&results[0]), workloads(second)) else { continue };
        for (name, load) in &ours {
            let Some(other) = theirs.get(name).filter(|other| *other != load) else { continue };
            let (empty, load, other) = (serde_json::Map::new(), load.as_object(), other.as_object());
            let (load, other) = (load.unwrap_or(&empty), other.unwrap_or(&empty));
            let mut keys = load.keys().chain(other.keys());
            let key = keys.find(|key| load.get(*key) != other.get(*key)).cloned().unwrap_or_default();
            let (first, second) = ("the first result".to_owned(), format!("result {}", index + 1));
            return Err(Error::Workload { workload: name.clone(), first, second, key });
        }
    }
    Ok(())
}

/// What weakens the comparison, in words.
pub(super) fn warnings(results: &[ResultFile], names: &BTreeMap<(usize, &str), String>) -> Vec<String> {
    let mut warnings = vec![
        "unpaired: the trials of one side did not run next to those of the other, so that whatever changed in between counts \
         as a difference of the arms; run both in one profile for stronger evidence"
            .to_owned(),
    ];
    let clusters: BTreeSet<&str> =
        results.iter().filter_map(|result| Some(result.cluster.as_ref()?.fsid.as_str())).collect();
    if clusters.len() > 1 {
        warnings.push(format!("the results are of {} clusters", clusters.len()));
    }
    let versions: BTreeSet<String> =
        results.iter().map(|result| format!("{} ({})", result.tool.version, result.tool.commit)).collect();
    if versions.len() > 1 {
        let versions: Vec<_> = versions.into_iter().collect();
        warnings.push(format!("the results are of several builds of cephmark: {}", versions.join(", ")));
    }
    warnings.extend(conditions(results, names));
    warnings
}

/// Conditions, such as the size of images, that are not the same for all arms.
fn conditions(results: &[ResultFile], names: &BTreeMap<(usize, &str), String>) -> Vec<String> {
    let trials = results.iter().enumerate().flat_map(|(run, result)| {
        let valid = result.trials.iter().filter(|trial| trial.status == Status::Valid);
        valid.map(move |trial: &Trial| (&names[&(run, trial.arm.as_str())], trial))
    });
    let mut values: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    for (arm, trial) in trials {
        for (key, value) in &trial.conditions {
            values.entry(key).or_default().entry(arm).or_insert(value);
        }
    }
    let differing =
        values.into_iter().filter(|(_, by_arm)| by_arm.values().collect::<BTreeSet<_>>().len() > 1);
    differing
        .map(|(key, by_arm)| {
            let each: Vec<_> = by_arm.iter().map(|(arm, value)| format!("{arm} {value}")).collect();
            format!("{key} differs: {}", each.join(", "))
        })
        .collect()
}
