//! Whether a setting keeps the constraints, by its trials.

use std::collections::BTreeMap;

use crate::compare;
use crate::plan::{Arm, Constraint, Plan, Sharing};
use crate::report::human::Kind;
use crate::result::{Metric, ResultFile, Status, Trial};
use crate::units::Bytes;

/// The first constraint that an arm does not keep, with what it has instead; `None` if it keeps all of them. Figures are
/// means of its valid trials, of each operation of each job.
#[must_use]
pub(super) fn broken(
    result: &ResultFile,
    plan: &Plan,
    arm: &Arm,
    constraints: &[Constraint],
) -> Option<String> {
    let trials = result.trials.iter().filter(|trial| trial.arm == arm.name && trial.status == Status::Valid);
    let trials: Vec<&Trial> = trials.collect();
    constraints.iter().find_map(|constraint| {
        let found = match *constraint {
            Constraint::Metric { metric, .. } => worst(&trials, metric, *constraint)?,
            Constraint::Memory(_) => {
                let memory = trials.first().map(|trial| memory(trial, arm, plan))?;
                (!constraint.allows(memory.get() as f64)).then(|| memory.rounded())?
            }
        };
        Some(format!("{constraint} is broken: {found}"))
    })
}

/// The first figure that breaks a bound on its metric, in words.
fn worst(trials: &[&Trial], metric: Metric, constraint: Constraint) -> Option<String> {
    let mut figures: BTreeMap<(&str, &str, &str), Vec<Option<f64>>> = BTreeMap::new();
    for trial in trials {
        for (job, op, metric) in compare::figures(&[metric], &[*trial]) {
            let value = compare::value(trial, job, op, metric).filter(|value| *value > 0.0);
            figures.entry((&trial.workload, job, op)).or_default().push(value);
        }
    }
    figures.into_iter().find_map(|((workload, job, op), values)| {
        let name =
            [workload, job, op].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let Some(values) = values.into_iter().collect::<Option<Vec<f64>>>() else {
            return Some(format!("{name} has too few I/Os to tell; raise runtime"));
        };
        // The mean of comparisons is that of logarithms.
        let mean = (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp();
        (!constraint.allows(mean)).then(|| format!("{} in {name}", written(metric, mean)))
    })
}

/// A value as people write it.
pub(super) fn written(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Iops => Kind::Count.one(value),
        Metric::BytesPerS => format!("{}/s", Bytes(value as u64).rounded()),
        Metric::UsPerIo => format!("{} us", Kind::Plain.one(value)),
        Metric::Mean | Metric::P50 | Metric::P99 | Metric::P99_9 => Kind::Nanoseconds.one(value),
    }
}

/// What the caches of all images that a trial had open may take, by the options that were in effect: a write-around cache
/// holds no more than what is dirty.
#[must_use]
fn memory(trial: &Trial, arm: &Arm, plan: &Plan) -> Bytes {
    let option = |name: &str| trial.effective_options.get(name).map(|option| option.value.as_str());
    let of_each = match (option("rbd_cache"), option("rbd_cache_policy")) {
        (Some("true"), Some("writeback" | "writethrough")) => option("rbd_cache_size"),
        (Some("true"), _) => option("rbd_cache_max_dirty"),
        _ => None,
    };
    let bytes: u64 = of_each.and_then(|bytes| bytes.parse().ok()).unwrap_or(0);
    let threads = plan.workloads.iter().map(|workload| workload.threads()).max().unwrap_or(1);
    let handles = if arm.handles == Sharing::PerJob { threads } else { 1 };
    Bytes(bytes * u64::from(arm.images()) * u64::from(handles))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Loaded, Profile};
    use crate::result::{EffectiveOption, Figures, LatencyNs, Ops, OptionSource, Timestamp};

    fn plan(target: &str) -> Plan {
        let yaml = format!(
            "version: 1\nname: x\ntargets: {{t: {target}}}\nworkloads: {{w: {{rw: randread, numjobs: 4}}}}\n"
        );
        let loaded: Loaded = Profile::parse("x.yaml", &yaml, &[]).expect("a profile");
        Plan::new(&loaded).expect("a plan")
    }

    fn trial(p99: Option<u64>, options: &[(&str, &str)]) -> Trial {
        let latency_ns = LatencyNs { p99, ..LatencyNs::default() };
        let figures = Figures { ios: 1000, iops: 5000.0, latency_ns, ..Figures::default() };
        let effective = |(name, value): &(&str, &str)| {
            let option = EffectiveOption { value: (*value).to_owned(), source: OptionSource::Client };
            ((*name).to_owned(), option)
        };
        Trial {
            arm: "t".to_owned(),
            workload: "w".to_owned(),
            status: Status::Valid,
            jobs: [(String::new(), Ops::from([("read".to_owned(), figures)]))].into(),
            effective_options: options.iter().map(effective).collect(),
            ..Trial::failed()
        }
    }

    fn said(target: &str, constraint: &str, trials: Vec<Trial>) -> Option<String> {
        let plan = plan(target);
        let result = ResultFile { trials, ..ResultFile::new(plan.profile.clone(), Timestamp::now()) };
        broken(&result, &plan, &plan.arms[0], &[constraint.parse().expect("a bound")])
    }

    #[test]
    fn a_metric_is_bounded_by_its_mean_over_the_trials() {
        let trials = || vec![trial(Some(18_000_000), &[]), trial(Some(21_000_000), &[])];
        assert_eq!(said("{null: {}}", "p99 <= 20ms", trials()), None);
        let broken = said("{null: {}}", "p99 <= 19ms", trials());
        assert_eq!(broken.as_deref(), Some("p99 <= 19ms is broken: 19.4 ms in w read"));
        assert_eq!(said("{null: {}}", "iops >= 5000", trials()), None);
        assert!(said("{null: {}}", "iops >= 5001", trials()).is_some());
    }

    #[test]
    fn a_figure_that_can_not_be_told_keeps_no_bound() {
        let broken = said("{null: {}}", "p99 <= 20ms", vec![trial(None, &[])]).expect("nobody knows");
        assert!(broken.ends_with("w read has too few I/Os to tell; raise runtime"), "{broken}");
    }

    #[test]
    fn memory_is_that_of_all_images_and_handles_by_the_policy_in_effect() {
        let cache = |policy| {
            [
                ("rbd_cache", "true"),
                ("rbd_cache_policy", policy),
                ("rbd_cache_size", "1048576"),
                ("rbd_cache_max_dirty", "4096"),
            ]
        };
        let target = "{rbd: {size: 1GiB, images: 2}, handles: per_job}";
        let broken = said(target, "memory <= 7MiB", vec![trial(None, &cache("writeback"))]);
        assert_eq!(broken.as_deref(), Some("memory <= 7MiB is broken: 8.00MiB"));
        assert_eq!(said(target, "memory <= 8MiB", vec![trial(None, &cache("writeback"))]), None);
        assert_eq!(said(target, "memory <= 32KiB", vec![trial(None, &cache("writearound"))]), None);
        assert!(said(target, "memory <= 31KiB", vec![trial(None, &cache("writearound"))]).is_some());
        assert_eq!(said(target, "memory <= 1", vec![trial(None, &[("rbd_cache", "false")])]), None);
    }
}
