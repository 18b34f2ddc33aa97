//! What one load thread did in one window; merged over the threads of a job.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use nix::errno::Errno;

use super::{Checks, CpuTime, Latencies};
use crate::lane::Op;
use crate::units::Bytes;

/// Why an I/O failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoError {
    /// The client or the kernel said so.
    Errno(Errno),
    /// Fewer bytes than asked for were read or written.
    Short(u32),
}

impl IoError {
    /// Its name in result files: `EIO`, `ENOSPC`, `short`.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Errno(errno) => format!("{errno:?}"),
            Self::Short(_) => "short".to_owned(),
        }
    }
}

impl fmt::Display for IoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Errno(errno) => write!(f, "{errno}"),
            Self::Short(bytes) => write!(f, "only {bytes} bytes"),
        }
    }
}

/// The first I/O of a thread that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What it did.
    pub op: Op,
    /// Index of the image within the arm.
    pub image: u32,
    /// First byte, from the start of the image.
    pub offset: Bytes,
    /// Length.
    pub len: Bytes,
    /// Why it failed.
    pub error: IoError,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { op, image, offset, len, error } = self;
        write!(f, "{} of {len} at offset {} of image {image}: {error}", op.name(), offset.get())
    }
}

/// One operation's figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// I/Os that completed within the window without an error.
    pub ios: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// I/Os that failed, by the error's name; also those that came back after the window.
    pub errors: BTreeMap<String, u64>,
    /// From when an I/O was due to its completion.
    pub response: Latencies,
    /// From when it was sent; `None` in a closed loop, where an I/O is due when it is sent.
    service: Option<Latencies>,
}

impl Figures {
    fn new(open_loop: bool) -> Box<Self> {
        Box::new(Self { service: open_loop.then(Latencies::default), ..Self::default() })
    }

    /// From when an I/O was sent to its completion.
    #[must_use]
    pub fn service(&self) -> &Latencies {
        self.service.as_ref().unwrap_or(&self.response)
    }

    #[inline]
    fn record(&mut self, bytes: u32, response_ns: u64, service_ns: u64) {
        self.ios += 1;
        self.bytes += u64::from(bytes);
        self.response.record_ns(response_ns);
        if let Some(service) = &mut self.service {
            service.record_ns(service_ns);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        for (name, count) in &other.errors {
            *self.errors.entry(name.clone()).or_default() += count;
        }
        if self.service.is_some() || other.service.is_some() {
            let mut service = self.service().clone();
            service.merge(other.service());
            self.service = Some(service);
        }
        self.response.merge(&other.response);
    }
}

/// What was done in a window, by one thread or by all threads of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    open_loop: bool,
    ops: [Option<Box<Figures>>; Op::COUNT],
    /// From where figures begin to the window's stop, or to the last completion where it ended early.
    pub elapsed: Duration,
    /// From the window's start to where figures begin.
    pub edge: Duration,
    /// Bytes written within the edge: in no figure, but owed to the cluster as any others.
    pub written_in_edge: Bytes,
    /// How long the syncs of `end_fsync` took, after the window's stop.
    pub end_sync: Duration,
    /// Open loop: how late an I/O was sent although it was due and a slot was free. This is our own fault, not the
    /// cluster's. `None` in a closed loop.
    pub lateness: Option<Latencies>,
    /// I/Os still in flight when the window stopped.
    pub unfinished: u64,
    /// For how long the oldest of them had been in flight then.
    pub unfinished_oldest: Duration,
    /// Open loop: I/Os that were due before the window stopped and were not sent.
    pub unsent: u64,
    /// What verification found.
    pub checks: Checks,
    /// CPU time of the load thread from the window's start to its stop.
    pub cpu: CpuTime,
    /// The first failed I/O.
    pub failure: Option<Failure>,
    /// Whether `io_size` or `number_ios` was reached and the job is over.
    pub complete: bool,
}

