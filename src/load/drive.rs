//! The loop: one thread of one job drives one lane.
//!
//! An I/O that the supply has ready is stamped and pushed; what the lane hands back is stamped and recorded, and goes
//! back to the supply. Times are ns since the driver was made.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::supply::Supply;
use super::{DriveError, Ledger, Live, Window};
use crate::clock::Clock;
use crate::lane::{Done, Io, Lane, Op};
use crate::measure::{CpuTime, Failure, IoError, SeriesPen, Tally};
use crate::plan::{Job, OnError};
use crate::units::Bytes;

/// How often a waiting loop looks whether it must halt.
const HALT_CHECK_NS: u64 = 100_000_000;

/// What all threads of a job share.
#[derive(Clone, Debug)]
pub struct Common {
    /// How many images the arm has; at least 1.
    pub images: u32,
    /// The book of the arm, if any job on the arm verifies.
    pub ledger: Option<Arc<Ledger>>,
    /// Running figures of the job.
    pub live: Arc<Live>,
    /// Stops all threads of the trial: set by whoever handles signals, and by a thread whose I/O failed.
    pub halt: Arc<AtomicBool>,
}

/// One load thread: a lane, a supply of I/Os, and what was measured.
#[derive(Debug)]
pub struct Driver<L, C> {
    lane: L,
    clock: C,
    origin: Instant,
    common: Common,
    thread: u32,
    end_fsync: bool,
    supply: Supply,
    batch: Vec<Done>,
    in_flight: u32,
    /// Whether the last stamp is good for the next I/O too: so little was done since that reading the clock again
    /// would take as long.
    fresh: bool,
    /// When an I/O last completed, or was sent with none in flight.
    progress_ns: u64,
    bounds: Bounds,
    tally: Tally,
    pen: SeriesPen,
}

/// The window under way.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    start_ns: u64,
    /// From here on completions count.
    counted_ns: u64,
    stop_ns: u64,
    stall_ns: u64,
    on_error: OnError,
}

impl<L: Lane, C: Clock> Driver<L, C> {
    /// The driver of `thread`, counted from 0 within the job. Buffers and histograms are allocated here.
    pub fn new(lane: L, clock: C, job: &Job, thread: u32, common: Common) -> Self {
        let supply = Supply::new(job, thread, common.images, common.ledger.clone());
        let mut ops = supply.ops();
        ops.extend(job.end_fsync.then_some(Op::Sync));
        Self {
            lane,
            origin: clock.now(),
            clock,
            thread,
            end_fsync: job.end_fsync,
            batch: Vec::with_capacity(job.iodepth as usize),
            in_flight: 0,
            fresh: false,
            progress_ns: 0,
            bounds: Bounds {
                start_ns: 0,
                counted_ns: 0,
                stop_ns: 0,
                stall_ns: u64::MAX,
                on_error: OnError::Stop,
            },
            tally: Tally::new(&ops, supply.is_open_loop()),
            pen: SeriesPen::new(Arc::clone(common.live.series()), thread, &ops),
            supply,
            common,
        }
    }

    /// Drives the lane through `window`, waiting for its start, and leaves nothing in flight; to be called again for
    /// the next window. The window ends early at `number_ios`, `io_size`, and when halted.
    ///
    /// A failed I/O is in the tally, also where it ended the window.
    ///
    /// # Errors
    /// [`DriveError`] if nothing completes for the window's `stall`, if `end_fsync` fails, or if the lane does.
    pub fn run(&mut self, window: &Window) -> Result<Tally, DriveError> {
        self.begin(window)?;
        let cpu = CpuTime::of_thread();
        let mut now_ns = self.now_ns();
        while now_ns < self.bounds.stop_ns && !self.is_over() {
            now_ns = match self.supply.next(now_ns) {
                Some(io) => self.send(io, now_ns)?,
                None => self.wait(now_ns, self.supply.look_again_ns(now_ns).min(self.bounds.stop_ns))?,
            };
        }
        self.tally.cpu = CpuTime::of_thread() - cpu;
        self.end(now_ns, window.measured)?;
        let next = self.tally.emptied();
        Ok(mem::replace(&mut self.tally, next))
    }

    /// Makes every image's completed writes durable, outside of the figures, and tells how long that took.
    ///
    /// # Errors
    /// [`DriveError`] if a sync fails or none completes for `stall`.
    pub fn sync(&mut self, stall: Duration) -> Result<Duration, DriveError> {
        self.bounds.stall_ns = nanoseconds(stall);
        let start_ns = self.now_ns();
        self.sync_all(|_, _| {})?;
        Ok(Duration::from_nanos(self.now_ns() - start_ns))
    }

