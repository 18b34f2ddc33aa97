//! The load loop, on a virtual clock: windows, limits, errors, stalls, syncs.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use cephmark::clock::Clock;
use cephmark::lane::{Io, Op};
use cephmark::load::{Common, DriveError, Driver, Window};
use cephmark::measure::{IoError, Second, Tally};
use cephmark::plan::{Job, OnError, Pace, Rw};
use cephmark::units::{Bytes, Rate};
use nix::errno::Errno;

use crate::stage::{common, driver, job, window};
use crate::virtual_time::{Fate, KnownDelays, VirtualClock};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const NEVER: Duration = Duration::from_secs(1 << 32);

/// A driver of `job` on a lane where each I/O takes a millisecond.
fn steady(job: &Job, clock: &VirtualClock) -> Driver<impl cephmark::lane::Lane + use<>, VirtualClock> {
    driver(KnownDelays::new(clock, job.iodepth, |_, _: &_| Fate::after(MS)), clock.clone(), job)
}

fn ios(tally: &Tally, op: Op) -> u64 {
    tally.figures(op).map_or(0, |figures| figures.ios)
}

#[test]
fn each_window_counts_only_what_completes_within_it() {
    let clock = VirtualClock::new();
    let mut driver = steady(&job(Rw::RandRead, 4), &clock);
    let start = clock.now() + SECOND;
    let ramp = driver.run(&Window { measured: false, ..window(start, SECOND) }).expect("ramp");
    assert_eq!(clock.now(), start + SECOND, "it waited for the start, and nothing is left in flight");
    let measured = driver.run(&window(start + SECOND + MS / 2, 2 * SECOND)).expect("measured");
    // The four that complete right at the stop do not count.
    assert_eq!((ios(&ramp, Op::Read), ios(&measured, Op::Read)), (3996, 7996));
    assert_eq!(measured.bytes(), 7996 * 4096);
    assert_eq!((measured.elapsed, measured.unfinished, measured.complete), (2 * SECOND, 4, false));
}

#[test]
fn number_ios_and_io_size_end_the_measured_part_but_not_the_ramp() {
    let by_count = Job { number_ios: Some(1000), ..job(Rw::RandRead, 4) };
    let by_size = Job { io_size: Some(Bytes(1000 * 4096)), ..job(Rw::RandRead, 4) };
    for job in [by_count, by_size] {
        let clock = VirtualClock::new();
        let mut driver = steady(&job, &clock);
        let ramp = driver.run(&Window { measured: false, ..window(clock.now(), SECOND) }).expect("ramp");
        assert!(ios(&ramp, Op::Read) > 3900 && !ramp.complete);
        // Two slices of it: the limit counts over both.
        let first = driver.run(&window(clock.now(), MS * 101)).expect("first slice");
        let second = driver.run(&window(clock.now(), SECOND)).expect("second slice");
        assert_eq!(ios(&first, Op::Read) + first.unfinished + ios(&second, Op::Read), 1000);
        assert_eq!((first.complete, second.complete), (false, true));
        assert_eq!((second.elapsed, second.unfinished), (149 * MS, 0));
    }
}

#[test]
fn every_window_of_an_open_loop_starts_its_schedule_anew() {
    let clock = VirtualClock::new();
    let rate = Rate::per_second(100.0).expect("above 0");
    let mut driver = steady(&Job { pace: Pace::Linear(rate), ..job(Rw::RandRead, 4) }, &clock);
    for _ in 0..2 {
        let tally = driver.run(&window(clock.now() + SECOND, SECOND)).expect("no failure");
        assert_eq!((tally.ios(), tally.unfinished, tally.unsent), (100, 0, 0));
        assert_eq!(tally.lateness.map(|lateness| lateness.histogram().max()), Some(0));
    }
}

