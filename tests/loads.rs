//! The load as the profile shapes it: threads, jobs side by side, rates, handles and connections.

use std::collections::BTreeSet;
use std::fs;

use cephmark::ceph::View;
use cephmark::result::Trial;

use crate::support::cluster::shared;
use crate::support::site::{PROFILE, Running, Site};

#[track_caller]
fn trial(site: &Site<'_>, sets: &[&str]) -> Trial {
    site.run(PROFILE, sets).success();
    site.result().trials.remove(0)
}

/// How many threads of a process have this name.
fn threads(running: &Running, name: &str) -> usize {
    let tasks = fs::read_dir(format!("/proc/{}/task", running.pid())).expect("it runs").flatten();
    let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|found| found.trim() == name).count()
}

#[test]
fn numjobs_is_that_many_threads_each_with_its_own_depth() {
    let site = Site::on(shared());
    let mut running = site.start(PROFILE, &["workloads.w.numjobs=3", "run.runtime=2s"]);
    running.wait_for("measuring");
    assert_eq!(threads(&running, "load"), 3);
    running.end().success();
    // What is in flight when the time is over is more than one thread can have.
    let unfinished = site.result().trials[0].checks[""].unfinished;
    assert!((5..=12).contains(&unfinished), "{unfinished}");
}

#[test]
fn named_jobs_are_measured_over_one_common_window() {
    let site = Site::on(shared());
    let jobs =
        "workloads.w={jobs: {data: {rw: randread, iodepth: 4, numjobs: 2}, redo: {rw: write, fdatasync: 1}}}";
    let trial = trial(&site, &[jobs, "run.runtime=3s", "run.ramp_time=1s"]);
    assert_eq!(trial.jobs.keys().collect::<Vec<_>>(), ["data", "redo"]);
    assert_eq!(trial.jobs["data"].keys().collect::<Vec<_>>(), ["read"]);
    assert_eq!(trial.jobs["redo"].keys().collect::<Vec<_>>(), ["fdatasync", "write"]);
    assert!((trial.measured_s - 3.0).abs() < 0.001, "{}", trial.measured_s);
    for (job, ops) in &trial.jobs {
        let seconds: BTreeSet<String> = trial
            .series
            .iter()
            .filter(|point| point.job == *job)
            .map(|point| format!("{:.3}", point.t_s))
            .collect();
        assert_eq!(seconds.into_iter().collect::<Vec<_>>(), ["1.000", "2.000", "3.000"], "{job}");
        for (op, figures) in ops {
            // The series has what the figures have: nothing of the ramp, nothing after the end.
            let points = trial.series.iter().filter(|point| (&point.job, &point.op) == (job, op));
            let ios: f64 = points.map(|point| point.iops).sum();
            assert!((ios - figures.ios as f64).abs() < 1.0, "{job} {op}: {ios} and {}", figures.ios);
            assert!((figures.iops - figures.ios as f64 / 3.0).abs() < 1.0, "{job} {op}");
        }
    }
    let redo = &trial.jobs["redo"];
    assert!(redo["write"].ios.abs_diff(redo["fdatasync"].ios) <= 1, "each write is synced");
}

#[test]
fn an_open_loop_keeps_its_rate() {
    let site = Site::on(shared());
    let load = "workloads.w={rw: randread, iodepth: 64, numjobs: 2, rate_iops: 50}";
    let trial = trial(&site, &[load, "run.runtime=5s", "run.ramp_time=1s"]);
    let (figures, checks) = (&trial.jobs[""]["read"], &trial.checks[""]);
    // What was due just before the end may come back after it.
    let sent = (figures.ios + checks.unfinished) as f64 / trial.measured_s;
    assert!((sent - 100.0).abs() <= 2.0, "{sent} a second, not 2 x 50");
    assert!((figures.iops - 100.0).abs() <= 5.0, "{}", figures.iops);
    assert!(checks.unsent == 0 && checks.lateness_ns.is_some(), "{checks:?}");
}

#[test]
fn a_rate_beyond_what_the_cluster_gives_is_told_by_what_was_not_sent() {
    let site = Site::on(shared());
    let trial = trial(&site, &["workloads.w={rw: randwrite, iodepth: 1, rate_iops: 1000000}"]);
    assert!(trial.checks[""].unsent > 100_000, "{:?}", trial.checks);
    assert!(trial.problems.iter().any(|problem| problem.code == "unsent"), "{:?}", trial.problems);
    // Response counts from when an I/O was due, service from when it was sent.
    let figures = &trial.jobs[""]["write"];
    assert!(figures.latency_ns.p50 > figures.service_ns.p50.map(|p50| 10 * p50), "{figures:?}");
}

#[test]
fn a_trial_ends_early_at_its_number_of_ios() {
    let site = Site::on(shared());
    let trial = trial(&site, &["workloads.w.number_ios=100", "workloads.w.numjobs=2", "run.runtime=60s"]);
    assert_eq!(trial.jobs[""]["write"].ios, 200);
    assert!(trial.measured_s < 30.0, "{}", trial.measured_s);
}

#[test]
fn handles_and_connections_are_shared_unless_each_job_is_to_have_its_own() {
    let site = Site::on(shared());
    // Who has an image open for writing watches it: one watch for each handle, and one of the run itself.
    let watchers = |sharing: &str| {
        let target = format!(
            "targets.t={{rbd: {{namespace: NAMESPACE, size: 16MiB, features: [layering]}}, {sharing}}}"
        );
        let pool = site.pool();
        let mut running = site.start(PROFILE, &[&target, "workloads.w.numjobs=2", "run.runtime=2s"]);
        running.wait_for("measuring");
        let image = pool.image(&pool.images().expect("a list")[0], View::Read).expect("the image");
        let watchers = image.watchers().expect("a list");
        running.end().success();
        fs::remove_dir_all(site.path("out")).expect("the results");
        let clients: BTreeSet<u64> = watchers.iter().map(|watcher| watcher.client).collect();
        (watchers.len() - 1, clients.len() - 1)
    };
    assert_eq!(watchers("handles: shared"), (1, 1));
    assert_eq!(watchers("handles: per_job"), (2, 1));
    assert_eq!(watchers("handles: per_job, connections: per_job"), (2, 2));
}
