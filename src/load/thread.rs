//! Readies the thread that a driver is to run on.

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::prctl;
use nix::unistd::Pid;

use crate::plan::Job;

/// A thread that could not be readied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cpus_allowed: processors {cpus:?} cannot be used ({errno}): name processors that this host has and allows"
)]
pub struct ThreadError {
    cpus: Vec<usize>,
    errno: Errno,
}

/// Binds the calling thread to the job's `cpus_allowed`, and lets its timers end on time: the kernel's default slack
/// of 50 us would make every I/O of an open loop late.
///
/// # Errors
/// [`ThreadError`] if a processor does not exist or is not allowed.
pub fn prepare_thread(job: &Job) -> Result<(), ThreadError> {
    // Without it timers are later but right, which the lateness of an open loop will show.
    let _ = prctl::set_timerslack(1);
    if job.cpus_allowed.is_empty() {
        return Ok(());
    }
    let error = |errno| ThreadError { cpus: job.cpus_allowed.clone(), errno };
    let mut set = CpuSet::new();
    for &cpu in &job.cpus_allowed {
        set.set(cpu).map_err(error)?;
    }
    sched_setaffinity(Pid::from_raw(0), &set).map_err(error)
}
