//! A cluster that is disturbed while it is measured: what becomes of the trial, and of the run.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use cephmark::exit::Exit;
use cephmark::lab::{Cluster, Watcher};
use cephmark::plan::Plan;
use cephmark::profile::Profile;
use cephmark::report::{Event, Phase};
use cephmark::result::{ResultFile, Status, Trial};
use cephmark::run::{self, Events};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use crate::support::ceph::tool;
use crate::support::cluster::KeptLab;

/// Codes of everything that the watch may find.
const FOUND_BY_WATCH: [&str; 13] = [
    "osd_down",
    "osd_out",
    "osd_back",
    "mon_down",
    "full",
    "backfillfull",
    "nearfull",
    "pgs_not_clean",
    "recovery",
    "watch_lost",
    "slow_ops",
    "scrub",
    "no_manager",
];

/// A lab that survives the loss of an OSD.
fn start() -> (KeptLab, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let two = ["--osds", "2", "--replicas", "2", "--size", "1GiB", "--conf", "mon/mon_mgr_beacon_grace=4"];
    (KeptLab::start(&directory.path().join("lab"), &two), directory)
}

/// A run of random writes and its exit code; `each` is called with every event, on a thread of its own.
fn run(lab: &Cluster, set: &[&str], mut each: impl FnMut(&Event) + Send) -> (ResultFile, Exit) {
    let profile = "
version: 1
name: watched
targets: {t: {rbd: {size: 32MiB}, options: {rbd_cache: false}}}
workloads: {w: {rw: randwrite, bs: 4k, iodepth: 4}}
run: {ramp_time: 0s, runtime: 3s, repeats: 1, retries: 3}
";
    let conf = format!("cluster.conf={}", lab.conf().display());
    let set: Vec<String> = set.iter().map(|set| (*set).to_owned()).chain([conf]).collect();
    let plan = Plan::new(&Profile::parse("watched.yaml", profile, &set).expect("a profile")).expect("a plan");
    let out = tempfile::tempdir().expect("a temporary directory");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (sender, mut receiver) = unbounded_channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            while let Some(event) = receiver.blocking_recv() {
                each(&event)
            }
        });
        let events = Events::to(sender);
        let ran = runtime.block_on(run::run(&plan, Some(out.path()), &events, &CancellationToken::new()));
        let (result, outcome, _) = ran.expect("the run begins");
        (result, outcome.expect("the run ends by itself"))
    })
}

fn wait_for(mut done: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < until, "it does not come about");
        thread::sleep(Duration::from_millis(200));
    }
}

fn codes(trial: &Trial) -> Vec<&str> {
    let codes = trial.problems.iter().map(|problem| problem.code.as_str());
    codes.filter(|code| FOUND_BY_WATCH.contains(code)).collect()
}

/// How often the monitor was sent each command of ours so far; `ceph` writes them in another way.
fn commands(lab: &Cluster, prefix: &str) -> usize {
    let log = fs::read_to_string(lab.dir().join("log/mon.a.log")).expect("the monitor has a log");
    log.matches(&format!("cmd=[{{\"prefix\":\"{prefix}\",\"format\":\"json\"}}]: dispatch")).count()
}

fn in_peace(lab: &Cluster) {
    let (began, before) = (Instant::now(), [commands(lab, "status"), commands(lab, "osd dump")]);
    let (result, exit) = run(lab, &[], |_| ());
    let seconds = began.elapsed().as_secs() as usize;
    let [status, dumps] = [commands(lab, "status") - before[0], commands(lab, "osd dump") - before[1]];
    assert_eq!((exit, result.trials.len(), codes(&result.trials[0])), (Exit::Success, 1, vec![]));
    assert!((4..seconds + 4).contains(&status), "{status} looks in {seconds} s");
    assert!(dumps <= 5, "{dumps} maps for a cluster that does not change");
}

