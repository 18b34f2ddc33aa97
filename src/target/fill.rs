//! Filling images with data before reads and writes alike: a load like any other, one pass of large writes.

use std::time::Duration;

use crate::plan::{BlockShare, Job, Rw};
use crate::units::Bytes;

/// Large enough that per-I/O costs vanish, and a whole object by default.
const BLOCK: u64 = 4 << 20;
/// What is left of an image below a large block is filled up to the last whole sector.
const SECTOR: Bytes = Bytes(512);
/// In flight; more only queues in front of the OSDs.
const DEPTH: u32 = 16;
/// It ends once all is written; only the stall limit ends it early.
pub const LONG: Duration = Duration::from_secs(365 * 24 * 3600);

/// The jobs that together write every block of `images` images of `size` once: large blocks, and what is left of each
/// image behind them. With `verify_unit` the blocks are marked for verification.
#[must_use]
pub fn jobs(images: u32, size: Bytes, verify_unit: Option<Bytes>, seed: u64) -> Vec<Job> {
    let large = size.get() / BLOCK * BLOCK;
    let unit = verify_unit.unwrap_or(SECTOR).get();
    let small = (size.get() - large) / unit * unit;
    let parts = [(Bytes(0), Bytes(large), Bytes(BLOCK)), (Bytes(large), Bytes(small), Bytes(small))];
    let parts = parts.into_iter().filter(|(_, length, _)| length.get() > 0);
    parts
        .map(|(offset, length, block)| job(images, offset, length, block, verify_unit.is_some(), seed))
        .collect()
}

fn job(images: u32, offset: Bytes, size: Bytes, block: Bytes, verify: bool, seed: u64) -> Job {
    Job {
        rw: Rw::Write,
        blocks: vec![BlockShare { size: block, percent: 100 }],
        iodepth: DEPTH,
        offset,
        size,
        number_ios: Some(size.get() / block.get() * u64::from(images)),
        randseed: seed,
        verify,
        runtime: LONG,
        ramp_time: Duration::ZERO,
        ..Job::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(images: u32, size: u64) -> u64 {
        jobs(images, Bytes(size), None, 1)
            .iter()
            .map(|job| job.number_ios.expect("a fill is bounded") * job.largest_block().get())
            .sum()
    }

    #[test]
    fn every_sector_of_every_image_is_written_once() {
        assert_eq!(written(1, 64 << 20), 64 << 20);
        assert_eq!(written(3, (64 << 20) + 4096), 3 * ((64 << 20) + 4096));
        assert_eq!(written(2, 1 << 20), 2 << 20);
        assert_eq!(written(1, 0), 0);
    }
}
