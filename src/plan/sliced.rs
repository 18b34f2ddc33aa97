//! Rules of `order: sliced`, in which the arms of a workload are held open at once and take turns.

use std::time::Duration;

use crate::profile::{Fault, Path};
use crate::units::Time;

use super::arm::Subject;
use super::check::Check;
use super::{Arm, Order, Plan, RunSpec, TrialPlan, WorkloadPlan};

/// Shorter slices would be mostly edge.
const SLICE_MIN: Duration = Duration::from_millis(500);
/// The part of a slice that does not count: one in so many.
const EDGE_SHARE: u32 = 10;

/// How the measured part of a trial is cut into slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slicing {
    /// How many slices each arm has; at least 2.
    pub rounds: u32,
    /// How long each of them is.
    pub length: Duration,
    /// How much of it does not count, at its begin: there queues fill again.
    pub edge: Duration,
}

impl WorkloadPlan {
    /// How its measured part is cut into slices of about this length, all of them equal.
    #[must_use]
    pub fn slicing(&self, slice: Duration) -> Slicing {
        let rounds = (self.runtime.as_secs_f64() / slice.as_secs_f64()).ceil().max(2.0) as u32;
        let length = self.runtime / rounds;
        Slicing { rounds, length, edge: length / EDGE_SHARE }
    }
}

impl Plan {
    /// The trials in their order, those together that run at once: in the sliced order the arms of a block.
    pub fn units(&self) -> impl Iterator<Item = &[TrialPlan]> {
        let block = |trial: &TrialPlan| (trial.workload, trial.repeat);
        self.trials.chunk_by(move |a, b| self.run.order == Order::Sliced && block(a) == block(b))
    }
}

/// Refuses what can't take turns.
pub(super) fn check(
    check: &mut Check<'_>,
    run: &RunSpec,
    arms: &[Arm],
    workloads: &[WorkloadPlan],
) -> Result<(), Fault> {
    let at = Path::parse("run");
    if run.order != Order::Sliced {
        return Ok(());
    }
    let message = format!("must be at least {}", Time(SLICE_MIN));
    check.ensure(run.slice >= SLICE_MIN, &at.key("slice"), message)?;
    if arms.len() == 1 {
        check.warn(&at.key("order"), "there is only one arm, with nothing to alternate with");
    }
    shared_images(check, &at.key("order"), arms)?;
    workloads.iter().try_for_each(|workload| bounds(run, workload))
}

/// An image, file or device that exists is open once at a time.
fn shared_images(check: &Check<'_>, at: &Path, arms: &[Arm]) -> Result<(), Fault> {
    for (index, arm) in arms.iter().enumerate() {
        let Some(own) = existing(arm) else { continue };
        if let Some(other) = arms[..index].iter().find(|other| existing(other).as_ref() == Some(&own)) {
            let message = format!(
                "the arms `{}` and `{}` use the same {own}, which only one of them may have open; use interleaved",
                other.name, arm.name
            );
            return Err(check.fault(at, message));
        }
    }
    Ok(())
}

/// What exists and the arm uses, in words that name nothing else.
fn existing(arm: &Arm) -> Option<String> {
    match &arm.subject {
        Subject::Existing(image) => {
            let place = [&image.pool, &image.namespace, &image.image].map(String::as_str);
            Some(format!(
                "image, `{}`",
                place.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
            ))
        }
        Subject::Kernel(path) if !path.is_new() => Some(format!("path, {}", path.path.display())),
        Subject::Managed(_) | Subject::Kernel(_) | Subject::Null(_) => None,
    }
}

/// Slices end by the clock, all alike.
fn bounds(run: &RunSpec, workload: &WorkloadPlan) -> Result<(), Fault> {
    let fault = |path: &Path, message: String| Err(workload.document.fault(path, message));
    for plan in &workload.jobs {
        let bounded = [
            (plan.job.io_size.is_some(), "io_size"),
            (plan.job.number_ios.is_some(), "number_ios"),
            (plan.job.end_fsync, "end_fsync"),
        ];
        if let Some((_, key)) = bounded.iter().find(|(set, _)| *set) {
            let message =
                "has no meaning in `order: sliced`, where arms take turns by the clock; use interleaved";
            return fault(&plan.path.key(key), message.to_owned());
        }
    }
    if workload.runtime < run.slice * 2 {
        let message = format!(
            "leaves workload `{}`, which runs for {}, fewer than two slices; make it shorter, or runtime longer",
            workload.name,
            Time(workload.runtime)
        );
        return fault(&Path::parse("run.slice"), message);
    }
    Ok(())
}
