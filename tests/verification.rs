//! Verification finds what goes wrong, and nothing where nothing does.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use cephmark::clock::Monotonic;
use cephmark::load::{Common, Driver, Ledger};
use cephmark::measure::{Checks, Found, Series, Tally};
use cephmark::plan::{BlockShare, Distribution, Job, Rw};
use cephmark::units::Bytes;

use crate::delay_thread::DelayThread;
use crate::memory_lane::{Fault, Memory, MemoryLane, memory};
use crate::stage::{common, verifying, window};

const RUN: u64 = 0x1234;
const UNIT: Bytes = Bytes(4096);
/// So few blocks that I/Os in flight overlap all the time.
const SIZE: Bytes = Bytes(8 * 4096);

fn ledger() -> Arc<Ledger> {
    Arc::new(Ledger::new(RUN, 1, SIZE, UNIT))
}

fn job(rw: Rw, number_ios: u64) -> Job {
    let number_ios = Some(number_ios);
    Job { rw, iodepth: 16, size: SIZE, verify: true, number_ios, ..Job::default() }
}

fn run(lane: MemoryLane, job: &Job, common: Common) -> Tally {
    let mut driver = Driver::new(lane, Monotonic::new(), job, 0, common);
    let tally = driver.run(&window(Instant::now(), Duration::from_secs(60))).expect("no failure");
    assert!(tally.complete, "the job came to its end");
    tally
}

/// Writes the whole image, marked.
fn fill(memory: &Memory, common: &Common) {
    let common = Common { series: Arc::new(Series::new(1)), ..common.clone() };
    run(MemoryLane::new(memory), &Job { iodepth: 1, ..job(Rw::Write, 8) }, common);
}

fn read_back(memory: &Memory, common: &Common) -> Checks {
    run(MemoryLane::new(memory), &job(Rw::Read, 8), common.clone()).checks
}

#[test]
fn reads_of_what_was_written_are_right_however_much_overlaps() {
    let (memory, common) = (memory(SIZE.get()), verifying(&ledger()));
    fill(&memory, &common);
    let blocks = [4096, 8192, 16384].map(|size| BlockShare { size: Bytes(size), percent: 33 }).to_vec();
    for rw in [Rw::RandRw, Rw::ReadWrite] {
        let job = Job { blocks: blocks.clone(), ..job(rw, 20_000) };
        let checks = run(MemoryLane::new(&memory), &job, common.clone()).checks;
        assert_eq!((checks.mismatched, checks.unknown, checks.first.len()), (0, 0, 0), "{checks:?}");
        assert!(checks.verified > 20_000, "{checks:?}");
    }
}

/// Two threads write and read the same few blocks of one image.
fn two_threads(ledgers: [Arc<Ledger>; 2]) -> Checks {
    let memory = memory(SIZE.get());
    let series = Arc::new(Series::new(2));
    let common = |ledger: &Arc<Ledger>| Common { series: Arc::clone(&series), ..verifying(ledger) };
    fill(&memory, &common(&ledgers[0]));
    thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|thread| {
                let (lane, common) = (MemoryLane::new(&memory), common(&ledgers[thread as usize]));
                scope.spawn(move || {
                    let mut driver =
                        Driver::new(lane, Monotonic::new(), &job(Rw::RandRw, 50_000), thread, common);
                    driver.run(&window(Instant::now(), Duration::from_secs(60))).expect("no failure")
                })
            })
            .collect();
        let mut tallies = threads.into_iter().map(|thread| thread.join().expect("no panic"));
        let mut whole = tallies.next().expect("two threads");
        tallies.for_each(|tally| whole.merge(tally));
        assert!(whole.complete);
        whole.checks
    })
}

#[test]
fn threads_that_share_the_ledger_do_not_mistake_each_others_writes() {
    let ledger = ledger();
    let checks = two_threads([Arc::clone(&ledger), ledger]);
    assert_eq!((checks.mismatched, checks.unknown), (0, 0), "{checks:?}");
    assert!(checks.verified > 40_000, "{checks:?}");
}