#[test]
fn the_series_has_every_io_of_the_window() {
    let (clock, common, job) = (VirtualClock::new(), common(), job(Rw::RandRw, 8));
    let lane = KnownDelays::new(&clock, 8, |now, _: &_| {
        Fate::after(if now.as_millis() == 1500 { SECOND } else { MS })
    });
    let mut driver = Driver::new(lane, clock.clone(), &job, 0, common.clone());
    let tally = driver.run(&window(clock.now(), 4 * SECOND + MS / 2)).expect("no failure");
    let seconds = common.series.take();
    assert_eq!(seconds.iter().map(Second::ios).sum::<u64>(), tally.ios());
    assert_eq!(seconds.iter().map(Second::bytes).sum::<u64>(), tally.bytes());
    let ios: Vec<u64> = seconds.iter().map(Second::ios).collect();
    assert_eq!(ios, [8 * 999, 8 * 501, 8 * 500, 8 * 1000, 8]);
    assert_eq!(seconds[4].length, MS / 2);
    // All eight were sent at 1.5 s.
    let read = seconds[2].ops[Op::Read as usize].expect("reads");
    assert_eq!(read.max, SECOND);
}

#[test]
fn a_lane_that_completes_nothing_is_stalled_after_the_limit() {
    let clock = VirtualClock::new();
    let lane = KnownDelays::new(&clock, 4, |now, _: &_| Fate::after(if now < SECOND { MS } else { NEVER }));
    let start = clock.now();
    let limited = Window { stall: 7 * SECOND, ..window(start, 1000 * SECOND) };
    let error = driver(lane, clock.clone(), &job(Rw::RandRead, 4)).run(&limited).expect_err("it stalls");
    assert_eq!(clock.now() - start, 8 * SECOND);
    let DriveError::Stalled { waited, in_flight, oldest } = &error else { panic!("{error}") };
    assert_eq!((*waited, *in_flight, *oldest), (7 * SECOND, 4, 7 * SECOND));
    assert!(error.to_string().contains("run.stall"), "{error}");
}

#[test]
fn draining_at_the_end_of_a_window_is_limited_too() {
    let clock = VirtualClock::new();
    let lane = KnownDelays::new(&clock, 4, |_, _: &_| Fate::after(NEVER));
    let start = clock.now();
    let limited = Window { stall: 7 * SECOND, ..window(start, SECOND) };
    let error = driver(lane, clock.clone(), &job(Rw::RandRead, 4)).run(&limited).expect_err("it stalls");
    assert!(matches!(error, DriveError::Stalled { in_flight: 4, .. }), "{error}");
    assert_eq!(clock.now() - start, 7 * SECOND);
}

/// A lane where reads of the second 100 ms fail.
fn failing(clock: &VirtualClock, result: fn(u32) -> Result<u32, Errno>) -> impl cephmark::lane::Lane + use<> {
    KnownDelays::new(clock, 4, move |now, _: &Io| {
        let fails = now.as_millis() / 100 == 1;
        Fate { result: if fails { result } else { Ok }, ..Fate::after(MS) }
    })
}

#[test]
fn a_failed_io_stops_all_threads_of_the_trial_and_is_told_in_full() {
    let (clock, common, job) = (VirtualClock::new(), common(), job(Rw::Read, 4));
    let mut driver =
        Driver::new(failing(&clock, |_| Err(Errno::EIO)), clock.clone(), &job, 0, common.clone());
    let tally = driver.run(&window(clock.now(), SECOND)).expect("a failed I/O is part of the tally");
    let failure = tally.failure.as_ref().expect("it failed");
    assert_eq!((failure.op, failure.image, failure.error), (Op::Read, 0, IoError::Errno(Errno::EIO)));
    assert_eq!(failure.len, Bytes(4096));
    // Four a millisecond, one after the other, and completions of one moment come in any order.
    assert_eq!(failure.offset.get() / (4 * 4096), 100);
    assert_eq!((tally.ios(), tally.errors()), (400, 4));
    assert_eq!(tally.elapsed, 101 * MS);
    assert!(common.halt.load(Ordering::Relaxed));
    let text = failure.to_string();
    assert!(
        text.starts_with("read of 4KiB at offset 16") && text.ends_with("of image 0: EIO: I/O error"),
        "{text}"
    );
}

