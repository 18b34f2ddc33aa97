//! Rules of verification that reach across jobs, workloads and arms.

use crate::profile::Fault;
use crate::units::Bytes;

use super::arm::Subject;
use super::check::Check;
use super::job::gcd;
use super::workload::JobPlan;
use super::{Arm, WorkloadPlan};

/// What is marked and checked as one, if any workload verifies.
///
/// # Errors
/// [`Fault`] if nothing could be checked, or blocks can't be told apart.
pub(super) fn unit(
    arms: &[Arm],
    workloads: &[WorkloadPlan],
    warnings: &mut Vec<Fault>,
) -> Result<Option<Bytes>, Fault> {
    let verifiers: Vec<_> = jobs(workloads).filter(|(_, plan)| plan.job.verify).collect();
    let Some((first_workload, first)) = verifiers.first() else { return Ok(None) };
    let marked = jobs(workloads).any(|(_, plan)| plan.job.verify && plan.job.rw.writes());
    if let Some(reason) = arms.iter().find_map(|arm| uncheckable(arm, marked)) {
        return Err(first_workload.document.fault(&first.path.key("verify"), reason));
    }
    let unit = verifiers.iter().fold(0, |unit, (_, plan)| gcd(plan.job.block_unit().get(), unit));
    for (workload, plan) in &verifiers {
        if !plan.job.offset.get().is_multiple_of(unit) {
            let message =
                format!("must be a multiple of {}, which divides all blocks that are checked", Bytes(unit));
            return Err(workload.document.fault(&plan.path.key("offset"), message));
        }
    }
    for (workload, plan) in jobs(workloads).filter(|(_, plan)| plan.job.rw.writes() && !plan.job.verify) {
        let mut check = Check { document: &workload.document, swept: &[], warnings };
        check.warn(
            &plan.path,
            format!("overwrites blocks without marking them, so `{}` can't check those", first.path),
        );
    }
    Ok(Some(Bytes(unit)))
}

/// Why no block of an arm could be checked; `marked` says whether a workload marks the blocks that it writes.
fn uncheckable(arm: &Arm, marked: bool) -> Option<String> {
    match &arm.subject {
        Subject::Null(_) => Some(format!("target `{}` is null, which keeps no data to check", arm.target)),
        Subject::Managed(managed) if !managed.prefill && !marked => {
            Some("nothing marks the blocks that it reads; leave `run.prefill` on".to_owned())
        }
        Subject::Kernel(path) if path.is_new() && !path.prefill() && !marked => {
            Some("nothing marks the blocks that it reads; leave `run.prefill` on".to_owned())
        }
        Subject::Kernel(path) if !path.is_new() && !marked => {
            Some(format!("cephmark never marked the blocks of {}, which exists", path.path.display()))
        }
        Subject::Existing(image) if !marked => {
            Some(format!("cephmark never marked the blocks of the existing image `{}`", image.image))
        }
        Subject::Managed(_) | Subject::Existing(_) | Subject::Kernel(_) => None,
    }
}

fn jobs(workloads: &[WorkloadPlan]) -> impl Iterator<Item = (&WorkloadPlan, &JobPlan)> {
    workloads.iter().flat_map(|workload| workload.jobs.iter().map(move |plan| (workload, plan)))
}
