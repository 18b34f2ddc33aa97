//! What is compared of two runs.

use std::fmt;

use cephmark::report::human::Kind;

/// What is compared of two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    Iops,
    /// CPU time per I/O of the whole process, start-up and clean-up included.
    Cpu,
    /// The same without what a run of a single I/O takes, so that none gains by a short run.
    LoopCpu,
}

impl Figure {
    /// How its values are written.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Iops => Kind::Count,
            Self::Cpu | Self::LoopCpu => Kind::Nanoseconds,
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Iops => "IOPS",
            Self::Cpu => "CPU per I/O",
            Self::LoopCpu => "CPU per I/O past start-up",
        })
    }
}
