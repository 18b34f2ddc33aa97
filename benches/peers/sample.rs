//! What one run of one program gave.

use std::time::Duration;

use cephmark::units::Rate;

use crate::error::Error;
use crate::program::Ended;

/// What one run of one program gave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    ios: u64,
    /// I/Os per second, by the program's own account of its loop.
    pub(crate) iops: Rate,
    /// CPU time of the whole process, from its start to its end.
    pub(crate) cpu: Duration,
    /// Its memory allocator.
    pub(crate) allocator: &'static str,
}

impl Sample {
    /// Of a program that says it did `ios` I/Os at this rate.
    ///
    /// # Errors
    /// [`Error::Figures`] if that is none at all.
    pub(crate) fn new(program: &str, ended: &Ended, ios: u64, iops: f64) -> Result<Self, Error> {
        let why = || Error::Figures { program: program.to_owned(), why: format!("{ios} I/Os at {iops}/s") };
        let iops = Rate::per_second(iops).filter(|_| ios > 0).ok_or_else(why)?;
        Ok(Self { ios, iops, cpu: ended.cpu.total(), allocator: ended.allocator })
    }

    /// CPU time of the whole process over its I/Os, start-up and clean-up included.
    pub(crate) fn cpu_per_io(&self) -> Duration {
        self.cpu.div_f64(self.ios as f64)
    }

    /// The same without what a run of a single I/O takes.
    pub(crate) fn loop_cpu_per_io(&self, single: &Self) -> Duration {
        self.cpu.saturating_sub(single.cpu).div_f64(self.ios as f64)
    }
}
