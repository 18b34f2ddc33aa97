//! What a driver needs around it, so that each test says only what it is about.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use cephmark::clock::Clock;
use cephmark::lane::Lane;
use cephmark::load::{Common, Driver, Ledger, Window};
use cephmark::measure::Series;
use cephmark::plan::OnError;
use cephmark::plan::{Job, Rw};
use cephmark::units::Bytes;

/// A job over 1 GiB with `iodepth` I/Os in flight.
pub(crate) fn job(rw: Rw, iodepth: u32) -> Job {
    Job { rw, iodepth, size: Bytes(1 << 30), randseed: 1, ..Job::default() }
}

/// One image, one thread.
pub(crate) fn common() -> Common {
    Common {
        images: 1,
        ledger: None,
        series: Arc::new(Series::new(1)),
        halt: Arc::new(AtomicBool::new(false)),
        give_up: Arc::new(AtomicBool::new(false)),
    }
}

/// One image and one thread that verifies by `ledger`.
pub(crate) fn verifying(ledger: &Arc<Ledger>) -> Common {
    Common { ledger: Some(Arc::clone(ledger)), ..common() }
}

/// The only thread of `job` on one image.
pub(crate) fn driver<L: Lane, C: Clock>(lane: L, clock: C, job: &Job) -> Driver<L, C> {
    Driver::new(lane, clock, job, 0, common())
}

/// A measured window from `start` on.
pub(crate) fn window(start: Instant, length: Duration) -> Window {
    Window {
        start,
        counted_from: start,
        stop: start + length,
        measured: true,
        stall: Duration::from_secs(120),
        on_error: OnError::Stop,
    }
}
