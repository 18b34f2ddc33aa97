//! The counter that stamps the I/Os of all lanes where the kernel keeps its own time by it: the processor's time stamp
//! counter, which is read in a third of the time that the system's clock takes.
#![expect(unsafe_code, reason = "reads the counter")]

use std::fs;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

/// What the kernel keeps time by: another source where processors disagree about the counter, or its rate changes.
const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
/// Over such a time two readings that are good to some 10 ns tell the counter's rate to some millionths.
const CALIBRATION: Duration = Duration::from_millis(20);
/// The best of so many readings of both clocks is one that nothing came between.
const TRIES: u32 = 32;

/// A time stamp counter, from a moment on.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    start: u64,
    /// Nanoseconds per tick, times 2^32.
    scale: u64,
}

impl Counter {
    /// The counter from now on, if the kernel keeps time by it. The first call of a process takes 20 ms, in which the
    /// counter's rate is measured.
    #[must_use]
    pub fn start() -> Option<Self> {
        static SCALE: OnceLock<Option<u64>> = OnceLock::new();
        let scale = (*SCALE.get_or_init(|| is_trusted().then(calibrate)))?;
        Some(Self { start: ticks(), scale })
    }

    /// Nanoseconds since then.
    #[inline]
    #[must_use]
    pub fn elapsed_ns(&self) -> u64 {
        let elapsed = ticks().saturating_sub(self.start);
        ((u128::from(elapsed) * u128::from(self.scale)) >> 32) as u64
    }
}

fn is_trusted() -> bool {
    cfg!(target_arch = "x86_64") && fs::read_to_string(CLOCK_SOURCE).is_ok_and(|text| text.trim() == "tsc")
}

/// Nanoseconds per tick, times 2^32.
fn calibrate() -> u64 {
    let (start, start_ticks) = both();
    thread::sleep(CALIBRATION);
    let (end, end_ticks) = both();
    let (ns, ticks) = ((end - start).as_nanos(), u128::from(end_ticks.saturating_sub(start_ticks).max(1)));
    u64::try_from((ns << 32) / ticks).unwrap_or(u64::MAX)
}

/// Both clocks at the same moment.
fn both() -> (Instant, u64) {
    let read = |_| {
        let before = ticks();
        let now = Instant::now();
        let width = ticks().saturating_sub(before);
        (width, now, before + width / 2)
    };
    let best = (0..TRIES).map(read).min_by_key(|(width, ..)| *width);
    best.map_or_else(|| (Instant::now(), ticks()), |(_, now, ticks)| (now, ticks))
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has the counter, and reading it changes nothing.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// Never trusted, and so never read.
#[cfg(not(target_arch = "x86_64"))]
fn ticks() -> u64 {
    0
}
