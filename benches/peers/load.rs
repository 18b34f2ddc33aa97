//! What every program of a contest is told to do.

use std::fmt;

use cephmark::units::Time;

/// One closed loop in one thread: random I/O of 4 KiB for a length of time, or a single one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) target: Target,
    pub(crate) rw: Rw,
    pub(crate) iodepth: u32,
    pub(crate) runtime: Time,
    /// Whether a single I/O is done, which shows what start-up and clean-up take.
    pub(crate) single: bool,
}

/// What the I/O goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Nothing: I/O that completes at once.
    Null,
    /// A block device in memory.
    Loop,
    /// An image without a single object, which librbd answers for by itself: it looks them up in the object map.
    Empty,
    /// An image full of data, on OSDs.
    Full,
}

/// The operation, in fio's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rw {
    RandRead,
    RandWrite,
}

impl fmt::Display for Rw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RandRead => "randread",
            Self::RandWrite => "randwrite",
        })
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target = match self.target {
            Target::Null => "null",
            Target::Loop => "loop device",
            Target::Empty => "librbd alone",
            Target::Full => "OSD",
        };
        write!(f, "{target}, {} 4k, depth {}", self.rw, self.iodepth)
    }
}
