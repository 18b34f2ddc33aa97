//! What is measured is true: latencies against known delays on a virtual clock, and live against a thread.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use cephmark::clock::{Clock as _, Monotonic};
use cephmark::lane::Op;
use cephmark::measure::{Latencies, Tally};
use cephmark::plan::{Job, Pace, Rw};
use cephmark::result::LatencyNs;
use cephmark::units::Rate;

use crate::delay_thread::DelayThread;
use crate::stage::{driver, job, window};
use crate::virtual_time::{Fate, KnownDelays, VirtualClock};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

fn rate(per_second: f64) -> Rate {
    Rate::per_second(per_second).expect("above 0")
}

/// Runs a job for `length` on a lane with these delays, by the time since the start.
fn measure(job: &Job, length: Duration, mut delay: impl FnMut(Duration) -> Duration) -> Tally {
    let clock = VirtualClock::new();
    let lane = KnownDelays::new(&clock, job.iodepth, move |now, _: &_| Fate::after(delay(now)));
    driver(lane, clock.clone(), job).run(&window(clock.now(), length)).expect("the lane does not fail")
}

/// The figures as a result file has them.
fn told(latencies: &Latencies) -> LatencyNs {
    LatencyNs::of(latencies.histogram())
}

fn assert_close(found_ns: Option<u64>, wanted: Duration, what: &str) {
    let found = found_ns.map(Duration::from_nanos).unwrap_or_else(|| panic!("{what}: too few samples"));
    let off = found.abs_diff(wanted);
    assert!(off <= wanted / 1000 + Duration::from_nanos(1), "{what}: {found:?}, not {wanted:?}");
}

/// Compares every figure of a distribution with the samples it was made of.
fn assert_true(found: &Latencies, mut samples: Vec<Duration>) {
    samples.sort_unstable();
    let count = samples.len();
    assert_eq!(found.len(), count as u64);
    let mean = samples.iter().map(Duration::as_secs_f64).sum::<f64>() / count as f64;
    let variance = samples.iter().map(|s| (s.as_secs_f64() - mean).powi(2)).sum::<f64>() / count as f64;
    let told = told(found);
    let rounded = |figure: Option<f64>| figure.map(|ns| ns.round() as u64);
    assert_close(rounded(told.mean), Duration::from_secs_f64(mean), "mean");
    assert_close(rounded(told.stddev), Duration::from_secs_f64(variance.sqrt()), "stddev");
    assert_close(told.min, samples[0], "min");
    assert_close(told.max, samples[count - 1], "max");
    let percentiles = [
        (50.0, told.p50),
        (90.0, told.p90),
        (95.0, told.p95),
        (99.0, told.p99),
        (99.9, told.p99_9),
        (99.99, told.p99_99),
    ];
    for (percent, found) in percentiles.into_iter().filter(|(p, _)| count as f64 * (100.0 - p) > 1000.0) {
        let rank = (count as f64 * percent / 100.0).ceil() as usize;
        assert_close(found, samples[rank - 1], &format!("p{percent}"));
    }
}

/// Delays as a storage cluster has them: most around a millisecond, and a long tail.
fn skewed_delays(seed: u64) -> impl FnMut() -> Duration {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let uniform = ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        Duration::from_nanos((300_000.0 + 400_000.0 / uniform.powf(0.6)) as u64)
    }
}

#[test]
fn a_closed_loop_tells_mean_and_percentiles_of_known_delays_to_three_digits() {
    for iodepth in [1, 32] {
        let (clock, mut delay) = (VirtualClock::new(), skewed_delays(5));
        let sent = Rc::new(RefCell::new(Vec::new()));
        let log = Rc::clone(&sent);
        let lane = KnownDelays::new(&clock, iodepth, move |now, _: &_| {
            let delay = delay();
            log.borrow_mut().push((now, delay));
            Fate::after(delay)
        });
        let length = 300 * SECOND;
        let tally = driver(lane, clock.clone(), &job(Rw::RandRead, iodepth))
            .run(&window(clock.now(), length))
            .expect("the lane does not fail");
        let sent = sent.borrow();
        let counted = sent.iter().filter(|(at, delay)| *at + *delay < length).map(|(_, delay)| *delay);
        let reads = tally.figures(Op::Read).expect("reads");
        assert_true(&reads.response, counted.collect());
        assert_eq!(reads.service(), &reads.response);
        assert_eq!(tally.unfinished, u64::from(iodepth));
        assert_eq!((tally.elapsed, tally.unsent, &tally.lateness), (length, 0, &None));
    }
}

#[test]
fn an_open_loop_counts_from_when_an_io_was_due() {
    // One at a time of 2 ms each, and one is due every millisecond: each waits a millisecond longer than the last.
    let job = Job { pace: Pace::Linear(rate(1000.0)), ..job(Rw::RandRead, 1) };
    let tally = measure(&job, 10 * SECOND, |_| 2 * MS);
    let reads = tally.figures(Op::Read).expect("reads");
    assert_true(&reads.response, (0..4999).map(|n| (n + 2) * MS).collect());
    assert_true(reads.service(), vec![2 * MS; 4999]);
    // The last completes on the very end of the window, which is not within it.
    assert_eq!((tally.unfinished, tally.unsent), (1, 5000));
    assert_eq!(tally.unfinished_oldest, 2 * MS);
}

