//! What the sides of a comparison across results are called, and what differs between them beside what was asked.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::runs::Error;
use crate::profile::{Job, Run};
use crate::result::{Pool, ResultFile, Status, Trial};

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
    let workloads = |result: &'_ ResultFile| result.profile.get("workloads")?.as_object().cloned();
    let Some(ours) = results.first().and_then(workloads) else { return Ok(()) };
    for (index, theirs) in results.iter().map(workloads).enumerate() {
        for (name, load) in &ours {
            let Some(other) = theirs.as_ref().and_then(|theirs| theirs.get(name)) else { continue };
            if let Some(key) = difference(&in_full(load), &in_full(other)) {
                let (first, second) = ("the first result".to_owned(), format!("result {}", index + 1));
                return Err(Error::Workload { workload: name.clone(), first, second, key });
            }
        }
    }
    Ok(())
}

/// A load with nothing left to defaults: what is said in other words is no difference.
fn in_full(load: &Value) -> Value {
    let job = Job::deserialize(load).ok().and_then(|job| serde_json::to_value(job).ok());
    job.unwrap_or_else(|| load.clone())
}

/// The path of the first key in which two values differ; empty where it is the values themselves.
fn difference(ours: &Value, theirs: &Value) -> Option<String> {
    let (Some(our_keys), Some(their_keys)) = (ours.as_object(), theirs.as_object()) else {
        return (ours != theirs).then(String::new);
    };
    our_keys.keys().chain(their_keys.keys()).find_map(|key| {
        let below =
            difference(ours.get(key).unwrap_or(&Value::Null), theirs.get(key).unwrap_or(&Value::Null))?;
        Some(if below.is_empty() { key.clone() } else { format!("{key}.{below}") })
    })
}

/// What weakens the comparison, in words.
pub(super) fn warnings(results: &[ResultFile], names: &BTreeMap<(usize, &str), String>) -> Vec<String> {
    let mut warnings = vec![
        "unpaired: the trials of one side did not run next to those of the other, so that whatever changed in between counts \
         as a difference of the arms; run both in one profile for stronger evidence"
            .to_owned(),
    ];
    let of_runs = results.iter().enumerate().flat_map(|(index, result)| {
        circumstances(result)
            .into_iter()
            .map(move |(key, value)| (key, format!("result {}", index + 1), value))
    });
    warnings.extend(unlike(of_runs));
    let of_arms = results.iter().enumerate().flat_map(|(run, result)| {
        let valid = result.trials.iter().filter(|trial| trial.status == Status::Valid);
        valid.flat_map(move |trial: &Trial| {
            let name = &names[&(run, trial.arm.as_str())];
            trial.conditions.iter().map(move |(key, value)| (key.as_str(), name.clone(), value.clone()))
        })
    });
    warnings.extend(unlike(of_arms));
    warnings
}

/// What all trials of a run have in common.
fn circumstances(result: &ResultFile) -> Vec<(&'static str, String)> {
    let run = result.profile.get("run").and_then(|run| Run::deserialize(run).ok()).unwrap_or_default();
    let mut all = vec![
        ("runtime", run.runtime.to_string()),
        ("ramp_time", run.ramp_time.to_string()),
        ("order", format!("{:?}", result.order).to_lowercase()),
        ("host", format!("{} ({} CPUs, Linux {})", result.host.name, result.host.cpus, result.host.kernel)),
        ("version of cephmark", format!("{} ({})", result.tool.version, result.tool.commit)),
    ];
    if let Some(cluster) = &result.cluster {
        all.extend([
            ("cluster", cluster.fsid.clone()),
            ("release of Ceph", cluster.release.clone()),
            ("version of the client", cluster.client_release.clone()),
            ("number of OSDs", cluster.osds.to_string()),
        ]);
        let pool = |(name, pool): (&String, &Pool)| {
            format!("{name} {} {}, {} PGs", pool.kind, pool.size, pool.pg_num)
        };
        all.push(("pools", cluster.pools.iter().map(pool).collect::<Vec<_>>().join("; ")));
    }
    all
}

/// What is not the same for all: `key` of `name` is `value`, of which the first counts.
fn unlike<'a>(all: impl Iterator<Item = (&'a str, String, String)>) -> Vec<String> {
    let mut keys: Vec<(&str, BTreeMap<String, String>)> = Vec::new();
    for (key, name, value) in all {
        let known = keys.iter().position(|(known, _)| *known == key);
        let place = known.unwrap_or_else(|| {
            keys.push((key, BTreeMap::new()));
            keys.len() - 1
        });
        keys[place].1.entry(name).or_insert(value);
    }
    keys.retain(|(_, by_name)| by_name.values().collect::<BTreeSet<_>>().len() > 1);
    keys.into_iter()
        .map(|(key, by_name)| {
            let each: Vec<_> = by_name.iter().map(|(name, value)| format!("{value} in {name}")).collect();
            format!("different {key}: {}", each.join(", "))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::result::{Cluster, Timestamp};

    fn result(load: Value) -> ResultFile {
        let profile = json!({"workloads": {"w": load}});
        ResultFile::new(profile, Timestamp::now())
    }

    fn refused(ours: Value, theirs: Value) -> Option<String> {
        refuse_other_loads(&[result(ours), result(theirs)]).err().map(|error| error.to_string())
    }

    #[test]
    fn loads_that_differ_are_refused_by_the_name_of_the_key() {
        let message = refused(json!({"rw": "read"}), json!({"rw": "read", "bs": "8k"})).expect("they differ");
        let expected =
            "workload w differs between the first result and result 2 in bs: only like loads can be compared";
        assert_eq!(message, expected);
        let jobs = |depth| json!({"jobs": {"data": {"rw": "read", "iodepth": depth}}});
        assert!(refused(jobs(1), jobs(2)).expect("they differ").contains(" in jobs.data.iodepth: "));
    }

    #[test]
    fn the_same_load_in_other_words_is_no_difference() {
        assert_eq!(refused(json!({"rw": "read"}), json!({"rw": "read", "bs": 4096, "numjobs": 1})), None);
    }

    #[test]
    fn what_else_differs_is_named_with_both_values() {
        let on = |fsid: &str, runtime: &str, features: &str| {
            let mut result = result(json!({"rw": "read"}));
            result.profile["run"] = json!({"runtime": runtime});
            result.cluster = Some(Cluster { fsid: fsid.to_owned(), ..Cluster::default() });
            let conditions = [("features".to_owned(), features.to_owned())].into();
            let trial = Trial { arm: "a".to_owned(), status: Status::Valid, conditions, ..Trial::failed() };
            result.trials.push(trial);
            result
        };
        let results = [on("x", "10s", "layering"), on("y", "30s", "layering,journaling")];
        let warnings = warnings(&results, &names(&results));
        let expected = [
            "different runtime: 10s in result 1, 30s in result 2",
            "different cluster: x in result 1, y in result 2",
            "different features: layering in a #1, layering,journaling in a #2",
        ];
        assert_eq!(warnings[1..], expected);
        assert!(warnings[0].starts_with("unpaired: "), "{warnings:?}");
    }
}
