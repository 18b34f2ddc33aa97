//! The account of what was sent and what came back: everything of a driver but its lane.
//!
//! Times are ns of its clock.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::supply::Supply;
use super::{Common, DriveError, Window};
use crate::clock::{Clock, nanoseconds};
use crate::lane::{Done, Io, Op};
use crate::measure::{Failure, IoError, SeriesPen, Tally};
use crate::plan::OnError;
use crate::units::Bytes;

/// A write up to this many bytes is made ready in less time than a clock read takes.
const CHEAP_WRITE: u32 = 64 << 10;

/// What one thread has in flight and has measured in the window under way.
#[derive(Debug)]
pub(super) struct Account<C> {
    clock: C,
    /// A time in the past.
    pub(super) past: Instant,
    pub(super) common: Common,
    pub(super) supply: Supply,
    pub(super) in_flight: u32,
    /// When an I/O last completed, or was sent with none in flight.
    progress_ns: u64,
    /// Completions since an I/O was last sent.
    completed: u32,
    pub(super) start_ns: u64,
    /// From here on completions count.
    counted_ns: u64,
    pub(super) stop_ns: u64,
    pub(super) stall_ns: u64,
    on_error: OnError,
    pub(super) tally: Tally,
    pub(super) pen: SeriesPen,
}

impl<C: Clock> Account<C> {
    pub(super) fn new(clock: C, supply: Supply, thread: u32, ops: &[Op], common: Common) -> Self {
        Self {
            past: clock.now(),
            clock,
            in_flight: 0,
            progress_ns: 0,
            completed: 0,
            start_ns: 0,
            counted_ns: 0,
            stop_ns: 0,
            stall_ns: u64::MAX,
            on_error: OnError::Stop,
            tally: Tally::new(ops, supply.is_open_loop()),
            pen: SeriesPen::new(Arc::clone(&common.series), thread, ops),
            supply,
            common,
        }
    }

    /// Sets a window up.
    pub(super) fn begin(&mut self, window: &Window) {
        let (now, now_ns) = (self.clock.now(), self.clock.now_ns());
        let ns = |instant: Instant| match instant.checked_duration_since(now) {
            Some(ahead) => now_ns + nanoseconds(ahead),
            None => now_ns.saturating_sub(nanoseconds(now - instant)),
        };
        (self.start_ns, self.stop_ns) = (ns(window.start), ns(window.stop));
        self.counted_ns = ns(window.counted_from).max(self.start_ns);
        self.stall_ns = nanoseconds(window.stall);
        self.on_error = window.on_error;
        self.completed = 0;
        self.supply.begin(self.start_ns, window.measured);
        self.pen.begin();
    }

    /// Ends the window's figures at `now_ns`, or at its stop if that is before; what comes back from now on is
    /// unfinished.
    pub(super) fn end(&mut self, now_ns: u64, measured: bool) {
        self.stop_ns = now_ns.min(self.stop_ns);
        let elapsed_ns = self.stop_ns.saturating_sub(self.counted_ns);
        let edge_ns = self.counted_ns.min(self.stop_ns).saturating_sub(self.start_ns);
        self.tally.complete = measured && self.supply.is_exhausted();
        self.tally.unsent = self.supply.end(self.stop_ns);
        self.tally.elapsed = Duration::from_nanos(elapsed_ns);
        self.tally.edge = Duration::from_nanos(edge_ns);
        self.pen.finish(elapsed_ns);
    }

