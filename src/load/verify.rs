//! One thread's part in verification: marks what it writes, checks what it reads, and keeps writes that overlap one
//! in flight back until that one is done, so that generations hold.

use std::sync::Arc;

use super::Ledger;
use super::ledger::{Snapshot, Verdict};
use crate::lane::{Io, Op};
use crate::measure::{Checks, Mismatch};
use crate::plan::Job;
use crate::units::Bytes;

/// Stands between a driver and the ledger of its arm. A job that does not verify has one too where another job of
/// the arm does: what it writes becomes unknown.
#[derive(Debug)]
pub(crate) struct Verifier {
    ledger: Arc<Ledger>,
    verify: bool,
    zero_percent: u8,
    /// By slot, what the units of its read may hold.
    before: Vec<Vec<Snapshot>>,
}

impl Verifier {
    /// For a thread of `job` whose longest I/O is `longest` bytes.
    pub(crate) fn new(ledger: Arc<Ledger>, job: &Job, longest: u32) -> Self {
        let units = u64::from(longest).div_ceil(ledger.unit()) as usize + 1;
        let before = (0..job.iodepth).map(|_| Vec::with_capacity(units)).collect();
        let zero_percent = if job.zero_buffers { 100 } else { job.buffer_compress_percentage };
        Self { ledger, verify: job.verify, zero_percent, before }
    }

    /// Readies an I/O to be sent; `false` if it must wait for another I/O on the same units.
    pub(crate) fn admit(&mut self, io: &mut Io) -> bool {
        let (image, offset, len) = (io.image, io.offset, io.len);
        match io.op {
            Op::Sync | Op::DataSync => true,
            Op::Read => {
                if self.verify {
                    self.ledger.snapshot(image, offset, len, &mut self.before[io.slot as usize]);
                }
                true
            }
            Op::Write | Op::Trim | Op::WriteZeroes => {
                if !self.ledger.lock(image, offset, len) {
                    return false;
                }
                if self.verify && io.op == Op::Write && self.ledger.covers_whole_units(offset, len) {
                    self.ledger.issue(image, offset, &mut io.buffer[..len as usize], self.zero_percent);
                } else {
                    self.ledger.forget(image, offset, len);
                }
                true
            }
        }
    }

    /// Takes note of an I/O that came back, and checks what it read.
    pub(crate) fn settle(&mut self, io: &Io, succeeded: bool, checks: &mut Checks) {
        let (image, offset, len) = (io.image, io.offset, io.len);
        match (io.op, succeeded) {
            (Op::Sync | Op::DataSync, _) | (Op::Read, false) => {}
            (Op::Read, true) if self.verify => self.check(io, checks),
            (Op::Read, true) => {}
            (Op::Write | Op::Trim | Op::WriteZeroes, true) => self.ledger.unlock(image, offset, len),
            (Op::Write | Op::Trim | Op::WriteZeroes, false) => self.ledger.abandon(image, offset, len),
        }
    }

    fn check(&self, io: &Io, checks: &mut Checks) {
        if !self.ledger.covers_whole_units(io.offset, io.len) {
            return;
        }
        let data = &io.buffer[..io.len as usize];
        for (offset, verdict) in self.ledger.judge(io.image, io.offset, data, &self.before[io.slot as usize])
        {
            match verdict {
                Verdict::Right => checks.verified += 1,
                Verdict::Unknown => checks.unknown += 1,
                Verdict::Wrong { expected, found } => {
                    checks.mismatch(Mismatch { image: io.image, offset: Bytes(offset), expected, found });
                }
            }
        }
    }
}
