//! What the progress display sees of a job while it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::measure::{Second, Series};

/// The running figures of one job, shared by its threads and the display.
#[derive(Debug)]
pub struct Live {
    threads: Vec<Counters>,
    series: Arc<Series>,
}

/// One thread's counters, on a cache line of their own so that threads do not slow each other down.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counters {
    ios: AtomicU64,
    bytes: AtomicU64,
}

impl Live {
    /// For a job of `threads` threads.
    #[must_use]
    pub fn new(threads: u32) -> Self {
        Self {
            threads: (0..threads).map(|_| Counters::default()).collect(),
            series: Arc::new(Series::new(threads)),
        }
    }

    /// I/Os completed so far, ramps included.
    #[must_use]
    pub fn ios(&self) -> u64 {
        self.threads.iter().map(|thread| thread.ios.load(Ordering::Relaxed)).sum()
    }

    /// Bytes moved so far, ramps included.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.threads.iter().map(|thread| thread.bytes.load(Ordering::Relaxed)).sum()
    }

    /// The last complete second of the window under way.
    #[must_use]
    pub fn latest(&self) -> Option<Second> {
        self.series.latest()
    }

    /// Takes the seconds of a window, once all threads have returned from it.
    #[must_use]
    pub fn take_series(&self) -> Vec<Second> {
        self.series.take()
    }

    pub(super) fn series(&self) -> &Arc<Series> {
        &self.series
    }

    /// Adds an I/O of `thread`, the only one to write these counters.
    #[inline]
    pub(super) fn add(&self, thread: u32, bytes: u32) {
        let counters = &self.threads[thread as usize];
        counters.ios.store(counters.ios.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        counters.bytes.store(counters.bytes.load(Ordering::Relaxed) + u64::from(bytes), Ordering::Relaxed);
    }
}
