//! Memory that a plan needs, against what this host has.

use crate::profile::Fault;
use crate::units::Bytes;

use super::{Needs, WorkloadPlan};

/// Refuses plans that this host has no memory for, where so many trials run at once.
pub(super) fn check(workloads: &[WorkloadPlan], at_once: usize, needs: &Needs) -> Result<(), Fault> {
    let Some(host) = host_memory() else { return Ok(()) };
    for workload in workloads {
        let buffers = workload.buffers(at_once);
        let all = [buffers, needs.verify, needs.caches];
        if all.iter().fold(0, |sum: u64, part| sum.saturating_add(part.get())) > host.get() {
            let message = format!(
                "needs {buffers} for buffers (iodepth x numjobs x bs), {} to verify and {} for caches (rbd_cache_size x images), \
                 and this host has {host}",
                needs.verify, needs.caches
            );
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
