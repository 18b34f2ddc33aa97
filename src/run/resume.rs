//! Going on with an interrupted run: the same plan, in the same order, without the trials that are over.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use super::{Error, record};
use crate::plan::{Plan, TrialPlan};
use crate::profile::Profile;
use crate::result::{ResultFile, Status, Trial};

/// Plans once more what a result says was planned, with the seed that it was run with. `path` is where the result is.
///
/// # Errors
/// [`Error::Refused`] if this version plans other trials than those that the result has.
pub fn plan_of(result: &ResultFile, path: &Path) -> Result<Plan, Error> {
    let file = path.display().to_string();
    // JSON is YAML too.
    let text = serde_json::to_string_pretty(&result.profile).map_err(std::io::Error::other)?;
    let loaded =
        Profile::parse(&file, &text, &[format!("run.seed={}", result.seed)]).map_err(Error::Fault)?;
    let mut plan = Plan::new(&loaded)?;
    plan.profile = result.profile.clone();
    let planned: BTreeSet<Key> = plan.trials.iter().map(|trial| Key::planned(&plan, trial)).collect();
    let known = result.trials.iter().all(|trial| planned.contains(&Key::of(trial)));
    // A run with `repeats: auto` that has decided planned no more than it ran.
    let count = plan.trials.len() == result.planned_trials as usize || plan.run.until_decided;
    if known && count {
        return Ok(plan);
    }
    Err(Error::Refused(format!(
        "{file} was written by cephmark {} and holds other trials than this version plans; go on with that version, or run \
         the profile anew",
        result.tool.version
    )))
}

/// Whether a run came to its end, with nothing left to do.
#[must_use]
pub fn is_complete(result: &ResultFile) -> bool {
    result.finished.is_some() && all_are_valid(result)
}

/// Whether every planned trial has a valid attempt.
pub(super) fn all_are_valid(result: &ResultFile) -> bool {
    let valid = result.trials.iter().filter(|trial| trial.status == Status::Valid);
    let valid: BTreeSet<Key> = valid.map(Key::of).collect();
    valid.len() == result.planned_trials as usize
}

/// Makes the result of a run that was interrupted one that goes on. `fresh` is what one would be that began now.
///
/// # Errors
/// [`Error::Refused`] where another cluster answers now.
pub(super) fn reopen(mut result: ResultFile, fresh: &ResultFile) -> Result<ResultFile, Error> {
    if let (Some(before), Some(now)) = (&result.cluster, &fresh.cluster)
        && before.fsid != now.fsid
    {
        return Err(Error::Refused(format!(
            "the run was interrupted on cluster {}, and this is {}; set CEPH_CONF to that cluster's ceph.conf, or run the \
             profile anew",
            before.fsid, now.fsid
        )));
    }
    let kept = result.trials.iter().filter(|trial| trial.status == Status::Valid).count();
    let text = format!("interrupted, and resumed at {}; {kept} valid trials were kept", fresh.started);
    result.notes.push(record::problem("resumed", text));
    if fresh.host.name != result.host.name {
        let text = format!("resumed on host {}; it began on {}", fresh.host.name, result.host.name);
        result.notes.push(record::problem("other_host", text));
    }
    // The campaign counts what it plans.
    (result.finished, result.planned_trials) = (None, 0);
    Ok(result)
}

/// What the trials so far took, for the budget of a run.
pub(super) fn spent(result: &ResultFile, plan: &Plan) -> Duration {
    let took = |trial: &Trial| {
        let workload = plan.workloads.iter().find(|workload| workload.name == trial.workload);
        let ramp = workload.map_or(Duration::ZERO, |workload| workload.ramp_time);
        ramp + Duration::try_from_secs_f64(trial.measured_s + trial.drain_s.unwrap_or(0.0))
            .unwrap_or_default()
    };
    result.trials.iter().map(took).sum()
}

/// What tells a planned trial from all others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    arm: String,
    workload: String,
    settings: Vec<(String, String)>,
    repeat: u32,
}

impl Key {
    /// Of a trial that is over.
    pub(super) fn of(trial: &Trial) -> Self {
        let settings = trial.settings.iter().map(|(path, value)| (path.clone(), value.clone())).collect();
        Self { arm: trial.arm.clone(), workload: trial.workload.clone(), settings, repeat: trial.repeat }
    }

    /// Of a trial of a plan.
    pub(super) fn planned(plan: &Plan, trial: &TrialPlan) -> Self {
        let (arm, workload) = (&plan.arms[trial.arm], &plan.workloads[trial.workload]);
        let mut settings: Vec<_> = arm.settings.iter().chain(&workload.settings).cloned().collect();
        settings.sort_unstable();
        Self { arm: arm.name.clone(), workload: workload.name.clone(), settings, repeat: trial.repeat }
    }
}
