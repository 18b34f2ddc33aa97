//! What one run of one program gave.

use std::time::Duration;

use cephmark::units::Rate;

use crate::error::Error;
use crate::program::Ended;

/// What one run of one program gave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// I/Os per second, by the program's own account of its loop.
    pub(crate) iops: Rate,
    /// CPU time of the whole process, start-up and clean-up included, over its I/Os.
    pub(crate) cpu_per_io: Duration,
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
        let cpu_per_io = ended.cpu.total().div_f64(ios as f64);
        Ok(Self { iops, cpu_per_io, allocator: ended.allocator })
    }
}
