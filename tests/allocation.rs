//! Nothing is allocated per I/O: an allocator that counts, which takes a test binary of its own.
#![expect(unsafe_code, reason = "an allocator is unsafe to implement")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use cephmark::clock::Monotonic;
use cephmark::lane::NullLane;
use cephmark::load::{Common, Driver, Ledger, Window};
use cephmark::measure::Series;
use cephmark::plan::{Distribution, Job, OnError, Pace, Rw};
use cephmark::units::{Bytes, Rate};

/// The system's allocator, with a count of each thread's allocations.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // Fails only while the thread is being torn down.
    let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
}

// SAFETY: everything is handed on to the system's allocator as it came; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as the caller promised.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as the caller promised.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often this thread allocates in a window of so many I/Os.
fn allocations(job: &Job, number_ios: u64, ledger: Option<Arc<Ledger>>) -> u64 {
    let job = Job { number_ios: Some(number_ios), ..job.clone() };
    let (series, halt) = (Arc::new(Series::new(1)), Arc::new(AtomicBool::new(false)));
    let common = Common { images: 3, ledger, series, halt, give_up: Arc::new(AtomicBool::new(false)) };
    let mut driver = Driver::new(NullLane::new(job.iodepth), Monotonic::new(), &job, 0, common);
    let start = Instant::now();
    let stop = start + Duration::from_secs(600);
    let window = Window {
        start,
        counted_from: start,
        stop,
        measured: true,
        stall: Duration::from_secs(60),
        on_error: OnError::Count,
    };
    let before = ALLOCATIONS.get();
    let tally = driver.run(&window).expect("the null lane does not fail");
    let allocations = ALLOCATIONS.get() - before;
    assert!(tally.ios() >= number_ios && tally.complete);
    allocations
}

#[test]
fn a_window_of_a_hundred_thousand_ios_allocates_no_more_than_one_of_a_thousand() {
    let plain = Job { rw: Rw::RandRw, iodepth: 32, size: Bytes(1 << 30), ..Job::default() };
    let rate = Rate::per_second(1e9).expect("above 0");
    let jobs = [
        plain.clone(),
        Job { rw: Rw::Write, fsync: 8, fdatasync: 3, ..plain.clone() },
        Job { distribution: Distribution::Zipf(1.1), pace: Pace::Poisson(rate), ..plain.clone() },
        Job { distribution: Distribution::Once, pace: Pace::Linear(rate), ..plain.clone() },
        Job { verify: true, size: Bytes(64 << 10), ..plain },
    ];
    for job in jobs {
        let ledger = || job.verify.then(|| Arc::new(Ledger::new(1, 3, Bytes(64 << 10), Bytes(4096))));
        let few = allocations(&job, 1000, ledger());
        let many = allocations(&job, 100_000, ledger());
        // A second that ends within the larger one may cost some: the series grows by the second.
        let seconds = many.saturating_sub(few);
        assert!(seconds < 50, "{many} allocations for 100,000 I/Os, {few} for 1,000: {job:?}");
    }
}

#[test]
fn allocations_are_counted() {
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(Box::new(1)));
    assert_eq!(ALLOCATIONS.get() - before, 1);
}
