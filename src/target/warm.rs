//! Warming the client's caches: every block that a workload may touch is read once, by the handles that its load threads
//! will use.

use crate::plan::{BlockShare, Distribution, Job, Pace, Rw, Sharing};
use crate::units::Bytes;

/// Blocks of a pass, where those of the job are smaller: they cost a fraction of what single blocks would.
const BLOCK: u64 = 64 << 10;
/// In flight; more only queues in front of the OSDs.
const DEPTH: u32 = 16;

/// The jobs that read the range of each of `jobs` once, on `images` images.
///
/// They read in random order, since librbd takes note of sequential reads: a pass must not start its reading ahead.
#[must_use]
pub fn jobs(jobs: &[Job], images: u32, handles: Sharing) -> Vec<Job> {
    jobs.iter().map(|job| pass(job, images, handles)).collect()
}

fn pass(job: &Job, images: u32, handles: Sharing) -> Job {
    let block = block(job.block_unit().get(), job.size.get());
    Job {
        name: job.name.clone(),
        rw: Rw::RandRead,
        distribution: Distribution::Once,
        blocks: vec![BlockShare { size: Bytes(block), percent: 100 }],
        iodepth: DEPTH,
        // Each handle has a cache of its own; the threads that share one need to read for it once.
        numjobs: if handles == Sharing::PerJob { job.numjobs } else { 1 },
        number_ios: Some(job.size.get() / block * u64::from(images)),
        io_size: None,
        pace: Pace::Closed,
        fsync: 0,
        fdatasync: 0,
        end_fsync: false,
        verify: false,
        ..job.clone()
    }
}

/// The largest block of up to [`BLOCK`] bytes that consists of whole units and divides the range.
fn block(unit: u64, range: u64) -> u64 {
    let units = range / unit;
    let most = (BLOCK / unit).clamp(1, units.max(1));
    let count = (1..=most).rev().find(|count| units.is_multiple_of(*count)).unwrap_or(1);
    unit * count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_reads_every_block_of_the_range_once() {
        let job = Job { offset: Bytes(1 << 20), size: Bytes(32 << 20), numjobs: 4, ..Job::default() };
        let [pass] = &jobs(std::slice::from_ref(&job), 2, Sharing::Shared)[..] else { panic!("one job") };
        assert_eq!((pass.offset, pass.size, pass.numjobs), (job.offset, job.size, 1));
        assert_eq!(pass.largest_block().get() * pass.number_ios.expect("bounded"), 2 * (32 << 20));
        assert_eq!(jobs(&[job], 2, Sharing::PerJob)[0].numjobs, 4);
    }

    #[test]
    fn blocks_are_whole_units_and_leave_no_rest() {
        assert_eq!(block(4096, 32 << 20), 64 << 10);
        assert_eq!(block(4096, 7 * 4096), 7 * 4096);
        assert_eq!(block(4096, 17 * 4096), 4096);
        assert_eq!(block(1 << 20, 4 << 20), 1 << 20);
    }
}
