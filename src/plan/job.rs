//! One job as the load loop takes it: every default filled in, every rule checked.

use std::time::Duration;

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

/// fio's `rw`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rw {
    /// `read`: sequential reads.
    Read,
    /// `write`: sequential writes.
    Write,
    /// `randread`: random reads.
    RandRead,
    /// `randwrite`: random writes.
    RandWrite,
    /// `rw`: sequential reads and writes, mixed.
    ReadWrite,
    /// `randrw`: random reads and writes, mixed.
    RandRw,
    /// `trim`: sequential discards.
    Trim,
    /// `randtrim`: random discards.
    RandTrim,
    /// `write_zeroes`: sequential writes of zeroes.
    WriteZeroes,
}

/// A block size and how often it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockShare {
    /// Bytes per I/O.
    pub size: Bytes,
    /// Share of the I/Os in percent.
    pub percent: u8,
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

/// Which block is next, for random orders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Every block alike.
    Uniform,
    /// Zipf with this exponent above 0; the hot blocks are scattered over the range.
    Zipf(f64),
    /// `access_percent` of the I/Os go to `space_percent` of the blocks.
    Hotspot {
        /// The hot part of the blocks, in percent.
        space_percent: u8,
        /// The share of the I/Os that goes there, in percent.
        access_percent: u8,
    },
    /// Each block once before any block again.
    Once,
}
