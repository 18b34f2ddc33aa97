//! The figures of every second, exact over all threads of a job.
//!
//! Each thread writes the second under way with a [`SeriesPen`] of its own and hands it over at the second's edge, so
//! that threads meet at one lock a second and not per I/O. A second that all threads have left is reduced to a few
//! figures: memory grows by some hundred bytes a second, however many threads there are.

use std::array;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;

use crate::lane::Op;

const SECOND_NS: u64 = 1_000_000_000;
const HOUR_NS: u64 = 3600 * SECOND_NS;

/// One operation's I/Os that completed within a second; latencies are response times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// How many completed.
    pub ios: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Mean latency, exact.
    pub mean: Duration,
    /// 99th percentile to two digits, of however few I/Os there were.
    pub p99: Duration,
    /// Longest latency, exact.
    pub max: Duration,
}

/// A second of a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Second {
    /// Its begin, from the start of the window.
    pub at: Duration,
    /// One second, or less where the window ended within it.
    pub length: Duration,
    /// Figures by [`Op`]; `None` where none completed.
    pub ops: [Option<Interval>; Op::COUNT],
}

impl Second {
    /// I/Os of all operations.
    #[must_use]
    pub fn ios(&self) -> u64 {
        self.ops.iter().flatten().map(|interval| interval.ios).sum()
    }

    /// Bytes of all operations.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.ops.iter().flatten().map(|interval| interval.bytes).sum()
    }

    /// The longest 99th percentile of its operations; zero where no I/O completed.
    #[must_use]
    pub fn p99(&self) -> Duration {
        self.ops.iter().flatten().map(|interval| interval.p99).max().unwrap_or_default()
    }
}

/// What is gathered of one operation in one second.
#[derive(Debug)]
struct Sums {
    bytes: u64,
    latency_ns: u64,
    max_ns: u64,
    counts: Histogram<u32>,
}

impl Sums {
    fn new() -> Box<Self> {
        let counts = Histogram::new_with_bounds(1, HOUR_NS, 2).expect("valid constant bounds");
        Box::new(Self { bytes: 0, latency_ns: 0, max_ns: 0, counts })
    }

    #[inline]
    fn record(&mut self, bytes: u32, latency_ns: u64) {
        self.bytes += u64::from(bytes);
        self.latency_ns += latency_ns;
        self.max_ns = self.max_ns.max(latency_ns);
        self.counts.saturating_record(latency_ns);
    }

    fn merge(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.latency_ns += other.latency_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
        self.counts.add(&other.counts).expect("all have the same bounds");
    }

    fn clear(&mut self) {
        (self.bytes, self.latency_ns, self.max_ns) = (0, 0, 0);
        self.counts.reset();
    }

    fn interval(&self) -> Option<Interval> {
        let ios = self.counts.len();
        (ios > 0).then(|| Interval {
            ios,
            bytes: self.bytes,
            mean: Duration::from_nanos(self.latency_ns / ios),
            p99: Duration::from_nanos(self.counts.value_at_quantile(0.99).min(self.max_ns)),
            max: Duration::from_nanos(self.max_ns),
        })
    }
}

type SumsByOp = [Option<Box<Sums>>; Op::COUNT];

/// The series of one job, shared by its threads and by the progress display.
#[derive(Debug)]
pub struct Series {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// By thread, the second it is in; `u64::MAX` once it has left the window.
    reached: Vec<u64>,
    /// Seconds that some thread may still add to; the first of them is number `seconds.len()`.
    open: VecDeque<SumsByOp>,
    seconds: Vec<Second>,
    end_ns: u64,
}

impl Series {
    /// A series that `threads` threads write.
    #[must_use]
    pub fn new(threads: u32) -> Self {
        let reached = vec![0; threads as usize];
        let state = State { reached, open: VecDeque::new(), seconds: Vec::new(), end_ns: 0 };
        Self { state: Mutex::new(state) }
    }

    /// The last second that all threads have left, for the progress display.
    #[must_use]
    pub fn latest(&self) -> Option<Second> {
        self.lock().seconds.last().cloned()
    }

    /// Takes the seconds of the window that all threads have left; what is not taken is gone with the next window.
    #[must_use]
    pub fn take(&self) -> Vec<Second> {
        let mut state = self.lock();
        state.close_until(u64::MAX);
        state.reached.fill(0);
        let end_ns = std::mem::take(&mut state.end_ns);
        let mut seconds = std::mem::take(&mut state.seconds);
        if let Some(last) = seconds.last_mut() {
            last.length = last.length.min(Duration::from_nanos(end_ns).saturating_sub(last.at));
        }
        seconds
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Figures of a thread that panicked are incomplete, not dangerous.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Forgets the window before, unless another thread has begun the new one.
    fn begin(&mut self) {
        if self.reached.iter().all(|&second| second == u64::MAX) {
            self.reached.fill(0);
            self.seconds.clear();
            self.open.clear();
            self.end_ns = 0;
        }
    }

    /// Adds a thread's second `index` and notes that the thread is now in second `next`.
    fn hand_over(&mut self, thread: u32, index: u64, sums: &mut SumsByOp, next: u64) {
        // Nobody adds to a closed second, as all threads have left it.
        let position = index.saturating_sub(self.seconds.len() as u64) as usize;
        while self.open.len() <= position {
            self.open.push_back(array::from_fn(|_| None));
        }
        for (total, own) in self.open[position].iter_mut().zip(sums.iter_mut()) {
            if let Some(own) = own.as_deref_mut().filter(|own| !own.counts.is_empty()) {
                total.get_or_insert_with(Sums::new).merge(own);
                own.clear();
            }
        }
        self.reached[thread as usize] = next;
        self.close_until(self.reached.iter().copied().min().unwrap_or(u64::MAX));
    }

    /// Reduces every open second before `index` to its figures.
    fn close_until(&mut self, index: u64) {
        while (self.seconds.len() as u64) < index {
            let Some(sums) = self.open.pop_front() else { return };
            self.seconds.push(Second {
                at: Duration::from_secs(self.seconds.len() as u64),
                length: Duration::from_secs(1),
                ops: array::from_fn(|op| sums[op].as_deref().and_then(Sums::interval)),
            });
        }
    }
}

/// One thread's hand in a [`Series`]. Times are ns since the window's start.
#[derive(Debug)]
pub struct SeriesPen {
    series: Arc<Series>,
    thread: u32,
    index: u64,
    edge_ns: u64,
    sums: SumsByOp,
}

impl SeriesPen {
    /// The pen of thread `thread`, counted from 0, which emits only the operations `ops`.
    #[must_use]
    pub fn new(series: Arc<Series>, thread: u32, ops: &[Op]) -> Self {
        let sums = array::from_fn(|op| ops.contains(&Op::ALL[op]).then(Sums::new));
        Self { series, thread, index: 0, edge_ns: SECOND_NS, sums }
    }

