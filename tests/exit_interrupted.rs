//! Exit code 130: SIGINT, SIGTERM or SIGHUP. Whatever was under way stops, what cephmark made is removed, and every trial that
//! was over by then stays in the result.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use cephmark::result::Status;
use nix::sys::signal::Signal;

use crate::support::cluster::shared;
use crate::support::faults::{StoppedOsd, hurt};
use crate::support::site::{PROFILE, Running, Site};

/// A trial that is over soon, then one that is not.
const TWO_TRIALS: &str = "\
version: 1
name: test
targets:
  a: {rbd: {namespace: NAMESPACE, size: 16MiB}, options: {rbd_cache: false}}
  b: {rbd: {namespace: NAMESPACE, size: 128MiB}, options: {rbd_cache: false}}
workloads:
  w: {rw: randrw, bs: 4k, iodepth: 4}
run: {ramp_time: 0s, runtime: 1s, repeats: 1, order: sequential}
";

/// Sends the signal, and asserts that the first trial is all that is left.
#[track_caller]
fn ends_after_the_first_trial(site: &Site<'_>, running: Running, signal: Signal) {
    let begin = Instant::now();
    running.signal(signal);
    running.end().fails(130, &["interrupted"]);
    assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
    let result = site.result();
    let trials: Vec<_> = result.trials.iter().map(|trial| (trial.arm.as_str(), trial.status)).collect();
    assert_eq!(trials, [("a", Status::Valid)]);
    assert!(result.finished.is_some() && result.planned_trials == 2);
    site.assert_clean();
}

/// Asserts that `cephmark clean` removes what was left behind, once the client that died does not count as alive any more.
#[track_caller]
fn is_cleaned(site: &Site<'_>) {
    site.forget_clients();
    site.cephmark(&["clean", "--pool", "rbd", "--yes"]).success();
    site.assert_clean();
}

#[test]
fn in_the_measured_part_by_ctrl_c() {
    let site = Site::on(shared());
    let profile = TWO_TRIALS.replace("{rw: randrw, bs: 4k, iodepth: 4}", "{rw: randrw, runtime: 2s}");
    let mut running = site.start(&profile, &[]);
    running.wait_for("b w: measuring");
    ends_after_the_first_trial(&site, running, Signal::SIGINT);
}

#[test]
fn in_the_ramp_by_sigterm() {
    let site = Site::on(shared());
    let mut running = site.start(TWO_TRIALS, &["run.ramp_time=2s"]);
    running.wait_for("b w: ramp");
    ends_after_the_first_trial(&site, running, Signal::SIGTERM);
}

#[test]
fn in_the_measured_part_by_a_lost_terminal_of_which_kernel_and_shell_tell() {
    let site = Site::on(shared());
    let mut running = site.start(TWO_TRIALS, &["run.runtime=2s"]);
    running.wait_for("b w: measuring");
    running.signal(Signal::SIGHUP);
    thread::sleep(Duration::from_millis(50));
    ends_after_the_first_trial(&site, running, Signal::SIGHUP);
}

#[test]
fn in_the_fill_by_sigterm() {
    let site = Site::on(shared());
    let conf = fs::read_to_string(site.lab.conf()).expect("the lab's ceph.conf");
    let slow = "rbd_qos_write_bps_limit = 16777216";
    fs::write(site.path("ceph.conf"), format!("{conf}\n[client]\n{slow}\n")).expect("a ceph.conf");
    let mut running = site.start(TWO_TRIALS, &["cluster.conf=ceph.conf"]);
    running.wait_for("] a w:");
    running.wait_for("filling");
    ends_after_the_first_trial(&site, running, Signal::SIGTERM);
}

#[test]
fn before_the_first_trial_is_over_there_is_nothing_to_keep() {
    let site = Site::on(shared());
    let mut running = site.start(PROFILE, &["run.ramp_time=60s"]);
    running.wait_for("ramp");
    running.signal(Signal::SIGINT);
    running.end().fails(130, &["interrupted"]);
    site.assert_untouched();
}

