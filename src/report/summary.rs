//! What the trials of a run say together: a group for each workload, a row for each arm, job and operation.

use std::collections::BTreeMap;

use super::spread::Spread;
use crate::lane::Op;
use crate::result::{Figures, LatencyNs, ResultFile, Status, Trial};

/// One workload with its swept settings, and every arm that ran it.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// The workload's name.
    pub workload: &'a str,
    /// Its swept settings; those of targets are in the names of the arms.
    pub settings: BTreeMap<&'a str, &'a str>,
    /// Its arms, in the order of the profile.
    pub arms: Vec<ArmTrials<'a>>,
}

/// The trials of one arm in one group.
#[derive(Clone, Debug)]
pub struct ArmTrials<'a> {
    /// The arm's name.
    pub arm: &'a str,
    /// All of its trials, valid or not, in the order they ran.
    pub trials: Vec<&'a Trial>,
}

/// One operation of one job of an arm, over its valid repeats.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// The job; empty for the only, unnamed one.
    pub job: &'a str,
    /// The operation.
    pub op: &'a str,
    figures: Vec<&'a Figures>,
}

/// The groups of a result, in the order of the profile.
#[must_use]
pub fn groups(result: &ResultFile) -> Vec<Group<'_>> {
    let mut trials: Vec<&Trial> = result.trials.iter().collect();
    trials.sort_by(|a, b| result.in_profile_order(a, b));
    let mut groups: Vec<Group> = Vec::new();
    for trial in trials {
        let settings = trial.settings_of_workload();
        match groups.last_mut() {
            Some(group) if group.workload == trial.workload && group.settings == settings => group.add(trial),
            _ => {
                let mut group = Group { workload: &trial.workload, settings, arms: Vec::new() };
                group.add(trial);
                groups.push(group);
            }
        }
    }
    groups
}

impl<'a> Group<'a> {
    fn add(&mut self, trial: &'a Trial) {
        match self.arms.last_mut() {
            Some(arm) if arm.arm == trial.arm => arm.trials.push(trial),
            _ => self.arms.push(ArmTrials { arm: &trial.arm, trials: vec![trial] }),
        }
    }

    /// Name and settings: `randwrite-4k (iodepth=32)`.
    #[must_use]
    pub fn title(&self) -> String {
        if self.settings.is_empty() {
            return self.workload.to_owned();
        }
        let settings: Vec<_> =
            self.settings.iter().map(|(path, value)| format!("{}={value}", last(path))).collect();
        format!("{} ({})", self.workload, settings.join(", "))
    }
}

impl<'a> ArmTrials<'a> {
    /// The trials that count.
    pub fn valid(&self) -> impl Iterator<Item = &'a Trial> {
        self.trials.iter().copied().filter(|trial| trial.status == Status::Valid)
    }

    /// A figure of whole trials over the valid repeats, if all of them have it.
    #[must_use]
    pub fn spread(&self, figure: impl Fn(&Trial) -> Option<f64>) -> Option<Spread> {
        Spread::of(self.valid().map(figure))
    }

    /// A row for each job and operation that a valid trial has.
    #[must_use]
    pub fn rows(&self) -> Vec<Row<'a>> {
        let mut rows: BTreeMap<(&str, usize, &str), Vec<&Figures>> = BTreeMap::new();
        for trial in self.valid() {
            for (job, ops) in &trial.jobs {
                for (op, figures) in ops {
                    rows.entry((job, place(op), op)).or_default().push(figures);
                }
            }
        }
        rows.into_iter().map(|((job, _, op), figures)| Row { job, op, figures }).collect()
    }
}

impl Row<'_> {
    /// A figure over the valid repeats, if all of them have it.
    #[must_use]
    pub fn spread(&self, figure: impl Fn(&Figures) -> Option<f64>) -> Option<Spread> {
        Spread::of(self.figures.iter().map(|figures| figure(figures)))
    }

    /// A whole-nanosecond figure of the response time over the valid repeats.
    #[must_use]
    pub fn latency(&self, figure: impl Fn(&LatencyNs) -> Option<u64>) -> Option<Spread> {
        self.spread(|figures| figure(&figures.latency_ns).map(|time| time as f64))
    }

    /// I/Os that failed, over all valid repeats.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.figures.iter().map(|figures| figures.failed()).sum()
    }
}

/// The place of an operation in every list: reads before writes before the rest.
#[must_use]
pub(super) fn place(op: &str) -> usize {
    Op::ALL.iter().position(|known| known.name() == op).unwrap_or(Op::COUNT)
}

/// The last part of a profile path: `rbd_cache_size` of `targets.librbd.options.rbd_cache_size`.
#[must_use]
pub(super) fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}