#[test]
fn failed_ios_are_only_counted_where_the_profile_says_so() {
    let clock = VirtualClock::new();
    let mut driver = driver(failing(&clock, |_| Err(Errno::ENOSPC)), clock.clone(), &job(Rw::RandRead, 4));
    let counting = Window { on_error: OnError::Count, ..window(clock.now(), SECOND) };
    let tally = driver.run(&counting).expect("errors are counted");
    let reads = tally.figures(Op::Read).expect("reads");
    assert_eq!((reads.ios, reads.errors["ENOSPC"]), (3996 - 400, 400));
    assert_eq!(reads.response.len(), reads.ios, "a failed I/O has no latency");
}

#[test]
fn a_short_read_is_an_error() {
    let clock = VirtualClock::new();
    let mut driver = driver(failing(&clock, |len| Ok(len / 2)), clock.clone(), &job(Rw::RandRead, 4));
    let tally = driver.run(&window(clock.now(), SECOND)).expect("errors are counted");
    assert_eq!(tally.figures(Op::Read).expect("reads").errors["short"], 4);
    assert_eq!(tally.failure.expect("it failed").error, IoError::Short(2048));
}

#[test]
fn halting_ends_a_window_at_once_with_what_there_is() {
    let (clock, common) = (VirtualClock::new(), common());
    let halt = Arc::clone(&common.halt);
    let lane = KnownDelays::new(&clock, 4, move |now, _: &_| {
        if now >= SECOND {
            halt.store(true, Ordering::Relaxed);
        }
        Fate::after(MS)
    });
    let mut driver = Driver::new(lane, clock.clone(), &job(Rw::RandRead, 4), 0, common);
    let tally = driver.run(&window(clock.now(), 1000 * SECOND)).expect("halted is no failure");
    assert_eq!((tally.elapsed, tally.complete, tally.failure.is_none()), (SECOND, false, true));
    assert!(tally.unfinished > 0);
    // While it waits for something, and before a window starts, it looks ten times a second.
    let later = clock.now() + 1000 * SECOND;
    let tally = driver.run(&window(later, SECOND)).expect("halted is no failure");
    assert_eq!((tally.ios(), tally.elapsed), (0, Duration::ZERO));
    assert!(clock.now() < later);
}

#[test]
fn a_sync_after_every_write_makes_a_log_writer() {
    let clock = VirtualClock::new();
    let lane = KnownDelays::new(&clock, 1, |_, io: &Io| {
        Fate::after(if io.op == Op::DataSync { 4 * MS } else { MS })
    });
    let job = Job { fdatasync: 1, ..job(Rw::Write, 1) };
    let tally = driver(lane, clock.clone(), &job).run(&window(clock.now(), 10 * SECOND)).expect("no failure");
    assert_eq!((ios(&tally, Op::Write), ios(&tally, Op::DataSync)), (2000, 1999));
    let syncs = tally.figures(Op::DataSync).expect("syncs");
    assert_eq!(syncs.bytes, 0);
    assert!(Duration::from_nanos(syncs.response.histogram().min()).abs_diff(4 * MS) < MS / 100);
}

#[test]
fn number_ios_counts_writes_and_the_sync_that_follows_the_last_is_done() {
    let clock = VirtualClock::new();
    let job = Job { fsync: 1, number_ios: Some(10), ..job(Rw::Write, 4) };
    let tally = steady(&job, &clock).run(&window(clock.now(), SECOND)).expect("no failure");
    assert_eq!((ios(&tally, Op::Write), ios(&tally, Op::Sync), tally.complete), (10, 10, true));
}

#[test]
fn end_fsync_is_within_the_figures_of_the_measured_part_and_for_every_image() {
    let clock = VirtualClock::new();
    let lane =
        KnownDelays::new(&clock, 2, |_, io: &Io| Fate::after(if io.op == Op::Sync { 50 * MS } else { MS }));
    let job = Job { end_fsync: true, ..job(Rw::Write, 2) };
    let mut driver = Driver::new(lane, clock.clone(), &job, 0, Common { images: 3, ..common() });
    let ramp = driver.run(&Window { measured: false, ..window(clock.now(), SECOND) }).expect("ramp");
    assert_eq!(ios(&ramp, Op::Sync), 0);
    let tally = driver.run(&window(clock.now(), SECOND)).expect("measured");
    let syncs = tally.figures(Op::Sync).expect("syncs");
    assert_eq!((syncs.ios, syncs.bytes), (3, 0));
    assert!(Duration::from_nanos(syncs.response.histogram().max()).abs_diff(50 * MS) < MS / 10);
    assert_eq!(tally.elapsed, SECOND, "the rate is of the window");
}

