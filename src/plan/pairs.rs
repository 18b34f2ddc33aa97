//! Rules between arms and workloads: every arm runs every workload.

use crate::profile::{Fault, Feature, Path, Sharing};
use crate::units::Bytes;

use super::arm::{ExistingImage, Subject};
use super::check::Check;
use super::workload::JobPlan;
use super::{Access, Arm, KernelPath, Mapping, Rw, WorkloadPlan};

/// What direct I/O on a mapped image is a multiple of.
const SECTOR: Bytes = Bytes(512);

/// Refuses workloads that an arm can't run, and warns of what is worth knowing.
pub(super) fn check(
    arms: &[Arm],
    workloads: &[WorkloadPlan],
    drop_caches: bool,
    warnings: &mut Vec<Fault>,
) -> Result<(), Fault> {
    for arm in arms {
        for workload in workloads {
            match &arm.subject {
                Subject::Existing(image) => existing(arm, image, workload)?,
                Subject::Kernel(path) => existing_path(arm, path, workload)?,
                Subject::Managed(_) | Subject::Null(_) => {}
            }
            if let Some(size) = arm.image_size() {
                range(workload, size, warnings)?;
            }
            if let Some(access) = arm.access() {
                cached_reads(arm, access, workload, drop_caches, warnings);
            }
            if let Some(Mapping { access: Access { direct: true, .. }, .. }) = arm.mapping {
                workload.check_alignment(SECTOR, &format!("the block devices of {}", arm.name))?;
            }
            contended(arm, workload, warnings);
            skipped_trims(arm, workload, warnings);
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

/// The same for a file or device.
fn existing_path(arm: &Arm, path: &KernelPath, workload: &WorkloadPlan) -> Result<(), Fault> {
    if path.is_new() || path.destroys_data || !workload.changes_data() {
        return Ok(());
    }
    let message = format!(
        "workload `{}` overwrites {}; add `destroys_data: true` if its data may be lost",
        workload.name,
        path.path.display()
    );
    Err(arm.document.fault(&Path::root().key("targets").key(&arm.target), message))
}

/// What the page cache holds is read from memory, at memory's speed.
fn cached_reads(
    arm: &Arm,
    access: &Access,
    workload: &WorkloadPlan,
    drop_caches: bool,
    warnings: &mut Vec<Fault>,
) {
    let reads = workload.jobs.iter().any(|plan| plan.job.rw.reads());
    if reads && !access.direct && !drop_caches {
        let mut check = Check { document: &arm.document, swept: &[], warnings };
        let at = Path::root().key("targets").key(&arm.target).key("direct");
        check.warn(
            &at,
            "reads are answered by this host's page cache where it holds the data; add `run.drop_caches`",
        );
    }
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
    let locks = arm.mapping.is_none()
        && match &arm.subject {
            Subject::Managed(managed) => {
                managed.features.as_ref().is_none_or(|list| list.contains(&Feature::ExclusiveLock))
            }
            Subject::Existing(_) => true,
            Subject::Kernel(_) | Subject::Null(_) => false,
        };
    if locks && arm.handles == Sharing::PerJob && workload.changes_data() && workload.threads() > 1 {
        let mut check = Check { document: &arm.document, swept: &[], warnings };
        let at = Path::root().key("targets").key(&arm.target).key("handles");
        check.warn(&at, "load threads that write will take the image's exclusive lock from each other");
    }
}

/// librbd leaves out discards of less than its granularity, so that trims of small blocks do nothing, and do it fast.
fn skipped_trims(arm: &Arm, workload: &WorkloadPlan, warnings: &mut Vec<Fault>) {
    let option = |name: &str| {
        arm.options.iter().find(|option| option.name == name).map(|option| option.value.as_str())
    };
    let skips = option("rbd_skip_partial_discard") != Some("false");
    let granularity =
        option("rbd_discard_granularity_bytes").and_then(|value| value.parse().ok()).unwrap_or(64 << 10);
    if !skips || arm.access().is_some() || matches!(arm.subject, Subject::Null(_)) {
        return;
    }
    let mut check = Check { document: &workload.document, swept: &[], warnings };
    for plan in workload.jobs.iter().filter(|plan| matches!(plan.job.rw, Rw::Trim | Rw::RandTrim)) {
        if !plan.job.block_unit().get().is_multiple_of(granularity) {
            let message = format!(
                "librbd skips what of a trim does not fill blocks of {} (rbd_discard_granularity_bytes); use a multiple \
                 of that, or `options: {{rbd_skip_partial_discard: false}}`",
                Bytes(granularity)
            );
            check.warn(&plan.path, message);
        }
    }
}
