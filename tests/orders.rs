//! Arms that take turns within a trial, and runs that repeat until they know, on a cluster.

use cephmark::result::{Metric, Order, Trial, Verdict};

use crate::support::cluster::shared;
use crate::support::site::Site;

/// The same load with a cache and without one.
const PROFILE: &str = "\
version: 1
name: orders
targets:
  uncached: {rbd: {namespace: NAMESPACE, size: 16MiB}, options: {rbd_cache: false}}
  cached: {rbd: {namespace: NAMESPACE, size: 16MiB}, options: {rbd_cache: true, rbd_cache_policy: writeback}}
workloads:
  w: {rw: randwrite, bs: 4k, iodepth: 4}
run: {ramp_time: 0s, runtime: 2s, repeats: 1, order: sliced, slice: 500ms}
compare: {baseline: uncached, metrics: [mean]}
";

#[test]
fn sliced_arms_have_a_slice_in_each_round_and_pay_for_what_they_cached() {
    let site = Site::on(shared());
    site.run(PROFILE, &[]).success();
    let result = site.result();
    assert_eq!((result.order, result.trials.len()), (Order::Sliced, 2));
    for trial in &result.trials {
        let rounds: Vec<u32> = trial.slices.iter().map(|slice| slice.round).collect();
        assert_eq!(rounds, [0, 1, 2, 3], "{}", trial.arm);
        let ios: u64 = trial.slices.iter().map(|slice| slice.jobs[""]["write"].ios).sum();
        assert_eq!(trial.jobs[""]["write"].ios, ios);
        let drain: f64 = trial.slices.iter().filter_map(|slice| slice.drain_s).sum();
        assert!((trial.drain_s.expect("it writes") - drain).abs() < 1e-6);
        assert!((trial.measured_s - 4.0 * 0.45).abs() < 0.02, "edges are left out: {}", trial.measured_s);
    }
    let arm = |name: &str| result.trials.iter().find(|trial| trial.arm == name).expect("the arm");
    let begins = |trial: &Trial| trial.slices.iter().map(|slice| slice.begin_s).collect::<Vec<_>>();
    for (own, other) in begins(arm("cached")).iter().zip(&begins(arm("uncached"))) {
        assert!((own - other).abs() >= 0.5, "they alternate: {own} {other}");
    }
    let cached = arm("cached");
    assert!(cached.drain_s > arm("uncached").drain_s, "the cache owed something");
    let rate = cached.jobs[""]["write"].bytes_per_s;
    assert!(cached.effective_bytes_per_s.expect("it writes") < rate, "{cached:?}");
    site.assert_clean();
}

#[test]
fn a_run_repeats_until_it_knows_and_no_longer() {
    let site = Site::on(shared());
    let auto = ["run.order=interleaved", "run.repeats=auto", "run.runtime=500ms", "run.budget=80s"];
    // Reads of a working set that the cache holds, after a ramp that fills it.
    let profile = PROFILE.replace("randwrite", "randread").replace("iodepth: 4", "iodepth: 4, size: 512KiB");
    let profile = profile.replace("ramp_time: 0s", "ramp_time: 500ms");
    let profile = profile.replace(", slice: 500ms", "");
    let end = site.run(&profile, &auto);
    end.success();
    let result = site.result();
    let [comparison] = result.comparisons.as_slice() else { panic!("{:?}", result.comparisons) };
    assert_eq!((comparison.metric, comparison.verdict), (Metric::Mean, Verdict::Better), "{comparison:?}");
    assert_eq!(result.most_repeats, Some(40));
    let repeats = 1 + result.trials.iter().map(|trial| trial.repeat).max().expect("trials");
    assert!((3..40).contains(&repeats), "{repeats} repeats for a cache");
    assert_eq!(result.planned_trials, 2 * repeats);
    let said = format!("after {repeats} repeats the comparison is decided");
    assert!(end.stderr.contains(&said), "{end:#?}");
    site.assert_clean();
}