    /// Enters a window: all threads of the job have left the one before.
    pub(crate) fn begin(&mut self) {
        self.series.lock().begin();
    }

    /// Adds an I/O that completed at `at_ns`; never before an earlier one.
    #[inline]
    pub(crate) fn record(&mut self, op: Op, bytes: u32, latency_ns: u64, at_ns: u64) {
        if at_ns >= self.edge_ns {
            self.turn(at_ns / SECOND_NS);
        }
        self.sums[op as usize].get_or_insert_with(Sums::new).record(bytes, latency_ns);
    }

    /// Leaves the window, which ended at `end_ns` for this thread.
    pub(crate) fn finish(&mut self, end_ns: u64) {
        // A window that ends on a second's edge has no second after it, unless an I/O completed right on that edge.
        let end_ns = end_ns.max(self.index * SECOND_NS + 1);
        let last = (end_ns - 1) / SECOND_NS;
        let mut state = self.series.lock();
        state.end_ns = state.end_ns.max(end_ns);
        state.hand_over(self.thread, self.index, &mut self.sums, last);
        // The seconds up to the end exist even if nothing completed in them: a stall must be seen.
        state.hand_over(self.thread, last, &mut self.sums, u64::MAX);
        drop(state);
        (self.index, self.edge_ns) = (0, SECOND_NS);
    }

    #[cold]
    fn turn(&mut self, next: u64) {
        self.series.lock().hand_over(self.thread, self.index, &mut self.sums, next);
        self.index = next;
        self.edge_ns = (next + 1) * SECOND_NS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn pens(threads: u32) -> (Arc<Series>, Vec<SeriesPen>) {
        let series = Arc::new(Series::new(threads));
        let pens =
            (0..threads).map(|thread| SeriesPen::new(Arc::clone(&series), thread, &[Op::Read])).collect();
        (series, pens)
    }

    fn reads(second: &Second) -> Interval {
        second.ops[Op::Read as usize].expect("reads completed")
    }

    #[test]
    fn a_second_is_told_once_every_thread_has_left_it() {
        let (series, mut pens) = pens(2);
        pens[0].record(Op::Read, 4096, 1_000, 100 * MS);
        pens[0].record(Op::Read, 4096, 1_000, 1_100 * MS);
        assert_eq!(series.latest(), None);
        pens[1].record(Op::Read, 4096, 3_000, 200 * MS);
        pens[1].record(Op::Read, 4096, 1_000, 1_200 * MS);
        let second = series.latest().expect("both threads are in the next second");
        assert_eq!((second.ios(), second.bytes()), (2, 8192));
        assert_eq!(reads(&second).mean, Duration::from_micros(2));
        assert_eq!(second.p99(), Duration::from_micros(3));
    }

    #[test]
    fn seconds_of_a_stall_are_there_and_empty() {
        let (series, mut pens) = pens(1);
        pens[0].record(Op::Read, 4096, 1_000, 500 * MS);
        pens[0].record(Op::Read, 4096, 1_000, 3_500 * MS);
        pens[0].finish(5_000 * MS);
        let ios: Vec<_> = series.take().iter().map(Second::ios).collect();
        assert_eq!(ios, [1, 0, 0, 1, 0]);
    }

    #[test]
    fn the_last_second_is_as_long_as_the_window_left_it() {
        let (series, mut pens) = pens(2);
        pens[0].record(Op::Read, 4096, 1_000, 1_000 * MS);
        pens[0].finish(1_250 * MS);
        pens[1].finish(1_100 * MS);
        let seconds = series.take();
        assert_eq!(seconds.len(), 2);
        assert_eq!(seconds[1].length, Duration::from_millis(250));
        assert_eq!(seconds[0].length, Duration::from_secs(1));
    }

    #[test]
    fn a_second_window_starts_from_nothing_whether_the_first_was_taken_or_not() {
        for take in [true, false] {
            let (series, mut pens) = pens(2);
            for pen in &mut pens {
                pen.record(Op::Read, 4096, 1_000, 1_500 * MS);
                pen.finish(2_000 * MS);
            }
            assert!(!take || series.take().len() == 2);
            pens[0].begin();
            pens[0].record(Op::Read, 512, 7_000, 10 * MS);
            pens[0].finish(1_000 * MS);
            pens[1].begin();
            pens[1].finish(1_000 * MS);
            let seconds = series.take();
            assert_eq!(seconds.len(), 1);
            let us = Duration::from_micros(7);
            assert_eq!(reads(&seconds[0]), Interval { ios: 1, bytes: 512, mean: us, p99: us, max: us });
        }
    }
}
