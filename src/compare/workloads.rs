//! Trials that ran the same: by workload and its swept settings.

use std::collections::BTreeMap;

use crate::result::{Status, Trial};

/// What trials that can be compared have in common: the workload, and its swept settings.
pub(super) type Workload<'a> = (&'a str, BTreeMap<&'a str, &'a str>);

/// The valid ones among `trials`, with what goes along with each, by workload in the order in which they first ran.
pub(super) fn grouped<'a, T>(
    trials: impl Iterator<Item = (&'a Trial, T)>,
) -> Vec<(Workload<'a>, Vec<(&'a Trial, T)>)> {
    let mut found: Vec<(Workload<'a>, Vec<(&'a Trial, T)>)> = Vec::new();
    for (trial, with) in trials.filter(|(trial, _)| trial.status == Status::Valid) {
        let workload = (trial.workload.as_str(), trial.settings_of_workload());
        match found.iter_mut().find(|(known, _)| *known == workload) {
            Some((_, trials)) => trials.push((trial, with)),
            None => found.push((workload, vec![(trial, with)])),
        }
    }
    found
}