impl Tally {
    /// An empty tally of a thread that does the operations `ops`; their memory is set aside now.
    #[must_use]
    pub fn new(ops: &[Op], open_loop: bool) -> Self {
        Self {
            open_loop,
            ops: std::array::from_fn(|op| ops.contains(&Op::ALL[op]).then(|| Figures::new(open_loop))),
            lateness: open_loop.then(Latencies::default),
            ..Self::default()
        }
    }

    /// An empty tally for the same thread's next window.
    pub(crate) fn emptied(&self) -> Self {
        let ops: Vec<Op> = Op::ALL.into_iter().filter(|&op| self.figures(op).is_some()).collect();
        Self::new(&ops, self.open_loop)
    }

    /// The figures of an operation, if the job does it at all.
    #[must_use]
    pub fn figures(&self, op: Op) -> Option<&Figures> {
        self.ops[op as usize].as_deref()
    }

    /// I/Os of all operations that completed within the window; syncs included.
    #[must_use]
    pub fn ios(&self) -> u64 {
        self.ops.iter().flatten().map(|figures| figures.ios).sum()
    }

    /// Bytes moved by all operations within the window.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.ops.iter().flatten().map(|figures| figures.bytes).sum()
    }

    /// I/Os that failed.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.ops.iter().flatten().flat_map(|figures| figures.errors.values()).sum()
    }

    /// Adds what another thread of the same job did in the same window.
    pub fn merge(&mut self, other: Self) {
        for (own, other) in self.ops.iter_mut().zip(other.ops) {
            match (own, other) {
                (Some(own), Some(other)) => own.merge(&other),
                (own @ None, other) => *own = other,
                (Some(_), None) => {}
            }
        }
        match (&mut self.lateness, other.lateness) {
            (Some(own), Some(other)) => own.merge(&other),
            (own @ None, other) => *own = other,
            (Some(_), None) => {}
        }
        self.elapsed = self.elapsed.max(other.elapsed);
        self.edge = self.edge.max(other.edge);
        self.written_in_edge = Bytes(self.written_in_edge.get() + other.written_in_edge.get());
        self.end_sync = self.end_sync.max(other.end_sync);
        self.unfinished += other.unfinished;
        self.unfinished_oldest = self.unfinished_oldest.max(other.unfinished_oldest);
        self.unsent += other.unsent;
        self.checks.merge(other.checks);
        self.cpu += other.cpu;
        self.failure = self.failure.take().or(other.failure);
        self.complete &= other.complete;
    }

    /// Adds what the same job did in the window after.
    pub fn append(&mut self, next: Self) {
        let (elapsed, edge) = (self.elapsed + next.elapsed, self.edge + next.edge);
        let complete = next.complete;
        self.merge(next);
        (self.elapsed, self.edge, self.complete) = (elapsed, edge, complete);
    }

    /// Adds an I/O that completed before figures begin.
    pub(crate) fn record_in_edge(&mut self, op: Op, bytes: u32) {
        if op == Op::Write {
            self.written_in_edge = Bytes(self.written_in_edge.get() + u64::from(bytes));
        }
    }

    /// Adds an I/O that completed within the window.
    #[inline]
    pub(crate) fn record(&mut self, op: Op, bytes: u32, response_ns: u64, service_ns: u64) {
        self.of(op).record(bytes, response_ns, service_ns);
    }

    /// Adds an I/O that was in flight when the window stopped, and for how long it had been.
    pub(crate) fn record_unfinished(&mut self, age_ns: u64) {
        self.unfinished += 1;
        self.unfinished_oldest = self.unfinished_oldest.max(Duration::from_nanos(age_ns));
    }

    /// Adds an I/O that failed.
    #[cold]
    pub(crate) fn record_failure(&mut self, failure: Failure) {
        *self.of(failure.op).errors.entry(failure.error.name()).or_default() += 1;
        self.failure.get_or_insert(failure);
    }

    #[inline]
    fn of(&mut self, op: Op) -> &mut Figures {
        let open_loop = self.open_loop;
        self.ops[op as usize].get_or_insert_with(|| Figures::new(open_loop))
    }
}
