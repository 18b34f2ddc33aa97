//! Rules of verification that reach across jobs, workloads and arms.

use crate::profile::Fault;
use crate::units::Bytes;

use super::arm::Subject;
use super::job::gcd;
use super::workload::JobPlan;
use super::{Arm, WorkloadPlan};

/// What is marked and checked as one, if any workload verifies.
///
/// # Errors
/// [`Fault`] if verification can't work: blocks that cephmark never marked, or that other jobs overwrite.
pub(super) fn unit(arms: &[Arm], workloads: &[WorkloadPlan], prefill: bool) -> Result<Option<Bytes>, Fault> {
    let Some((verifier, first)) = jobs(workloads).find(|(_, plan)| plan.job.verify) else { return Ok(None) };
    let fault = |workload: &WorkloadPlan, plan: &JobPlan, key: &str, message: String| {
        Err(workload.document.fault(&plan.path.key(key), message))
    };
    if !prefill {
        let message = "reads blocks that nobody marked, since `run.prefill` is false";
        return fault(verifier, first, "verify", message.to_owned());
    }
    if let Some(arm) = arms.iter().find(|arm| !matches!(arm.subject, Subject::Managed(_))) {
        let message =
            format!("needs images that cephmark makes and marks, and target `{}` has none", arm.target);
        return fault(verifier, first, "verify", message);
    }
    if let Some((workload, plan)) = jobs(workloads).find(|(_, plan)| plan.job.rw.writes() && !plan.job.verify)
    {
        let message = format!(
            "would overwrite blocks that `{}` checks without marking them; add `verify: crc32c`",
            first.path
        );
        return Err(workload.document.fault(&plan.path, message));
    }
    let unit = jobs(workloads)
        .filter(|(_, plan)| plan.job.verify)
        .fold(0, |unit, (_, plan)| gcd(plan.job.block_unit().get(), unit));
    for (workload, plan) in jobs(workloads).filter(|(_, plan)| plan.job.verify) {
        if !plan.job.offset.get().is_multiple_of(unit) {
            let message =
                format!("must be a multiple of {}, which divides all blocks that are checked", Bytes(unit));
            return fault(workload, plan, "offset", message);
        }
    }
    beside_trims(workloads)?;
    Ok(Some(Bytes(unit)))
}

/// Trims and zeroes take the marks of blocks away under the jobs that run beside them; after the trial the images are
/// filled again.
fn beside_trims(workloads: &[WorkloadPlan]) -> Result<(), Fault> {
    for workload in workloads.iter().filter(|workload| workload.verifies()) {
        if let Some(plan) =
            workload.jobs.iter().find(|plan| plan.job.rw.changes_data() && !plan.job.rw.writes())
        {
            let message =
                "takes away blocks that another job of this workload checks; make it a workload of its own";
            return Err(workload.document.fault(&plan.path.key("rw"), message));
        }
    }
    Ok(())
}

fn jobs(workloads: &[WorkloadPlan]) -> impl Iterator<Item = (&WorkloadPlan, &JobPlan)> {
    workloads.iter().flat_map(|workload| workload.jobs.iter().map(move |plan| (workload, plan)))
}