#[test]
fn a_stall_shows_in_the_response_time_of_a_fixed_rate_and_not_in_the_service_time() {
    let stall = 10 * SECOND..11 * SECOND;
    let in_stall = |now: Duration| if stall.contains(&now) { stall.end - now + MS } else { MS };
    let job = Job { pace: Pace::Linear(rate(1000.0)), ..job(Rw::RandRead, 4) };
    let tally = measure(&job, 30 * SECOND, in_stall);
    let reads = tally.figures(Op::Read).expect("reads");
    // A thousand were due within the stall. Then 4 I/Os end each ms and one is due, so each waits 0.75 ms less than the
    // one before, and the 99th percentile of 30,000 is the 300th from the worst.
    assert_close(told(&reads.response).p99, Duration::from_micros(776_000), "p99 of response");
    assert_close(told(reads.service()).p99, MS, "p99 of service");
    assert_close(told(&reads.response).max, SECOND + MS, "max");
    assert_eq!(tally.unsent, 0, "it has caught up");
}

#[test]
fn a_closed_loop_hides_that_stall_as_every_closed_loop_does() {
    let stall = 10 * SECOND..11 * SECOND;
    let in_stall = |now: Duration| if stall.contains(&now) { stall.end - now + MS } else { MS };
    let tally = measure(&job(Rw::RandRead, 4), 30 * SECOND, in_stall);
    assert_close(told(&tally.figures(Op::Read).expect("reads").response).p99, MS, "p99");
}

#[test]
fn poisson_arrivals_at_one_server_wait_as_queueing_theory_says() {
    for load in [0.3, 0.7] {
        let job = Job { pace: Pace::Poisson(rate(load * 1000.0)), ..job(Rw::RandRead, 1) };
        let tally = measure(&job, 2000 * SECOND, |_| MS);
        let mean = told(&tally.figures(Op::Read).expect("reads").response).mean.expect("samples");
        let mean = Duration::from_nanos(mean as u64);
        // M/D/1: the mean wait is load / (2 (1 - load)) service times.
        let wanted = MS.mul_f64(1.0 + load / (2.0 * (1.0 - load)));
        assert!(mean.abs_diff(wanted) < wanted / 50, "{mean:?}, not {wanted:?}");
    }
}

#[test]
fn an_io_that_is_sent_late_with_a_slot_free_is_our_own_lateness() {
    let clock = VirtualClock::new();
    let mut pushes = 0;
    let lane = KnownDelays::new(&clock, 8, move |_, _: &_| {
        pushes += 1;
        Fate { push: if pushes == 500 { 5 * MS } else { Duration::ZERO }, ..Fate::after(MS / 2) }
    });
    let job = Job { pace: Pace::Linear(rate(1000.0)), ..job(Rw::RandRead, 8) };
    let tally = driver(lane, clock.clone(), &job).run(&window(clock.now(), SECOND)).expect("no failure");
    let lateness = tally.lateness.as_ref().expect("an open loop");
    assert_eq!(lateness.len(), 1000);
    assert_close(told(lateness).max, 4 * MS, "the one due 1 ms into the push");
    assert_eq!(told(lateness).p99, Some(0));
    // The push's time is in the service time of the I/O that was pushed.
    assert_close(
        told(tally.figures(Op::Read).expect("reads").service()).max,
        5 * MS + MS / 2,
        "the one pushed",
    );
}

#[test]
fn waiting_for_a_slot_is_not_our_lateness() {
    let job = Job { pace: Pace::Linear(rate(1000.0)), ..job(Rw::RandRead, 1) };
    let tally = measure(&job, SECOND, |_| 2 * MS);
    assert_eq!(tally.lateness.as_ref().and_then(|lateness| told(lateness).max), Some(0));
}

#[test]
fn live_latencies_are_within_100_us_of_a_thread_that_completes_after_a_known_time() {
    // Other work on the machine delays our threads; one of many short rounds must go by without.
    const ROUNDS: u32 = 100;
    let off_by = |delay: Duration| {
        let mut driver = driver(DelayThread::new(delay), Monotonic::new(), &job(Rw::RandRead, 4));
        let tally = driver.run(&window(Instant::now(), 20 * delay)).expect("no failure");
        let mut truth = driver.finish().delays();
        truth.sort_unstable();
        // A round that was held up has too few I/Os for a median.
        let found = Duration::from_nanos(told(&tally.figures(Op::Read).expect("reads").response).p50?);
        assert!(found >= delay, "{found:?} is shorter than {delay:?}");
        Some(found.abs_diff(truth[truth.len() / 2]))
    };
    for delay in [MS / 2, 5 * MS] {
        let best = (0..ROUNDS).filter_map(|_| off_by(delay)).find(|off| *off < Duration::from_micros(100));
        assert!(best.is_some(), "no round of {ROUNDS} with {delay:?} was within 100 us");
    }
}