    /// Gives the lane back.
    pub fn finish(self) -> L {
        self.lane
    }

    /// Sets the window up and waits for its start.
    fn begin(&mut self, window: &Window) -> Result<(), DriveError> {
        let ns = |instant: Instant| nanoseconds(instant.saturating_duration_since(self.origin));
        let (start_ns, stop_ns) = (ns(window.start), ns(window.stop));
        let (counted_ns, stall_ns) = (ns(window.counted_from).max(start_ns), nanoseconds(window.stall));
        self.bounds = Bounds { start_ns, counted_ns, stop_ns, stall_ns, on_error: window.on_error };
        self.supply.begin(start_ns, window.measured);
        self.pen.begin();
        let mut now_ns = self.now_ns();
        while now_ns < start_ns && !self.common.halt.load(Ordering::Relaxed) {
            now_ns = self.wait(now_ns, start_ns)?;
        }
        Ok(())
    }

    /// Closes the figures, then drains what is in flight.
    fn end(&mut self, now_ns: u64, measured: bool) -> Result<(), DriveError> {
        let stop_ns = now_ns.min(self.bounds.stop_ns);
        // What comes back from now on was not finished, also where the window ended early.
        self.bounds.stop_ns = stop_ns;
        self.tally.complete = measured && self.supply.is_exhausted();
        self.tally.unsent = self.supply.end(stop_ns);
        let Bounds { start_ns, counted_ns, .. } = self.bounds;
        let elapsed_ns = stop_ns.saturating_sub(counted_ns);
        self.tally.elapsed = Duration::from_nanos(elapsed_ns);
        self.tally.edge = Duration::from_nanos(counted_ns.min(stop_ns).saturating_sub(start_ns));
        self.pen.finish(elapsed_ns);
        let mut now_ns = now_ns;
        while self.in_flight > 0 {
            now_ns = self.wait(now_ns, u64::MAX)?;
        }
        if measured && self.end_fsync {
            let mut syncs = Vec::with_capacity(self.common.images as usize);
            self.sync_all(|latency_ns, len| syncs.push((latency_ns, len)))?;
            syncs
                .iter()
                .for_each(|&(latency_ns, len)| self.tally.record(Op::Sync, len, latency_ns, latency_ns));
        }
        Ok(())
    }

    /// Whether the window ends before its time.
    #[inline]
    fn is_over(&self) -> bool {
        self.common.halt.load(Ordering::Relaxed) || (self.in_flight == 0 && self.supply.is_exhausted())
    }

    /// Pushes an I/O, and looks for completions so that none waits for its stamp longer than one push takes.
    #[inline]
    fn send(&mut self, io: Io, now_ns: u64) -> Result<u64, DriveError> {
        let fresh = mem::take(&mut self.fresh) && io.op != Op::Write;
        let sent_ns = if fresh { now_ns } else { self.now_ns() };
        let slot = &mut self.supply.slots[io.slot as usize];
        slot.sent_ns = Some(sent_ns);
        if let (Some(lateness), Some(ready_ns)) = (&mut self.tally.lateness, slot.ready_ns) {
            lateness.record_ns(sent_ns.saturating_sub(ready_ns));
        }
        self.launch(io, sent_ns);
        Ok(self.reap(self.origin)?.unwrap_or(sent_ns))
    }

    #[inline]
    fn launch(&mut self, io: Io, now_ns: u64) {
        if self.in_flight == 0 {
            self.progress_ns = now_ns;
        }
        self.in_flight += 1;
        self.lane.push(io);
    }

    /// Waits for completions until `until_ns`; returns the time.
    fn wait(&mut self, now_ns: u64, until_ns: u64) -> Result<u64, DriveError> {
        let mut until_ns = until_ns.min(now_ns + HALT_CHECK_NS);
        if self.in_flight > 0 {
            let stalled_ns = self.progress_ns.saturating_add(self.bounds.stall_ns);
            if now_ns >= stalled_ns {
                return Err(self.stalled(now_ns));
            }
            until_ns = until_ns.min(stalled_ns);
        }
        let reaped_ns = self.reap(self.origin + Duration::from_nanos(until_ns))?;
        self.supply.retry();
        Ok(reaped_ns.unwrap_or_else(|| self.now_ns()))
    }

