//! A window of load with what goes on around it: progress every second, the halt on a signal, CPU time.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::time::{interval, sleep_until};
use tokio_util::sync::CancellationToken;

use super::Error;
use super::events::Events;
use crate::load::Window;
use crate::measure::{CpuMeter, CpuUsage, PeakMemory, Second, Tally};
use crate::plan::RunSpec;
use crate::report::Phase;
use crate::target::Session;
use crate::units::Bytes;

/// How long load threads have to be ready before a window starts.
const HEAD_START: Duration = Duration::from_millis(20);

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

/// What a window gave.
#[derive(Debug)]
pub(super) struct Driven {
    /// A tally for each job.
    pub(super) tallies: Vec<Tally>,
    /// The seconds of each job.
    pub(super) series: Vec<Vec<Second>>,
    /// CPU time up to the window's stop, or to its early end.
    pub(super) cpu: CpuUsage,
    /// Peak resident memory within the window, if it can be told.
    pub(super) peak_memory: Option<Bytes>,
}

impl Driven {
    /// Whether an I/O failed, or a block did not hold what was written.
    pub(super) fn failed(&self) -> bool {
        self.tallies.iter().any(|tally| tally.failure.is_some() || tally.checks.mismatched > 0)
    }
}

impl Stage<'_> {
    /// Drives all threads of a session through one window.
    pub(super) async fn drive(
        &self,
        session: &mut Session,
        phase: Phase,
        length: Duration,
    ) -> Result<Driven, Error> {
        let start = Instant::now() + HEAD_START;
        let window = Window {
            start,
            stop: start + length,
            measured: phase != Phase::Ramp,
            stall: self.run.stall,
            on_error: self.run.on_error,
        };
        self.events.phase(phase, length);
        let (halt, lives) = (session.halt(), session.lives().to_vec());
        let running = session.run(window);
        tokio::pin!(running);
        let mut ticks = interval(Duration::from_secs(1));
        ticks.tick().await;
        let (mut halted, mut cpu) = (false, None);
        let (meter, mut memory) = (CpuMeter::start(), PeakMemory::start());
        let tallies = loop {
            tokio::select! {
                tallies = &mut running => break tallies?,
                () = sleep_until(window.stop.into()), if cpu.is_none() => cpu = Some(meter.read()),
                _ = ticks.tick() => {
                    memory.sample();
                    self.events.tick(&lives);
                }
                () = self.cancel.cancelled(), if !halted => {
                    halted = true;
                    halt.store(true, Ordering::Relaxed);
                }
            }
        };
        let series = lives.iter().map(|live| live.take_series()).collect();
        let cpu = cpu.unwrap_or_else(|| meter.read());
        if halted {
            Err(Error::Interrupted)
        } else {
            Ok(Driven { tallies, series, cpu, peak_memory: memory.read() })
        }
    }
}