#[test]
fn io_that_is_stuck_is_given_up_soon_after_a_signal_and_what_is_left_is_named() {
    let lab = hurt();
    let site = Site::on(&lab);
    let mut running = site.start(PROFILE, &["run.runtime=60s", "run.stall=60s", "cluster.timeout=3s"]);
    running.wait_for("measuring");
    let stopped = StoppedOsd::of(&lab);
    thread::sleep(Duration::from_secs(1));
    let begin = Instant::now();
    running.signal(Signal::SIGTERM);
    running.wait_for("interrupted: waiting for I/O in flight, for at most 10s; once more to leave at once");
    assert!(begin.elapsed() < Duration::from_secs(1), "it is told at once: {:?}", begin.elapsed());
    let end = running.end();
    let took = begin.elapsed();
    end.fails(130, &["interrupted", "was given up", "4 in flight"]);
    assert!(took < Duration::from_secs(25), "{took:?}: {end:#?}");
    drop(stopped);
    let [image] = &site.images()[..] else { panic!("one image is left behind") };
    let named = format!("{} is left behind", site.image(image));
    assert!(end.stderr.iter().any(|line| line.contains(&named)), "{named}: {end:#?}");
    is_cleaned(&site);
}

#[test]
fn a_flush_that_is_stuck_is_given_up_soon_after_a_signal() {
    let lab = hurt();
    let site = Site::on(&lab);
    // Under write-around a write to a block that is on its way would wait.
    let options = "rbd_cache: true, rbd_cache_policy: writeback, rbd_cache_writethrough_until_flush: false";
    let cached = PROFILE.replace("rbd_cache: false", options);
    let cached = cached.replace("iodepth: 4", "iodepth: 1, rate_iops: 20");
    let mut running = site.start(&cached, &["run.runtime=3s", "run.stall=60s", "cluster.timeout=3s"]);
    running.wait_for("measuring");
    let stopped = StoppedOsd::of(&lab);
    // The window is over by then, and its writes are in the cache.
    thread::sleep(Duration::from_secs(5));
    let begin = Instant::now();
    running.signal(Signal::SIGTERM);
    running.wait_for("interrupted: waiting for I/O in flight");
    let end = running.end();
    end.fails(130, &["was given up", "flushing"]);
    assert!(begin.elapsed() < Duration::from_secs(25), "{:?}: {end:#?}", begin.elapsed());
    drop(stopped);
    is_cleaned(&site);
}

#[test]
fn a_second_signal_ends_it_at_once_also_when_the_cluster_is_stuck() {
    let lab = hurt();
    let site = Site::on(&lab);
    let mut running = site.start(PROFILE, &["run.runtime=60s"]);
    running.wait_for("measuring");
    let stopped = StoppedOsd::of(&lab);
    running.signal(Signal::SIGINT);
    thread::sleep(Duration::from_secs(1));
    let begin = Instant::now();
    running.signal(Signal::SIGINT);
    let end = running.end();
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    assert_eq!(end.status.code(), Some(130), "{end:#?}");
    assert!(end.stderr.last().is_some_and(|line| line.contains("`cephmark clean` finds them")), "{end:#?}");
    drop(stopped);
    is_cleaned(&site);
}

#[test]
fn a_lab_that_was_started_for_the_run_goes_with_it() {
    let site = Site::on(shared());
    interrupt_with_a_lab(&site, 1);
    site.assert_untouched();
}

#[test]
fn a_lab_that_was_started_for_the_run_goes_with_it_also_at_once() {
    let site = Site::on(shared());
    interrupt_with_a_lab(&site, 2);
    site.assert_clean();
}

/// Runs on a lab of its own, and sends so many signals while it is measured.
#[track_caller]
fn interrupt_with_a_lab(site: &Site<'_>, signals: u32) {
    site.write(&PROFILE.replace("namespace: NAMESPACE, ", ""));
    let command = site.command(&["run", "--lab", "profile.yaml", "--out", "out", "--set", "run.runtime=60s"]);
    let mut running = Running::start(command);
    running.wait_for("measuring");
    for _ in 0..signals {
        running.signal(Signal::SIGINT);
        thread::sleep(Duration::from_millis(20));
    }
    let end = running.end();
    assert_eq!(end.status.code(), Some(130), "{end:#?}");
    assert!(!is_told_to_anybody(&site.path("tmp")), "daemons of the lab are left");
}

/// Whether the command line of any process names this directory.
fn is_told_to_anybody(directory: &Path) -> bool {
    let directory = directory.to_string_lossy().into_owned();
    let processes = fs::read_dir("/proc").expect("proc").flatten();
    let mut command_lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    command_lines.any(|arguments| String::from_utf8_lossy(&arguments).contains(&directory))
}
