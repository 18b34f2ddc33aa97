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

#[cfg(test)]
mod tests {
    use super::super::random::{Purpose, random};
    use super::*;
    use crate::plan::BlockShare;
    use crate::units::Bytes;

    fn share(job: &Job, wanted: impl Fn(Op, u32) -> bool) -> f64 {
        let (mix, mut draw) = (Mix::new(job), random(3, 0, Purpose::Stream));
        let hits = (0..100_000).filter(|_| {
            let (op, len) = mix.draw(&mut draw);
            wanted(op, len)
        });
        hits.count() as f64 / 1000.0
    }

    #[test]
    fn reads_have_the_share_of_rwmixread() {
        for percent in [0, 30, 100] {
            let job = Job { rw: Rw::RandRw, rwmixread: percent, ..Job::default() };
            let reads = share(&job, |op, _| op == Op::Read);
            assert!((reads - f64::from(percent)).abs() < 0.8, "{reads} for {percent}");
        }
    }

    #[test]
    fn an_unmixed_job_does_one_thing() {
        for (rw, op) in [(Rw::Write, Op::Write), (Rw::RandTrim, Op::Trim), (Rw::WriteZeroes, Op::WriteZeroes)]
        {
            let job = Job { rw, ..Job::default() };
            assert_eq!(share(&job, |drawn, len| drawn == op && len == 4096), 100.0);
            assert!(Mix::new(&job).ops().eq([op]));
        }
    }

    #[test]
    fn block_sizes_have_their_shares() {
        let block = |kib: u64, percent| BlockShare { size: Bytes(kib << 10), percent };
        let job = Job { blocks: vec![block(4, 60), block(8, 1), block(64, 39)], ..Job::default() };
        for (len, percent) in [(4096, 60.0), (8192, 1.0), (65536, 39.0)] {
            let found = share(&job, |_, drawn| drawn == len);
            assert!((found - percent).abs() < 0.8, "{found} for {percent}");
        }
        assert_eq!(Mix::new(&job).longest(), 65536);
    }
}
