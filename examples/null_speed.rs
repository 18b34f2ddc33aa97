//! How fast cephmark itself is: one job on the null lane, everything measured.
//!
//!     cargo run --release --example null_speed [-- SECONDS]
//!
//! CPU time per I/O is the figure to compare on a busy host; I/Os per CPU second is what a quiet core would reach.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use cephmark::clock::Monotonic;
use cephmark::lane::NullLane;
use cephmark::load::{Common, Driver, Live, Window};
use cephmark::plan::{Job, OnError, Rw};
use cephmark::units::Bytes;

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(3);
    for (rw, iodepth) in [(Rw::RandRead, 1), (Rw::RandRead, 32), (Rw::RandWrite, 32), (Rw::RandRw, 32)] {
        let job = Job { rw, iodepth, size: Bytes(1 << 40), ..Job::default() };
        let common = Common {
            images: 1,
            ledger: None,
            live: Arc::new(Live::new(1)),
            halt: Arc::new(AtomicBool::new(false)),
        };
        let mut driver = Driver::new(NullLane::new(iodepth), Monotonic, &job, 0, common);
        let start = Instant::now();
        let window = Window {
            start,
            stop: start + Duration::from_secs(seconds),
            measured: true,
            stall: Duration::from_secs(10),
            on_error: OnError::Stop,
        };
        let tally = driver.run(&window).expect("the null lane does not fail");
        let per_io = tally.cpu.total().as_secs_f64() / tally.ios() as f64;
        println!(
            "{rw:?} depth {iodepth}: {:.2} M I/O/s, {:.0} ns CPU per I/O = {:.2} M I/O per CPU second",
            tally.ios() as f64 / tally.elapsed.as_secs_f64() / 1e6,
            per_io * 1e9,
            1e-6 / per_io,
        );
    }
}