fn an_osd_restarts(lab: &Cluster) {
    let mut restarted = false;
    let (result, exit) = run(lab, &[], |event| {
        if matches!(event, Event::Phase(Phase::Measure, _)) && !std::mem::replace(&mut restarted, true) {
            lab.daemon("osd.1").and_then(|osd| osd.restart()).expect("it restarts");
        }
    });
    let first = &result.trials[0];
    assert_eq!((first.attempt, first.status), (0, Status::Invalid));
    let problem = &first.problems[0];
    assert_eq!(problem.code, "osd_down", "{:?}", first.problems);
    assert!(problem.text.starts_with("osd.1 ") && problem.text.ends_with(" s into the trial"), "{problem:?}");
    let last = result.trials.last().expect("its repeat");
    assert_eq!((last.repeat, last.status, codes(last)), (0, Status::Valid, vec![]));
    assert!(last.attempt > 0 && last.jobs[""]["write"].ios > 0);
    assert_eq!(exit, Exit::Success);
}

/// A run on an image that exists, for one that would fill a cluster which is nearly full does not begin.
fn a_pool_is_nearly_full_at_first(lab: &Cluster) {
    tool(lab, "rbd", &["create", "--size", "32M", "rbd/vol"]);
    tool(lab, "ceph", &["osd", "set-nearfull-ratio", "0.00001"]);
    wait_for(|| tool(lab, "ceph", &["osd", "dump"]).contains("hashpspool,nearfull"));
    let existing = "targets.t={rbd: {image: rbd/vol}, destroys_data: true}";
    let mut said = Vec::new();
    let (result, exit) = run(lab, &[existing], |event| {
        if let Event::Message(text) = event {
            said.push(text.clone());
            tool(lab, "ceph", &["osd", "set-nearfull-ratio", "0.85"]);
        }
    });
    assert_eq!(said, ["waiting for a clean cluster: pool rbd nearfull"]);
    assert_eq!((exit, result.trials.len(), codes(&result.trials[0])), (Exit::Success, 1, vec![]));
}

fn the_manager_dies(lab: &Cluster) {
    lab.daemon("mgr.x").and_then(|manager| manager.kill()).expect("it dies");
    wait_for(|| !tool(lab, "ceph", &["status", "-f", "json"]).contains("\"available\":true"));
    let (result, exit) = run(lab, &[], |_| ());
    assert_eq!((exit, result.trials.len(), codes(&result.trials[0])), (Exit::Success, 1, vec!["no_manager"]));
    lab.daemon("mgr.x").and_then(|manager| manager.start()).expect("it starts");
    lab.wait_until_ready(Duration::from_secs(60), &Watcher::silent()).expect("the lab is well again");
}

fn the_monitor_is_silent(lab: &Cluster) {
    let mut silenced = false;
    let (result, exit) = run(lab, &[], |event| {
        if matches!(event, Event::Phase(Phase::Measure, _)) && !std::mem::replace(&mut silenced, true) {
            let monitor = lab.daemon("mon.a").expect("the lab has one");
            monitor.pause().expect("it runs");
            thread::sleep(Duration::from_secs(9));
            monitor.resume().expect("it is there");
        }
    });
    let first = &result.trials[0];
    assert_eq!((first.status, codes(first)), (Status::Invalid, vec!["watch_lost"]), "{:?}", first.problems);
    let last = result.trials.last().expect("its repeat");
    assert_eq!((exit, last.status, codes(last)), (Exit::Success, Status::Valid, vec![]));
}

/// One lab for all, one after the other: each leaves it well.
#[test]
fn a_disturbed_trial_is_invalid_and_repeated_and_a_dead_manager_disturbs_nobody() {
    let (lab, _directory) = start();
    in_peace(&lab);
    an_osd_restarts(&lab);
    the_monitor_is_silent(&lab);
    the_manager_dies(&lab);
    a_pool_is_nearly_full_at_first(&lab);
}
