//! Rules between arms and workloads: every arm runs every workload.

use crate::profile::{Fault, Feature, Path, Sharing};
use crate::units::Bytes;

use super::arm::{ExistingImage, Subject};
use super::check::Check;
use super::workload::JobPlan;
use super::{Arm, WorkloadPlan};

/// Refuses workloads that an arm can't run, and warns of what is worth knowing.
pub(super) fn check(
    arms: &[Arm],
    workloads: &[WorkloadPlan],
    warnings: &mut Vec<Fault>,
) -> Result<(), Fault> {
    for arm in arms {
        for workload in workloads {
            if let Subject::Existing(image) = &arm.subject {
                existing(arm, image, workload)?;
            }
            if let Some(size) = arm.image_size() {
                range(workload, size, warnings)?;
            }
            contended(arm, workload, warnings);
        }
    }
    Ok(())
}

/// Writes to an image that exists are refused unless the profile allows them.
fn existing(arm: &Arm, image: &ExistingImage, workload: &WorkloadPlan) -> Result<(), Fault> {
    let Some(writer) = workload.jobs.iter().find(|plan| plan.job.rw.changes_data()) else { return Ok(()) };
    let at = Path::root().key("targets").key(&arm.target);
    if let Some(snapshot) = &image.snapshot {
        let message = format!(
            "changes data, but target `{}` is the snapshot `{snapshot}`, which can only be read",
            arm.target
        );
        return Err(workload.document.fault(&writer.path.key("rw"), message));
    }
    if !image.destroys_data {
        let message = format!(
            "workload `{}` overwrites the existing image `{}`; add `destroys_data: true` if its data may be lost",
            workload.name, image.image
        );
        return Err(arm.document.fault(&at, message));
    }
    Ok(())
}

/// Refuses ranges that do not fit the image, and says what of it stays unused.
fn range(workload: &WorkloadPlan, size: Bytes, warnings: &mut Vec<Fault>) -> Result<(), Fault> {
    let jobs = workload.jobs(size, 0)?;
    let mut check = Check { document: &workload.document, swept: &[], warnings };
    for (JobPlan { path, size: wanted, .. }, job) in workload.jobs.iter().zip(&jobs) {
        let wanted = wanted.unwrap_or(Bytes(size.get() - job.offset.get()));
        if job.size < wanted {
            let unit = job.block_unit();
            check.warn(
                path,
                format!("the usable range is {} of {wanted}: blocks of {unit} do not divide it", job.size),
            );
        }
    }
    Ok(())
}

/// Several handles that write to one image take its lock from each other all the time.
fn contended(arm: &Arm, workload: &WorkloadPlan, warnings: &mut Vec<Fault>) {
    let locks = match &arm.subject {
        Subject::Managed(managed) => {
            managed.features.as_ref().is_none_or(|list| list.contains(&Feature::ExclusiveLock))
        }
        Subject::Existing(_) => true,
        Subject::Null(_) => false,
    };
    if locks && arm.handles == Sharing::PerJob && workload.changes_data() && workload.threads() > 1 {
        let mut check = Check { document: &arm.document, swept: &[], warnings };
        let at = Path::root().key("targets").key(&arm.target).key("handles");
        check.warn(&at, "load threads that write will take the image's exclusive lock from each other");
    }
}

/// Refuses buffers that this host has no memory for.
pub(super) fn memory(workloads: &[WorkloadPlan]) -> Result<(), Fault> {
    let Some(host) = host_memory() else { return Ok(()) };
    for workload in workloads {
        let buffers = workload.buffers();
        if buffers > host {
            let message =
                format!("needs {buffers} for its buffers (iodepth x numjobs x bs), and this host has {host}");
            return Err(workload.document.fault(&workload.jobs[0].path, message));
        }
    }
    Ok(())
}

/// Memory of this host, in whole MiB.
fn host_memory() -> Option<Bytes> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = total.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(Bytes(kib >> 10 << 20))
}
