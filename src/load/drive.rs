//! The loop: one thread of one job drives one lane.
//!
//! An I/O that the supply has ready is stamped and pushed; what the lane hands back is stamped and recorded, and goes
//! back to the supply.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::account::Account;
use super::supply::Supply;
use super::{DriveError, Ledger, Window};
use crate::clock::{Clock, nanoseconds};
use crate::lane::{Io, Lane, Op};
use crate::measure::{CpuTime, Series, Tally};
use crate::plan::Job;

/// How often a waiting loop looks whether it must halt.
const HALT_CHECK_NS: u64 = 100_000_000;

/// What all threads of a job share.
#[derive(Clone, Debug)]
pub struct Common {
    /// How many images the arm has; at least 1.
    pub images: u32,
    /// The book of the arm, if any job on the arm verifies.
    pub ledger: Option<Arc<Ledger>>,
    /// The seconds of the job.
    pub series: Arc<Series>,
    /// Stops all threads of the trial: set by whoever handles signals, and by a thread whose I/O failed.
    pub halt: Arc<AtomicBool>,
    /// Gives up what is in flight: set by whoever handles signals, some time after `halt`.
    pub give_up: Arc<AtomicBool>,
}

/// One load thread: a lane, and the account of what goes through it.
#[derive(Debug)]
pub struct Driver<L, C> {
    lane: L,
    account: Account<C>,
    end_fsync: bool,
}

impl<L: Lane, C: Clock> Driver<L, C> {
    /// The driver of `thread`, counted from 0 within the job. Buffers and histograms are allocated here.
    pub fn new(lane: L, clock: C, job: &Job, thread: u32, common: Common) -> Self {
        let supply = Supply::new(job, thread, common.images, common.ledger.clone());
        let mut ops = supply.ops();
        ops.extend(job.end_fsync.then_some(Op::Sync));
        Self { lane, account: Account::new(clock, supply, thread, &ops, common), end_fsync: job.end_fsync }
    }

    /// Drives the lane through `window`, waiting for its start, and leaves nothing in flight; to be called again for
    /// the next window. The window ends early at `number_ios`, `io_size`, and when halted.
    ///
    /// A failed I/O is in the tally, also where it ended the window.
    ///
    /// # Errors
    /// [`DriveError`] if nothing completes for the window's `stall`, if `end_fsync` fails, or if the lane does.
    pub fn run(&mut self, window: &Window) -> Result<Tally, DriveError> {
        self.account.begin(window);
        let mut now_ns = self.account.now_ns();
        while now_ns < self.account.start_ns && !self.account.is_halted() {
            now_ns = self.wait(now_ns, self.account.start_ns)?;
        }
        let cpu = CpuTime::of_thread();
        while now_ns < self.account.stop_ns && !self.account.is_over() {
            now_ns = match self.account.supply.next(now_ns) {
                Some(io) => self.send(io, now_ns)?,
                None => {
                    let look_again_ns = self.account.supply.look_again_ns(now_ns);
                    self.wait(now_ns, look_again_ns.min(self.account.stop_ns))?
                }
            };
        }
        self.account.tally.cpu = CpuTime::of_thread() - cpu;
        self.account.end(now_ns, window.measured);
        while self.account.in_flight > 0 {
            now_ns = self.wait(now_ns, u64::MAX)?;
        }
        if window.measured && self.end_fsync {
            let latencies_ns = self.sync_all()?;
            self.account.tally.end_sync = Duration::from_nanos(self.account.now_ns() - now_ns);
            for latency_ns in latencies_ns {
                self.account.tally.record(Op::Sync, 0, latency_ns, latency_ns);
            }
        }
        let next = self.account.tally.emptied();
        Ok(mem::replace(&mut self.account.tally, next))
    }

    /// Makes every image's completed writes durable, outside of the figures, and tells how long that took.
    ///
    /// # Errors
    /// [`DriveError`] if a sync fails or none completes for `stall`.
    pub fn sync(&mut self, stall: Duration) -> Result<Duration, DriveError> {
        self.account.stall_ns = nanoseconds(stall);
        let start_ns = self.account.now_ns();
        self.sync_all()?;
        Ok(Duration::from_nanos(self.account.now_ns() - start_ns))
    }

    /// Gives the lane back.
    pub fn finish(self) -> L {
        self.lane
    }

    /// Pushes an I/O, and looks for completions so that none waits for its stamp longer than one push takes. Returns
    /// the time.
    #[inline]
    fn send(&mut self, io: Box<Io>, now_ns: u64) -> Result<u64, DriveError> {
        let sent_ns = self.account.send(&io, now_ns);
        self.lane.push(io);
        let (account, mut stamp) = (&mut self.account, None);
        self.lane.reap(account.past, |done| account.complete(done, &mut stamp))?;
        if stamp.is_some() {
            account.supply.retry();
        }
        Ok(stamp.unwrap_or(sent_ns))
    }

    /// Waits for completions until `until_ns`; returns the time.
    fn wait(&mut self, now_ns: u64, until_ns: u64) -> Result<u64, DriveError> {
        let until = self.account.patience(now_ns, until_ns.min(now_ns + HALT_CHECK_NS))?;
        let (account, mut stamp) = (&mut self.account, None);
        self.lane.reap(until, |done| account.complete(done, &mut stamp))?;
        account.supply.retry();
        Ok(stamp.unwrap_or_else(|| account.now_ns()))
    }

    /// Sends a sync to every image and waits for all; returns their latencies in ns.
    fn sync_all(&mut self) -> Result<Vec<u64>, DriveError> {
        let account = &mut self.account;
        let images = account.common.images;
        let (mut latencies, mut failed) = (Vec::with_capacity(images as usize), None);
        let (mut image, mut now_ns) = (0, account.now_ns());
        while image < images || account.in_flight > 0 {
            if image < images
                && let Some(mut io) = account.supply.take_free()
            {
                (io.op, io.image, io.offset, io.len) = (Op::Sync, image, 0, 0);
                account.launch(io.slot, now_ns);
                self.lane.push(io);
                image += 1;
                continue;
            }
            let until = account.patience(now_ns, now_ns + HALT_CHECK_NS)?;
            let mut stamp = None;
            self.lane.reap(until, |done| {
                let now_ns = *stamp.get_or_insert_with(|| account.now_ns());
                match account.complete_sync(done, now_ns) {
                    Ok(latency_ns) => latencies.push(latency_ns),
                    Err(failure) => failed = failed.take().or(Some(failure)),
                }
            })?;
            now_ns = stamp.unwrap_or_else(|| account.now_ns());
        }
        failed.map_or(Ok(latencies), |failure| Err(DriveError::Sync(failure)))
    }
}
