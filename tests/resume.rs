//! `cephmark run --resume`: a run that was killed goes on, and ends as one that ran through.

use std::collections::BTreeSet;

use cephmark::result::{ResultFile, Trial};
use nix::sys::signal::Signal;

use crate::support::ceph::TestPool;
use crate::support::cluster::shared;
use crate::support::site::Site;

const PROFILE: &str = "\
version: 1
name: sweep
targets:
  t: {rbd: {pool: POOL, namespace: NAMESPACE, size: 8MiB}, options: {rbd_cache_policy: writethrough}}
workloads:
  w: {rw: randwrite, iodepth: 4}
sweep:
  targets.t.options.rbd_cache_size: [8MiB, 16MiB]
  workloads.w.bs: [4k, 16k]
run: {ramp_time: 0s, runtime: 500ms, repeats: 2, seed: 7}
compare: {metrics: [iops]}
";

/// What tells a trial from the others of a plan, without what was measured.
type Key = (String, Vec<(String, String)>, u32);

fn key(trial: &Trial) -> Key {
    (trial.arm.clone(), trial.settings.clone().into_iter().collect(), trial.repeat)
}

fn keys(result: &ResultFile) -> Vec<Key> {
    result.trials.iter().map(key).collect()
}

#[test]
fn a_killed_sweep_that_is_resumed_has_the_trials_of_one_that_ran_through() {
    let pool = TestPool::new(shared());
    let site = Site::in_pool(shared(), &pool.name);
    let profile = PROFILE.replace("POOL", &pool.name);
    site.run(&profile, &[]).success();
    let through = site.result();
    std::fs::rename(site.path("out"), site.path("through")).expect("results");

    let mut running = site.start(&profile, &[]);
    running.wait_for("[3/8]");
    running.signal(Signal::SIGKILL);
    assert_eq!(running.end().status.code(), None);
    let half = site.result();
    assert!(half.finished.is_none());
    assert!((2..8).contains(&half.trials.len()), "{} trials are over", half.trials.len());

    let end = site.cephmark(&["run", "--resume", "out"]);
    end.success();
    let resumed = site.result();
    assert_eq!(keys(&resumed), keys(&through), "the same trials, in the same order");
    assert_eq!(resumed.trials[..half.trials.len()], half.trials[..], "what was over is kept");
    assert_eq!((resumed.seed, resumed.planned_trials), (7, 8));
    assert_eq!(resumed.profile, through.profile);
    assert!(resumed.finished.is_some());
    assert_eq!(resumed.comparisons.len(), through.comparisons.len());
    assert!(resumed.notes.iter().any(|note| note.code == "resumed"), "{:?}", resumed.notes);
    assert!(end.stdout.contains("t[rbd_cache_size=16MiB]"), "{}", end.stdout);
    assert!(end.stdout.contains("w by rbd_cache_size"), "{}", end.stdout);

    let again = site.cephmark(&["run", "--resume", "out"]);
    again.success();
    assert!(
        again.stderr.contains(&"every planned trial is there: nothing was left to do".to_owned()),
        "{again:#?}"
    );
    assert_eq!(site.result(), resumed, "a finished run is left as it is");
    site.forget_clients();
    site.cephmark(&["clean", "--pool", &pool.name, "--yes"]).success();
    site.assert_no_images();
}

#[test]
fn a_resumed_run_repeats_what_was_not_valid_and_only_that() {
    let site = Site::on(shared());
    let profile = PROFILE.replace("pool: POOL, ", "");
    site.run(&profile, &["run.repeats=1"]).success();
    let mut result = site.result();
    let planned: BTreeSet<Key> = keys(&result).into_iter().collect();
    let lost = result.trials.remove(1);
    result.trials[2].status = cephmark::result::Status::Invalid;
    let disturbed = key(&result.trials[2]);
    result.finished = None;
    result.save(&site.path("out")).expect("results");
    site.cephmark(&["run", "--resume", "out"]).success();
    let resumed = site.result();
    assert_eq!(resumed.trials.len(), 5);
    assert_eq!(resumed.trials[..3], result.trials[..]);
    let new: BTreeSet<Key> = resumed.trials[3..].iter().map(key).collect();
    assert_eq!(new, BTreeSet::from([key(&lost), disturbed.clone()]));
    let attempts: Vec<u32> =
        resumed.trials.iter().filter(|trial| key(trial) == disturbed).map(|trial| trial.attempt).collect();
    assert_eq!(attempts, [0, 1]);
    assert_eq!(keys(&resumed).into_iter().collect::<BTreeSet<_>>(), planned);
    site.assert_clean();
}

#[test]
fn a_run_on_another_cluster_is_not_resumed() {
    let site = Site::on(shared());
    let profile = PROFILE.replace("pool: POOL, ", "");
    site.run(&profile, &["run.repeats=1"]).success();
    let mut result = site.result();
    result.trials.truncate(1);
    result.finished = None;
    result.cluster.as_mut().expect("a cluster").fsid = "another".to_owned();
    result.save(&site.path("out")).expect("results");
    site.cephmark(&["run", "--resume", "out"]).refused(3, &["interrupted on cluster another"]);
    assert_eq!(site.result(), result);
    site.assert_clean();
}

#[test]
fn there_must_be_something_to_resume() {
    let site = Site::on(shared());
    site.cephmark(&["run", "--resume", "nowhere"]).refused(2, &["can't read nowhere"]);
    let end = site.cephmark(&["run", "p.yaml", "--resume", "nowhere"]);
    assert_eq!(end.status.code(), Some(2));
}
