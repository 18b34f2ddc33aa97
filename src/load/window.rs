//! A stretch of time in which all threads of a trial drive their lanes.

use std::time::{Duration, Instant};

use crate::plan::OnError;

/// One window, common to all threads of all jobs of a trial: a ramp, a measured part, or a slice of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first I/O is sent, or due, now.
    pub start: Instant,
    /// I/Os that complete before this do not count: `start`, or later to leave out the edge of a slice, in which queues
    /// fill again.
    pub counted_from: Instant,
    /// I/Os that complete before this count.
    pub stop: Instant,
    /// Whether `io_size` and `number_ios` count, and `end_fsync` is done; not so in a ramp.
    pub measured: bool,
    /// How long I/Os may be in flight with none completing before the cluster is stuck.
    pub stall: Duration,
    /// What follows a failed I/O.
    pub on_error: OnError,
}
