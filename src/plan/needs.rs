//! What a plan takes: time, writes, space, memory.

use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;

use crate::units::Bytes;

use super::arm::Subject;
use super::job::{Job, Pace};
use super::{Arm, TrialPlan, WorkloadPlan, cache};

/// What a plan takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Ramps and measured parts of all trials, without retries; filling, opening and closing come on top.
    pub duration: Duration,
    /// What filling the images writes.
    pub fill: Bytes,
    /// What the trials write.
    pub written: Written,
    /// What the images take in each pool once they are full, before replication.
    pub space: IndexMap<String, Bytes>,
    /// What the files take that begin with each path, once they are full.
    pub files: IndexMap<PathBuf, Bytes>,
    /// Buffers of the largest trial.
    pub buffers: Bytes,
    /// What clients may cache in the largest trial.
    pub caches: Bytes,
    /// What verification remembers of all blocks.
    pub verify: Bytes,
}

/// What the trials of a plan write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// By jobs that are bounded by `io_size`, `number_ios` or `rate_iops`, at the most.
    pub bounded: Bytes,
    /// Some job writes as fast as the cluster takes it.
    pub unbounded: bool,
}

/// Memory that verification takes for each block it tells apart.
const VERIFY_BYTES_PER_BLOCK: u64 = 8;

/// Sums up what the trials take, of which so many run at once; `owners` are the arms that have images of their own.
pub(super) fn needs(
    arms: &[Arm],
    owners: &[Arm],
    workloads: &[WorkloadPlan],
    trials: &[TrialPlan],
    at_once: usize,
    verify_unit: Option<Bytes>,
) -> Needs {
    let mut needs = Needs::default();
    let written = workloads.iter().any(WorkloadPlan::changes_data);
    for arm in owners {
        let full = arm.image_size().unwrap_or_default().get().saturating_mul(u64::from(arm.images()));
        if let Subject::Managed(managed) = &arm.subject {
            let pool = managed.data_pool.as_ref().unwrap_or(&managed.pool);
            // An image that is only read, and was never filled, takes no space however large it is.
            let taken = if managed.prefill || written { full } else { 0 };
            add(needs.space.entry(pool.clone()).or_default(), taken);
            add(&mut needs.fill, if managed.prefill { full } else { 0 });
        }
        if let Subject::Kernel(path) = &arm.subject
            && path.is_new()
        {
            add(needs.files.entry(path.path.clone()).or_default(), full);
            add(&mut needs.fill, if path.prefill() { full } else { 0 });
        }
        if let Some(unit) = verify_unit {
            add(&mut needs.verify, full / unit.get() * VERIFY_BYTES_PER_BLOCK);
        }
    }
    for trial in trials {
        let workload = &workloads[trial.workload];
        needs.duration += workload.runtime + workload.ramp_time;
        needs.buffers = needs.buffers.max(workload.buffers(at_once));
        needs.caches = needs.caches.max(caches(arms, trial, workload, at_once));
        workload.jobs.iter().for_each(|plan| write(&mut needs.written, &plan.job));
    }
    needs
}

/// What the clients that are open during a trial may cache: those of its arm, or of all arms where they take turns.
fn caches(arms: &[Arm], trial: &TrialPlan, workload: &WorkloadPlan, at_once: usize) -> Bytes {
    let open = if at_once == 1 { &arms[trial.arm..=trial.arm] } else { arms };
    let of_each = open.iter().map(|arm| cache::memory(arm, workload).get());
    Bytes(of_each.fold(0, u64::saturating_add))
}

fn add(sum: &mut Bytes, bytes: u64) {
    *sum = Bytes(sum.get().saturating_add(bytes));
}

/// Adds the most that a job can write in its measured part and its ramp.
fn write(written: &mut Written, job: &Job) {
    if !job.rw.changes_data() {
        return;
    }
    let block = job.largest_block().get();
    let by_rate = match job.pace {
        Pace::Closed => None,
        Pace::Linear(rate) | Pace::Poisson(rate) => {
            Some(((rate.get() * (job.runtime + job.ramp_time).as_secs_f64()) as u64).saturating_mul(block))
        }
    };
    // The measured part is bounded by counts, but the ramp before it is not.
    let ramped = job.ramp_time > Duration::ZERO;
    let by_count = job.number_ios.map(|ios| ios.saturating_mul(block)).filter(|_| !ramped);
    let by_size = job.io_size.map(Bytes::get).filter(|_| !ramped);
    match [by_rate, by_count, by_size].into_iter().flatten().min() {
        Some(bytes) => add(&mut written.bounded, bytes.saturating_mul(u64::from(job.numjobs))),
        None => written.unbounded = true,
    }
}