    /// Takes in what has completed, waiting for the first until `until`; returns when, if anything has.
    #[inline]
    fn reap(&mut self, until: Instant) -> Result<Option<u64>, DriveError> {
        let batch = &mut self.batch;
        self.lane.reap(until, |done| batch.push(done))?;
        if self.batch.is_empty() {
            return Ok(None);
        }
        // One stamp for all: every one of them was complete when `reap` returned, and none is stamped before it was.
        let now_ns = self.now_ns();
        self.progress_ns = now_ns;
        self.fresh = self.batch.len() == 1 && self.common.ledger.is_none();
        while let Some(done) = self.batch.pop() {
            self.complete(done, now_ns);
        }
        self.supply.retry();
        Ok(Some(now_ns))
    }

    #[inline]
    fn complete(&mut self, Done { io, result }: Done, now_ns: u64) {
        let slot = &mut self.supply.slots[io.slot as usize];
        let sent_ns = slot.sent_ns.take().unwrap_or(now_ns);
        let (response_ns, service_ns) = (now_ns - slot.due_ns.unwrap_or(sent_ns), now_ns - sent_ns);
        self.in_flight -= 1;
        let error = match result {
            Ok(bytes) if bytes >= io.len => None,
            Ok(bytes) => Some(IoError::Short(bytes)),
            Err(errno) => Some(IoError::Errno(errno)),
        };
        self.supply.settle(&io, error.is_none(), &mut self.tally.checks);
        match error {
            None if now_ns < self.bounds.counted_ns => self.tally.record_in_edge(io.op, io.len),
            None if now_ns < self.bounds.stop_ns => {
                self.tally.record(io.op, io.len, response_ns, service_ns);
                self.pen.record(io.op, io.len, response_ns, now_ns - self.bounds.counted_ns);
                self.common.live.add(self.thread, io.len);
            }
            None => self.tally.record_unfinished(self.bounds.stop_ns.saturating_sub(sent_ns)),
            Some(error) => self.fail(&io, error),
        }
        self.supply.give_back(io, now_ns);
    }

    #[cold]
    fn fail(&mut self, io: &Io, error: IoError) {
        self.tally.record_failure(failure(io, error));
        if self.bounds.on_error == OnError::Stop {
            self.common.halt.store(true, Ordering::Relaxed);
        }
    }

    /// Sends a sync to every image and waits for all; `done` gets each one's latency and length.
    fn sync_all(&mut self, mut done: impl FnMut(u64, u32)) -> Result<(), DriveError> {
        let (mut image, mut now_ns) = (0, self.now_ns());
        let mut failed = None;
        while image < self.common.images || self.in_flight > 0 {
            if image < self.common.images
                && let Some(mut io) = self.supply.take_free()
            {
                (io.op, io.image, io.offset, io.len) = (Op::Sync, image, 0, 0);
                self.supply.slots[io.slot as usize].sent_ns = Some(now_ns);
                self.launch(io, now_ns);
                image += 1;
                continue;
            }
            let stalled_ns = self.progress_ns.saturating_add(self.bounds.stall_ns);
            if now_ns >= stalled_ns {
                return Err(self.stalled(now_ns));
            }
            let batch = &mut self.batch;
            self.lane.reap(self.origin + Duration::from_nanos(stalled_ns), |done| batch.push(done))?;
            now_ns = self.now_ns();
            while let Some(Done { io, result }) = self.batch.pop() {
                self.in_flight -= 1;
                self.progress_ns = now_ns;
                let sent_ns = self.supply.slots[io.slot as usize].sent_ns.take().unwrap_or(now_ns);
                match result {
                    Ok(_) => done(now_ns - sent_ns, io.len),
                    Err(errno) => failed = failed.or_else(|| Some(failure(&io, IoError::Errno(errno)))),
                }
                self.supply.give_back(io, now_ns);
            }
        }
        failed.map_or(Ok(()), |failure| Err(DriveError::Sync(failure)))
    }

    #[cold]
    fn stalled(&self, now_ns: u64) -> DriveError {
        let oldest_ns = self.supply.slots.iter().filter_map(|slot| slot.sent_ns).min().unwrap_or(now_ns);
        DriveError::Stalled {
            waited: Duration::from_nanos(now_ns - self.progress_ns),
            in_flight: self.in_flight,
            oldest: Duration::from_nanos(now_ns - oldest_ns),
        }
    }

    #[inline]
    fn now_ns(&self) -> u64 {
        nanoseconds(self.clock.now().saturating_duration_since(self.origin))
    }
}

fn failure(io: &Io, error: IoError) -> Failure {
    let (offset, len) = (Bytes(io.offset), Bytes(io.len.into()));
    Failure { op: io.op, image: io.image, offset, len, error }
}

/// 584 years at most, which no clock of ours reaches.
#[inline]
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