    /// Whether the window ends before its time.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.is_halted() || (self.in_flight == 0 && self.supply.is_exhausted())
    }

    #[inline]
    pub(super) fn is_halted(&self) -> bool {
        self.common.halt.load(Ordering::Relaxed)
    }

    /// Takes note of an I/O that is about to be pushed; `now_ns` is when the clock was last read. Returns its stamp.
    #[inline]
    pub(super) fn send(&mut self, io: &Io, now_ns: u64) -> u64 {
        // After a single completion so little was done since the clock was read that reading it would take as long.
        let fresh = self.completed == 1
            && self.common.ledger.is_none()
            && (io.op != Op::Write || io.len <= CHEAP_WRITE);
        let sent_ns = if fresh { now_ns } else { self.now_ns() };
        self.completed = 0;
        let slot = &self.supply.slots[io.slot as usize];
        if let (Some(lateness), Some(ready_ns)) = (&mut self.tally.lateness, slot.ready_ns) {
            lateness.record_ns(sent_ns.saturating_sub(ready_ns));
        }
        self.launch(io.slot, sent_ns);
        sent_ns
    }

    #[inline]
    pub(super) fn launch(&mut self, slot: u32, now_ns: u64) {
        self.supply.slots[slot as usize].sent_ns = Some(now_ns);
        if self.in_flight == 0 {
            self.progress_ns = now_ns;
        }
        self.in_flight += 1;
    }

    /// Takes back an I/O that completed. `stamp` is the one of all that the lane hands over together: it is read at
    /// the first of them, and a lane hands over only what was complete by then.
    #[inline]
    pub(super) fn complete(&mut self, Done { io, result }: Done, stamp: &mut Option<u64>) {
        let now_ns = *stamp.get_or_insert_with(|| self.now_ns());
        let slot = &mut self.supply.slots[io.slot as usize];
        let sent_ns = slot.sent_ns.take().unwrap_or(now_ns);
        let (response_ns, service_ns) = (now_ns - slot.due_ns.unwrap_or(sent_ns), now_ns - sent_ns);
        self.in_flight -= 1;
        self.completed += 1;
        self.progress_ns = now_ns;
        let error = error_of(&io, result);
        self.supply.settle(&io, error.is_none(), &mut self.tally.checks);
        match error {
            None if now_ns < self.counted_ns => self.tally.record_in_edge(io.op, io.len),
            None if now_ns < self.stop_ns => {
                self.tally.record(io.op, io.len, response_ns, service_ns);
                self.pen.record(io.op, io.len, response_ns, now_ns - self.counted_ns);
            }
            None => self.tally.record_unfinished(self.stop_ns.saturating_sub(sent_ns)),
            Some(error) => self.fail(&io, error),
        }
        self.supply.give_back(io, now_ns);
    }

    /// Takes back a sync that was sent for its own sake; tells its latency in ns, or its failure.
    pub(super) fn complete_sync(&mut self, Done { io, result }: Done, now_ns: u64) -> Result<u64, Failure> {
        let sent_ns = self.supply.slots[io.slot as usize].sent_ns.take().unwrap_or(now_ns);
        self.in_flight -= 1;
        self.progress_ns = now_ns;
        let outcome = match error_of(&io, result) {
            None => Ok(now_ns - sent_ns),
            Some(error) => Err(failure(&io, error)),
        };
        self.supply.give_back(io, now_ns);
        outcome
    }

    /// Until when to wait for completions, at most until `until_ns`.
    ///
    /// # Errors
    /// [`DriveError::Stalled`] if that is now, or if what is in flight is given up.
    pub(super) fn patience(&self, now_ns: u64, until_ns: u64) -> Result<Instant, DriveError> {
        let mut until_ns = until_ns;
        if self.in_flight > 0 {
            let stalled_ns = self.progress_ns.saturating_add(self.stall_ns);
            if now_ns >= stalled_ns || self.common.give_up.load(Ordering::Relaxed) {
                return Err(self.stalled(now_ns));
            }
            until_ns = until_ns.min(stalled_ns);
        }
        Ok(self.clock.now() + Duration::from_nanos(until_ns.saturating_sub(self.now_ns())))
    }

    #[inline]
    pub(super) fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    #[cold]
    fn fail(&mut self, io: &Io, error: IoError) {
        self.tally.record_failure(failure(io, error));
        if self.on_error == OnError::Stop {
            self.common.halt.store(true, Ordering::Relaxed);
        }
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
}

/// What is wrong with a completed I/O.
#[inline]
fn error_of(io: &Io, result: Result<u32, nix::errno::Errno>) -> Option<IoError> {
    match result {
        Ok(bytes) if bytes >= io.len => None,
        Ok(bytes) => Some(IoError::Short(bytes)),
        Err(errno) => Some(IoError::Errno(errno)),
    }
}

fn failure(io: &Io, error: IoError) -> Failure {
    let (offset, len) = (Bytes(io.offset), Bytes(io.len.into()));
    Failure { op: io.op, image: io.image, offset, len, error }
}