#[test]
fn writes_that_were_not_kept_apart_would_be_noticed() {
    // With a ledger of its own neither thread waits for the other's writes.
    let checks = two_threads([ledger(), ledger()]);
    assert!(checks.mismatched > 0, "{checks:?}");
    assert!(checks.first.iter().all(|mismatch| matches!(mismatch.found, Found::WrongGeneration { .. })));
}

/// What reading the image finds after one write went wrong.
fn after(fault: Fault) -> Checks {
    let (memory, common) = (memory(SIZE.get()), verifying(&ledger()));
    fill(&memory, &common);
    let lane = MemoryLane::new(&memory).with_fault(3, fault);
    run(lane, &Job { iodepth: 1, ..job(Rw::Write, 5) }, common.clone());
    read_back(&memory, &common)
}

#[test]
fn a_torn_write_is_found() {
    let checks = after(Fault::Torn);
    assert_eq!((checks.verified, checks.mismatched), (7, 1));
    let mismatch = &checks.first[0];
    assert_eq!((mismatch.image, mismatch.offset, &mismatch.expected), (0, Bytes(2 * 4096), &(2..=2)));
    assert_eq!(mismatch.found, Found::BadChecksum { generation: 2 });
    assert_eq!(
        mismatch.to_string(),
        "image 0 offset 8192: expected generation 2, found generation 2 with a wrong checksum"
    );
}

#[test]
fn a_corrupt_write_is_found() {
    let checks = after(Fault::Corrupt);
    assert_eq!((checks.verified, checks.mismatched), (7, 1));
    assert_eq!(checks.first[0].found, Found::BadChecksum { generation: 2 });
}

#[test]
fn a_lost_write_is_found_as_the_data_before_it() {
    let checks = after(Fault::Lost);
    assert_eq!((checks.verified, checks.mismatched), (7, 1));
    assert_eq!(checks.first[0].found, Found::WrongGeneration { generation: 1 });
}

#[test]
fn a_misplaced_write_is_found_where_it_was_to_go_and_where_it_went() {
    let (memory, common) = (memory(SIZE.get()), verifying(&ledger()));
    fill(&memory, &common);
    let lane = MemoryLane::new(&memory).with_fault(3, Fault::Misplaced);
    run(lane, &Job { iodepth: 1, ..job(Rw::Write, 3) }, common.clone());
    let mut checks = read_back(&memory, &common);
    checks.first.sort_by_key(|mismatch| mismatch.offset);
    assert_eq!((checks.verified, checks.mismatched), (6, 2));
    assert_eq!(checks.first[0].found, Found::WrongGeneration { generation: 1 });
    assert_eq!(checks.first[1].found, Found::Misplaced { image: 0, offset: 2 * 4096 });
    assert_eq!(checks.first[1].offset, Bytes(3 * 4096));
}

#[test]
fn data_of_another_run_and_no_data_at_all_are_told_apart() {
    let (memory, common) = (memory(SIZE.get()), verifying(&ledger()));
    fill(&memory, &common);
    fill(&memory, &verifying(&Arc::new(Ledger::new(RUN + 1, 1, SIZE, UNIT))));
    memory.lock().expect("not poisoned")[..4096].fill(0);
    let mut checks = read_back(&memory, &common);
    checks.first.sort_by_key(|mismatch| mismatch.offset);
    assert_eq!((checks.verified, checks.mismatched), (0, 8));
    assert_eq!(checks.first[0].found, Found::NoHeader);
    assert_eq!(checks.first[1].found, Found::OtherRun { run: RUN + 1 });
}

#[test]
fn every_mismatch_is_counted_and_only_the_first_are_kept() {
    let (memory, common) = (memory(SIZE.get()), verifying(&ledger()));
    fill(&memory, &common);
    memory.lock().expect("not poisoned").fill(0);
    let checks = run(MemoryLane::new(&memory), &job(Rw::Read, 1000), common).checks;
    assert_eq!((checks.mismatched, checks.first.len()), (1000, 16));
}

