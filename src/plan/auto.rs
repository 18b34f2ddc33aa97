//! `repeats: auto`: as often as it takes to decide, up to a number that must be known before the first look.

use std::time::Duration;

use crate::profile::{Fault, Path};
use crate::stats::{FIRST_LOOK, MAX_BLOCKS};
use crate::units::Time;

use super::check::Check;
use super::{Arm, Order, RunSpec, WorkloadPlan};

/// How many repeats there may be at the most: as many as the budget has room for.
pub(super) fn repeats(
    check: &Check<'_>,
    run: &RunSpec,
    arms: &[Arm],
    workloads: &[WorkloadPlan],
) -> Result<u32, Fault> {
    let at = Path::parse("run");
    if arms.len() == 1 {
        let message = "`auto` has nothing to decide: there is only one arm; give a number";
        return Err(check.fault(&at.key("repeats"), message));
    }
    let blocks = run.order != Order::Sequential;
    let message = "leaves nothing to decide on until all repeats of an arm are over; `repeats: auto` needs interleaved or sliced";
    check.ensure(blocks, &at.key("order"), message)?;
    let Some(budget) = run.budget else { return Ok(MAX_BLOCKS) };
    let arms = arms.len() as u32;
    let once: Duration =
        workloads.iter().map(|workload| (workload.ramp_time + workload.runtime) * arms).sum();
    let room = (budget.as_secs_f64() / once.as_secs_f64()) as u32;
    let least = Time(once * FIRST_LOOK);
    let message =
        format!("must be at least {least}, for {FIRST_LOOK} repeats of all trials: fewer decide nothing");
    check.ensure(room >= FIRST_LOOK, &at.key("budget"), message)?;
    Ok(room.min(MAX_BLOCKS))
}
