//! A window of load with what goes on around it: progress every second, the halt on a signal, CPU time.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::time::{interval, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::Error;
use super::events::Events;
use crate::ceph;
use crate::exit::Exit;
use crate::load::Window;
use crate::measure::{CpuMeter, CpuUsage, PeakMemory, Second, Tally};
use crate::plan::RunSpec;
use crate::target::{self, Session};
use crate::units::{Bytes, Time};

/// How long load threads have to be ready before a window starts.
const HEAD_START: Duration = Duration::from_millis(20);

/// How long I/O in flight is waited for after a signal, unless the cluster counts as stuck before.
const GRACE: Duration = Duration::from_secs(10);
/// How long a load thread that is told to give up may take, unless it is stuck in a call.
const GIVING_UP: Duration = Duration::from_secs(1);

/// Where windows of load are driven.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage<'a> {
    /// How trials are run.
    pub(super) run: &'a RunSpec,
    /// Where progress goes.
    pub(super) events: &'a Events,
    /// Cancelled by a signal.
    pub(super) cancel: &'a CancellationToken,
}

/// A window to come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    /// How long the load lasts.
    pub(super) length: Duration,
    /// How much of it does not count, at its begin.
    pub(super) edge: Duration,
    /// Whether the bounds of jobs count, such as `io_size`.
    pub(super) measured: bool,
}

impl Stretch {
    /// A window that counts from its begin.
    pub(super) const fn measured(length: Duration) -> Self {
        Self { length, edge: Duration::ZERO, measured: true }
    }

    /// A ramp.
    pub(super) const fn ramp(length: Duration) -> Self {
        Self { length, edge: Duration::ZERO, measured: false }
    }
}

/// What a window gave.
#[derive(Debug)]
pub(super) struct Driven {
    /// A tally for each job.
    pub(super) tallies: Vec<Tally>,
    /// The seconds of each job.
    pub(super) series: Vec<Vec<Second>>,
    /// CPU time from where figures begin to the window's stop, or to its early end.
    pub(super) cpu: CpuUsage,
    /// Peak resident memory within the window, if it can be told.
    pub(super) peak_memory: Option<Bytes>,
}

impl Stage<'_> {
    /// Makes durable what a session's clients hold, and tells how long that took.
    ///
    /// # Errors
    /// Of the flush; [`Error::GaveUp`] if it does not end soon after a signal.
    pub(super) async fn flush(&self, session: &Session) -> Result<Duration, Error> {
        self.wait("flushing what clients hold", session.flush(self.run.stall)).await
    }

    /// Drops what a session's clients have cached.
    ///
    /// # Errors
    /// Of dropping it; [`Error::GaveUp`] if it does not end soon after a signal.
    pub(super) async fn invalidate(&self, session: &Session) -> Result<(), Error> {
        self.wait("dropping what clients have cached", session.invalidate(self.run.stall)).await
    }

    /// Waits for what clients were asked for between windows; after a signal only a little longer.
    async fn wait<T>(
        &self,
        what: &str,
        asked: impl Future<Output = Result<T, target::Error>>,
    ) -> Result<T, Error> {
        let signal = async {
            self.cancel.cancelled().await;
            self.tell_of_grace();
            sleep(self.grace()).await;
        };
        tokio::select! {
            answer = asked => Ok(answer?),
            () = signal => {
                ceph::leave_behind();
                Err(Error::GaveUp(ceph::Error::Interrupted { what: what.to_owned() }.into()))
            }
        }
    }

    fn grace(&self) -> Duration {
        self.run.stall.min(GRACE)
    }

    fn tell_of_grace(&self) {
        self.events.message(format!(
            "interrupted: waiting for I/O in flight, for at most {}; once more to leave at once",
            Time(self.grace())
        ));
    }

    /// Drives all threads of a session through one window.
    pub(super) async fn drive(&self, session: &mut Session, stretch: Stretch) -> Result<Driven, Error> {
        let start = Instant::now() + HEAD_START;
        let window = Window {
            start,
            counted_from: start + stretch.edge,
            stop: start + stretch.length,
            measured: stretch.measured,
            stall: self.run.stall,
            on_error: self.run.on_error,
        };
        let (halt, give_up, series) = (session.halt(), session.give_up(), session.series().to_vec());
        let running = session.run(window);
        tokio::pin!(running);
        let mut ticks = interval(Duration::from_secs(1));
        ticks.tick().await;
        let (mut halted, mut counting, mut cpu) = (None, false, None);
        let mut given_up = None;
        let grace = self.grace();
        let (mut meter, mut memory) = (CpuMeter::start(), PeakMemory::start());
        let tallies = loop {
            tokio::select! {
                tallies = &mut running => break tallies,
                () = sleep_until(window.counted_from.into()), if !counting => {
                    (counting, meter) = (true, CpuMeter::start());
                }
                () = sleep_until(window.stop.into()), if cpu.is_none() => cpu = Some(meter.read()),
                _ = ticks.tick() => {
                    memory.sample();
                    self.events.tick(&series);
                }
                () = self.cancel.cancelled(), if halted.is_none() => {
                    halted = Some(Instant::now());
                    halt.store(true, Ordering::Relaxed);
                    self.tell_of_grace();
                }
                () = sleep_until((halted.unwrap_or(start) + grace).into()), if halted.is_some() && given_up.is_none() => {
                    given_up = Some(Instant::now());
                    give_up.store(true, Ordering::Relaxed);
                }
                () = sleep_until((given_up.unwrap_or(start) + GIVING_UP).into()), if given_up.is_some() => {
                    break Err(target::Error::LoadThreadStuck { limit: grace + GIVING_UP });
                }
            }
        };
        let series = series.iter().map(|of_job| of_job.take()).collect();
        let cpu = cpu.unwrap_or_else(|| meter.read());
        match (tallies, halted) {
            (Ok(tallies), None) => Ok(Driven { tallies, series, cpu, peak_memory: memory.read() }),
            (Ok(_), Some(_)) => Err(Error::Interrupted),
            (Err(stuck), Some(_)) if stuck.exit() == Exit::Stuck => Err(Error::GaveUp(stuck)),
            (Err(error), _) => Err(error.into()),
        }
    }
}
