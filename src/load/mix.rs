//! What an I/O does and how long it is: `rw`, `rwmixread`, `bs`, `bssplit`.

use super::random::{Random, below};
use crate::lane::Op;
use crate::plan::{Job, Rw};

/// Draws operation and length.
#[derive(Clone, Debug)]
pub(crate) struct Mix {
    op: Op,
    /// Share of reads among the I/Os in percent, where there are two operations.
    read_percent: Option<u64>,
    /// The length for each percent of the I/Os; a single entry if all are alike.
    lens: Vec<u32>,
}

impl Mix {
    pub(crate) fn new(job: &Job) -> Self {
        let op = match job.rw {
            Rw::Read | Rw::RandRead => Op::Read,
            Rw::Write | Rw::RandWrite | Rw::ReadWrite | Rw::RandRw => Op::Write,
            Rw::Trim | Rw::RandTrim => Op::Trim,
            Rw::WriteZeroes => Op::WriteZeroes,
        };
        let mixed = matches!(job.rw, Rw::ReadWrite | Rw::RandRw);
        let lens = match job.blocks.as_slice() {
            [only] => vec![only.size.get() as u32],
            blocks => blocks.iter().flat_map(|b| vec![b.size.get() as u32; b.percent.into()]).collect(),
        };
        Self { op, read_percent: mixed.then_some(job.rwmixread.into()), lens }
    }

    /// The operations that may be drawn.
    pub(crate) fn ops(&self) -> impl Iterator<Item = Op> {
        self.read_percent.map(|_| Op::Read).into_iter().chain([self.op])
    }

    /// The longest length, in bytes.
    pub(crate) fn longest(&self) -> u32 {
        self.lens.iter().copied().max().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn draw(&self, random: &mut Random) -> (Op, u32) {
        let op = match self.read_percent {
            Some(percent) if below(random, 100) < percent => Op::Read,
            _ => self.op,
        };
        let len = match self.lens.as_slice() {
            [only] => *only,
            lens => lens[below(random, lens.len() as u64) as usize],
        };
        (op, len)
    }
}
