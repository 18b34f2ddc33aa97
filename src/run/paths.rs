//! Files and block devices around a run: what is checked of them before anything is written (what they are, who uses them,
//! room), the files that are made and removed. All of it under deadlines: a file system that is mounted may be a stuck cluster's.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Error;
use crate::ceph::within;
use crate::plan::{Arm, KernelPath, PathKind, Plan, Subject};
use crate::target::new_file::{self, Made};
use crate::target::{Device, FileSet, check_droppable, check_engine, refuse_if_used};
use crate::units::Bytes;

/// How long removing a file may take, which has to give back every block of it.
const REMOVE_LIMIT: Duration = Duration::from_secs(300);

/// Checks everything that the plan needs of files and block devices; the returned lines are what the user should know.
///
/// # Errors
/// The first thing that is missing, in use or too full.
pub(super) async fn check(plan: &Plan, cancel: &CancellationToken) -> Result<Vec<String>, Error> {
    let (limit, plan) = (plan.cluster.timeout, plan.clone());
    // The inner result is of refusals, which are not Ceph's errors.
    within("looking at files and devices", limit, cancel, move || Ok(look(&plan))).await?
}

fn look(plan: &Plan) -> Result<Vec<String>, Error> {
    let mut notes = Vec::new();
    for arm in &plan.arms {
        let Some(access) = arm.access() else { continue };
        check_engine(access.engine)?;
        if plan.run.drop_caches {
            check_droppable()?;
        }
        let Subject::Kernel(subject) = &arm.subject else { continue };
        let files = FileSet::new(subject, subject.path.clone());
        if !subject.is_new() {
            fits(plan, &files)?;
            writable(plan, subject)?;
            notes.extend(holes(arm, subject, files.size()?));
        }
    }
    rooms(plan)?;
    Ok(notes)
}

/// Every workload must fit in an arm's file or device, and its blocks the rules of direct I/O.
///
/// # Errors
/// [`Error::Fault`] at what does not fit; of looking.
fn fits(plan: &Plan, files: &FileSet) -> Result<(), Error> {
    let (size, alignment) = (files.size()?, files.alignment()?);
    for workload in &plan.workloads {
        workload.jobs(size, 0)?;
        workload.check_alignment(alignment, &files.path.display().to_string())?;
    }
    Ok(())
}

/// Makes the file of an arm, in which every workload must fit; `made` tells whether there may be one now.
///
/// # Errors
/// Of making it and of looking; [`Error::Fault`] at what does not fit.
pub(super) async fn make(
    plan: &Plan,
    files: &FileSet,
    size: Bytes,
    made: &mut Made,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    let (limit, path) = (plan.cluster.timeout, files.path.clone());
    // Not interruptible: a file that appears after the clean-up would stay.
    let never = CancellationToken::new();
    let created = within("making a file", limit, &never, move || Ok(new_file::create(&path, size))).await;
    made.exists = !matches!(created, Ok(Err(_)));
    made.held = Some(created??);
    let (plan, files) = (plan.clone(), files.clone());
    within("looking at a file", limit, cancel, move || Ok(fits(&plan, &files))).await?
}

/// The size of a file or device that exists.
///
/// # Errors
/// Of looking.
pub(super) async fn size_of(
    plan: &Plan,
    files: &FileSet,
    cancel: &CancellationToken,
) -> Result<Bytes, Error> {
    let files = files.clone();
    Ok(within("looking at a file", plan.cluster.timeout, cancel, move || Ok(files.size())).await??)
}

/// Removes a file that was made. Not interruptible, as all that cleans up.
///
/// # Errors
/// Of removing; of a file system that does not answer.
pub(super) async fn remove(files: &FileSet, made: &mut Made) -> Result<(), Error> {
    let (path, held) = (files.path.clone(), made.held.take());
    let never = CancellationToken::new();
    let call = move || {
        // NFS keeps a file that is open, under another name.
        drop(held);
        Ok(new_file::remove(&path))
    };
    Ok(within("removing a file", REMOVE_LIMIT, &never, call).await??)
}

/// What some workload writes must be free.
fn writable(plan: &Plan, subject: &KernelPath) -> Result<(), Error> {
    let is_written = plan.workloads.iter().any(|workload| workload.changes_data());
    match subject.kind {
        PathKind::Device if is_written => drop(Device::at(&subject.path)?.claim()?),
        PathKind::File if is_written => refuse_if_used(&subject.path)?,
        _ => {}
    }
    Ok(())
}

/// A file that exists is not overwritten while anybody else uses it. Of devices, opening them finds out.
///
/// # Errors
/// Of looking; that somebody does.
pub(super) async fn refuse_if_used_elsewhere(
    plan: &Plan,
    subject: &KernelPath,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    if subject.kind != PathKind::File {
        return Ok(());
    }
    let path = subject.path.clone();
    Ok(within("looking at a file", plan.cluster.timeout, cancel, move || Ok(refuse_if_used(&path))).await??)
}

/// What of an existing file is not there, and read without a disk.
fn holes(arm: &Arm, subject: &KernelPath, size: Bytes) -> Option<String> {
    let allocated = Bytes(std::fs::metadata(&subject.path).ok()?.blocks() * 512);
    (subject.kind == PathKind::File && allocated < size).then(|| {
        let name = subject.path.display();
        format!(
            "{}: only {allocated} of {size} of {name} are allocated; reads of the rest need no disk",
            arm.name
        )
    })
}

/// New files must fit on their file systems, all that lie on one of them together.
fn rooms(plan: &Plan) -> Result<(), Error> {
    let mut needed: BTreeMap<u64, Bytes> = BTreeMap::new();
    for (path, bytes) in &plan.needs.files {
        let room = new_file::room(path)?;
        let sum = needed.entry(room.file_system).or_default();
        *sum = Bytes(sum.get().saturating_add(bytes.get()));
        if let Some(free) = room.free.filter(|free| *sum > *free) {
            return Err(Error::Refused(format!(
                "{}: the file system has {free} left, but the files of the plan need {sum}; lower `size`, or make room",
                path.display(),
            )));
        }
    }
    Ok(())
}
