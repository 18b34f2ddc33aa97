//! One job as the load loop takes it: every default filled in, every rule checked.

use std::time::Duration;

use crate::profile::{BlockShare, Distribution, Rw};
use crate::units::{Bytes, Rate};

/// A job of a trial: one load thread for each of `numjobs`, each with `iodepth` I/Os in flight over all images.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its name in the profile; empty for the only, unnamed job of a workload.
    pub name: String,
    /// What it does and in which order of offsets.
    pub rw: Rw,
    /// Share of reads in a mixed workload, in percent: 0 to 100.
    pub rwmixread: u8,
    /// Block sizes with their shares in percent, which sum up to 100; one entry for a plain `bs`.
    pub blocks: Vec<BlockShare>,
    /// I/Os in flight for each thread; at least 1.
    pub iodepth: u32,
    /// Load threads; at least 1.
    pub numjobs: u32,
    /// First byte used of each image.
    pub offset: Bytes,
    /// Bytes used of each image from `offset` on, already clipped to the image and to whole blocks.
    pub size: Bytes,
    /// The measured part ends once each thread moved this many bytes.
    pub io_size: Option<Bytes>,
    /// The measured part ends once each thread did this many I/Os.
    pub number_ios: Option<u64>,
    /// When an I/O is due.
    pub pace: Pace,
    /// Which block is next, for random orders.
    pub distribution: Distribution,
    /// A sync after this many writes; 0 for none.
    pub fsync: u32,
    /// A data sync after this many writes; 0 for none.
    pub fdatasync: u32,
    /// A sync once the job is over, within its figures.
    pub end_fsync: bool,
    /// Seed of every random choice; each thread derives its own from it.
    pub randseed: u64,
    /// How far written data can be compressed, in percent: 0 to 100.
    pub buffer_compress_percentage: u8,
    /// Write zeroes instead of random data.
    pub zero_buffers: bool,
    /// Mark every written block and check every block read.
    pub verify: bool,
    /// Processors its threads may use; empty for all.
    pub cpus_allowed: Vec<usize>,
    /// Length of the measured part.
    pub runtime: Duration,
    /// Length of the part before it that is not measured.
    pub ramp_time: Duration,
}

/// When an I/O is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// As soon as a slot is free: a closed loop.
    Closed,
    /// At fixed intervals, whatever is still in flight: an open loop. The rate is of one thread.
    Linear(Rate),
    /// At exponentially distributed intervals of this mean rate: an open loop. The rate is of one thread.
    Poisson(Rate),
}

impl Default for Job {
    /// An unnamed job with the defaults of a profile: reads of 4 KiB, one at a time, over nothing.
    fn default() -> Self {
        Self {
            name: String::new(),
            rw: Rw::Read,
            rwmixread: 50,
            blocks: vec![BlockShare { size: Bytes(4096), percent: 100 }],
            iodepth: 1,
            numjobs: 1,
            offset: Bytes(0),
            size: Bytes(0),
            io_size: None,
            number_ios: None,
            pace: Pace::Closed,
            distribution: Distribution::Uniform,
            fsync: 0,
            fdatasync: 0,
            end_fsync: false,
            randseed: 0,
            buffer_compress_percentage: 0,
            zero_buffers: false,
            verify: false,
            cpus_allowed: Vec::new(),
            runtime: Duration::from_secs(30),
            ramp_time: Duration::from_secs(5),
        }
    }
}

impl Job {
    /// Its largest block size.
    #[must_use]
    pub fn largest_block(&self) -> Bytes {
        self.blocks.iter().map(|share| share.size).max().unwrap_or_default()
    }

    /// The largest size that divides all its block sizes.
    #[must_use]
    pub fn block_unit(&self) -> Bytes {
        Bytes(self.blocks.iter().fold(0, |unit, share| gcd(share.size.get(), unit)))
    }
}

/// The greatest common divisor; of 0 and another number that number.
pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
