//! A workload and its jobs, in fio's words.

use std::fmt;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::block_split::BlockSplit;
use super::cpu_list::CpuList;
use super::distribution::Distribution;
use crate::units::{Bytes, Percent, Rate, Time};

/// What load is made: one unnamed job, or several named ones under `jobs` that run together.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Job {
    /// What it does and in which order of offsets.
    pub rw: Option<Rw>,
    /// Share of reads in `rw` and `randrw`, in percent.
    pub rwmixread: Percent,
    /// Bytes of each I/O.
    pub bs: Bytes,
    /// Several block sizes with their shares in percent, which sum up to 100, such as `4k/60:64k/40`; instead of `bs`.
    pub bssplit: Option<BlockSplit>,
    /// I/Os in flight for each load thread, spread over all images of the arm.
    pub iodepth: u32,
    /// Load threads, each with `iodepth` I/Os in flight.
    pub numjobs: u32,
    /// Bytes used of each image, from `offset` on; without it all of the image.
    pub size: Option<Bytes>,
    /// First byte used of each image.
    pub offset: Bytes,
    /// The trial ends early once each load thread moved this many bytes.
    pub io_size: Option<Bytes>,
    /// The trial ends early once each load thread did this many I/Os.
    pub number_ios: Option<u64>,
    /// I/Os per second of each load thread, due at their time whatever is still in flight; without it as fast as slots
    /// get free.
    pub rate_iops: Option<Rate>,
    /// When the I/Os of `rate_iops` are due.
    pub rate_process: RateProcess,
    /// Which block is next, for random orders: `uniform`, `zipf:1.1` (an exponent), `hotspot:20/80` (20 % of the blocks
    /// get 80 % of the I/Os), `once` (each block once before any block again).
    pub random_distribution: Distribution,
    /// A sync after this many writes; 0 for none.
    pub fsync: u32,
    /// A data sync after this many writes; 0 for none.
    pub fdatasync: u32,
    /// A sync once the job is over, within its figures.
    pub end_fsync: bool,
    /// Seed of every random choice of the job; without it one derived from the run's seed.
    pub randseed: Option<u64>,
    /// How far written data can be compressed, in percent.
    pub buffer_compress_percentage: Percent,
    /// Write zeroes instead of random data.
    pub zero_buffers: bool,
    /// Mark every block that is written, and check every block that is read.
    pub verify: Verify,
    /// Processors that its load threads may use, such as `0-3,5`; without it all.
    pub cpus_allowed: Option<CpuList>,
    /// Length of the measured part; without it run's.
    pub runtime: Option<Time>,
    /// Length of the part before it, which is not measured; without it run's.
    pub ramp_time: Option<Time>,
    /// Named jobs that run together; then no other key stands beside `jobs`.
    pub jobs: Option<IndexMap<String, Job>>,
}

impl Default for Job {
    fn default() -> Self {
        Self {
            rw: None,
            rwmixread: Percent::whole(50),
            bs: Bytes(4096),
            bssplit: None,
            iodepth: 1,
            numjobs: 1,
            size: None,
            offset: Bytes(0),
            io_size: None,
            number_ios: None,
            rate_iops: None,
            rate_process: RateProcess::default(),
            random_distribution: Distribution::Uniform,
            fsync: 0,
            fdatasync: 0,
            end_fsync: false,
            randseed: None,
            buffer_compress_percentage: Percent::default(),
            zero_buffers: false,
            verify: Verify::default(),
            cpus_allowed: None,
            runtime: None,
            ramp_time: None,
            jobs: None,
        }
    }
}

/// fio's `rw`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
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
    #[serde(rename = "rw", alias = "readwrite")]
    ReadWrite,
    /// `randrw`: random reads and writes, mixed.
    RandRw,
    /// `trim`: sequential discards.
    Trim,
    /// `randtrim`: random discards.
    RandTrim,
    /// `write_zeroes`: sequential writes of zeroes.
    #[serde(rename = "write_zeroes")]
    WriteZeroes,
}

impl fmt::Display for Rw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::RandRead => "randread",
            Self::RandWrite => "randwrite",
            Self::ReadWrite => "rw",
            Self::RandRw => "randrw",
            Self::Trim => "trim",
            Self::RandTrim => "randtrim",
            Self::WriteZeroes => "write_zeroes",
        })
    }
}

impl Rw {
    /// Whether it changes what it runs on.
    #[must_use]
    pub fn changes_data(self) -> bool {
        !matches!(self, Self::Read | Self::RandRead)
    }

    /// Whether it writes data of its own: trims and zeroes do not.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::RandWrite | Self::ReadWrite | Self::RandRw)
    }

    /// Whether it reads.
    #[must_use]
    pub fn reads(self) -> bool {
        !self.changes_data() || self.is_mixed()
    }

    /// Whether it reads and writes.
    #[must_use]
    pub fn is_mixed(self) -> bool {
        matches!(self, Self::ReadWrite | Self::RandRw)
    }

    /// Whether its offsets are in random order.
    #[must_use]
    pub fn is_random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandRw | Self::RandTrim)
    }
}

/// When the I/Os of a rate are due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RateProcess {
    /// At fixed intervals.
    #[default]
    Linear,
    /// At exponentially distributed intervals.
    Poisson,
}

/// How blocks are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verify {
    /// Not at all.
    #[default]
    None,
    /// By run id, offset, generation and a crc32c of the block.
    Crc32c,
}