#[test]
fn syncing_between_windows_covers_every_image_and_is_timed() {
    let clock = VirtualClock::new();
    let lane = KnownDelays::new(&clock, 2, |_, io: &Io| {
        assert_eq!(io.op, Op::Sync);
        Fate::after(MS * (io.image + 1))
    });
    let mut driver =
        Driver::new(lane, clock.clone(), &job(Rw::Write, 2), 0, Common { images: 4, ..common() });
    // Two at a time: 1 ms and 2 ms, then the third until 4 ms and the fourth until 6 ms.
    assert_eq!(driver.sync(SECOND).expect("no failure"), 6 * MS);
}

#[test]
fn a_failed_or_stuck_sync_is_an_error() {
    let clock = VirtualClock::new();
    let lane = |fate: Fate| KnownDelays::new(&clock, 2, move |_, _: &_| fate);
    let failed = Fate { result: |_| Err(Errno::EROFS), ..Fate::after(MS) };
    let error = driver(lane(failed), clock.clone(), &job(Rw::Write, 2)).sync(SECOND).expect_err("it fails");
    assert!(error.to_string().starts_with("fsync of 0 at offset 0 of image 0: EROFS"), "{error}");
    let begin = clock.now();
    let stuck = driver(lane(Fate::after(NEVER)), clock.clone(), &job(Rw::Write, 2)).sync(SECOND);
    assert!(matches!(stuck, Err(DriveError::Stalled { in_flight: 1, .. })));
    assert_eq!(clock.now() - begin, SECOND);
}

#[test]
fn the_edge_of_a_window_is_in_no_figure_but_its_writes_are_known() {
    let clock = VirtualClock::new();
    let (job, start) = (job(Rw::Write, 4), clock.now());
    let mut driver = steady(&job, &clock);
    let edged = Window { counted_from: start + SECOND / 4, ..window(start, SECOND) };
    let tally = driver.run(&edged).expect("no failure");
    let whole = driver.run(&window(clock.now(), SECOND)).expect("no failure");
    let counted = tally.bytes() + tally.written_in_edge.get();
    assert_eq!((tally.elapsed, tally.edge), (3 * SECOND / 4, SECOND / 4));
    assert_eq!(counted, whole.bytes(), "as much is written, whatever counts");
    assert!(tally.ios().abs_diff(whole.ios() * 3 / 4) <= 4, "{} of {}", tally.ios(), whole.ios());
    let mut sum = tally.clone();
    sum.append(tally.clone());
    assert_eq!((sum.elapsed, sum.edge, sum.ios()), (3 * SECOND / 2, SECOND / 2, 2 * tally.ios()));
}

#[test]
fn threads_of_a_job_add_up() {
    let clock = VirtualClock::new();
    let start: Instant = clock.now();
    let mut whole = steady(&job(Rw::RandRw, 4), &clock).run(&window(start, SECOND)).expect("no failure");
    let clock = VirtualClock::new();
    let other = steady(&job(Rw::RandRw, 2), &clock).run(&window(clock.now(), SECOND)).expect("no failure");
    let (ios, bytes, unfinished) = (whole.ios() + other.ios(), whole.bytes() + other.bytes(), 6);
    whole.merge(other);
    assert_eq!((whole.ios(), whole.bytes(), whole.unfinished), (ios, bytes, unfinished));
    assert_eq!(whole.elapsed, SECOND);
    let figures = [Op::Read, Op::Write].map(|op| whole.figures(op).expect("both").response.len());
    assert_eq!(figures.iter().sum::<u64>(), ios);
}