#[test]
fn what_nobody_marked_is_not_judged() {
    let (memory, common) = (memory(SIZE.get()), verifying(&ledger()));
    assert_eq!(read_back(&memory, &common).unknown, 8, "never written");
    for rw in [Rw::Write, Rw::Trim, Rw::WriteZeroes] {
        fill(&memory, &common);
        assert_eq!(read_back(&memory, &common).verified, 8);
        // One block and a half: it spoils two.
        let blocks = vec![BlockShare { size: Bytes(4096 + 2048), percent: 100 }];
        let unmarked = Job { verify: false, blocks, iodepth: 1, ..job(rw, 1) };
        run(MemoryLane::new(&memory), &unmarked, common.clone());
        let checks = read_back(&memory, &common);
        assert_eq!((checks.verified, checks.unknown, checks.mismatched), (6, 2, 0), "{rw:?}");
    }
}

#[test]
fn random_trims_by_one_job_never_look_like_corruption_to_another() {
    let (memory, ledger, series) = (memory(SIZE.get()), ledger(), Arc::new(Series::new(2)));
    let common = Common { series, ..verifying(&ledger) };
    fill(&memory, &common);
    thread::scope(|scope| {
        let (lane, seat) = (MemoryLane::new(&memory), common.clone());
        let trims = Job { verify: false, ..job(Rw::RandTrim, 20_000) };
        scope.spawn(move || {
            let mut driver = Driver::new(lane, Monotonic::new(), &trims, 1, seat);
            driver.run(&window(Instant::now(), Duration::from_secs(60))).expect("no failure")
        });
        let checks = run(MemoryLane::new(&memory), &job(Rw::RandRw, 20_000), common.clone()).checks;
        assert_eq!(checks.mismatched, 0, "{checks:?}");
        assert!(checks.unknown > 100 && checks.verified > 100, "{checks:?}");
    });
}

#[test]
fn reads_do_not_spoil_the_data_of_later_writes() {
    // Reads of an empty image bring zeroes into the buffers; every block is written by `once`.
    let memory = memory(1 << 20);
    let job = Job {
        rw: Rw::RandRw,
        iodepth: 8,
        size: Bytes(1 << 20),
        distribution: Distribution::Once,
        number_ios: Some(10 * 256),
        ..Job::default()
    };
    run(MemoryLane::new(&memory), &job, common());
    let memory = memory.lock().expect("not poisoned");
    let share = |blocks: usize| blocks as f64 / 256.0;
    let zero = memory.chunks(4096).filter(|block| block.iter().all(|&byte| byte == 0)).count();
    let poor =
        memory.chunks(4096).filter(|block| block.iter().filter(|&&byte| byte == 0).count() > 64).count();
    assert_eq!(poor, zero, "a written block has random bytes only");
    assert!(share(zero) < 0.02, "of ten passes each writes half of the blocks, {zero} are left");
}

#[test]
fn an_io_that_waits_for_another_threads_io_does_not_spin() {
    let (ledger, series) = (ledger(), Arc::new(Series::new(2)));
    let job = Job { iodepth: 1, size: UNIT, number_ios: None, ..job(Rw::Write, 1) };
    let tallies: Vec<Tally> = thread::scope(|scope| {
        let start = |thread| {
            let (common, job) = (Common { series: Arc::clone(&series), ..verifying(&ledger) }, &job);
            scope.spawn(move || {
                let lane = DelayThread::new(Duration::from_millis(100));
                let mut driver = Driver::new(lane, Monotonic::new(), job, thread, common);
                driver.run(&window(Instant::now(), Duration::from_secs(1))).expect("no failure")
            })
        };
        let threads = [0, 1].map(start);
        threads.map(|thread| thread.join().expect("no panic")).into()
    });
    let writes: u64 = tallies.iter().map(Tally::ios).sum();
    assert!((5..=10).contains(&writes), "one at a time: {writes}");
    for tally in &tallies {
        assert!(tally.cpu.total() < Duration::from_millis(250), "{:?} of CPU in a second", tally.cpu);
    }
}
