//! Caches in the state that a profile asks for, and what cached writes are judged by, on a cluster.

use cephmark::result::{CacheFigures, Metric, Trial};

use crate::support::ceph::{TestPool, tool};
use crate::support::cluster::shared;
use crate::support::site::{PROFILE, Site};

/// Each block of 8 MiB is read once, of which the cache holds all.
const READS: &str = "\
version: 1
name: states
targets:
  t: {rbd: {namespace: NAMESPACE, size: 16MiB}, options: {rbd_cache_policy: writeback}}
workloads:
  w: {rw: randread, random_distribution: once, size: 8MiB, number_ios: 2048, iodepth: 4}
run: {ramp_time: 0s, runtime: 60s, repeats: 2}
";

#[track_caller]
fn caches(site: &Site<'_>) -> Vec<CacheFigures> {
    site.result().trials.iter().map(|trial| trial.cache.expect("there is a cache")).collect()
}

#[test]
fn a_cold_cache_misses_every_block_and_a_warm_one_none() {
    let site = Site::on(shared());
    site.run(READS, &["run.cache=cold"]).success();
    for cache in caches(&site) {
        assert_eq!((cache.hits, cache.misses), (0, 2048));
    }
    assert!(site.result().trials.iter().all(|trial| trial.conditions["cache"] == "cold"));
    std::fs::remove_dir_all(site.path("out")).expect("results");
    site.run(READS, &["run.cache=warm"]).success();
    for cache in caches(&site) {
        assert_eq!((cache.hits, cache.misses, cache.hit_ratio), (2048, 0, Some(1.0)));
    }
    site.assert_clean();
}

#[test]
fn every_handle_has_its_own_cache_warmed_and_all_images_are() {
    let site = Site::on(shared());
    let sets = [
        "run.cache=warm",
        "run.repeats=1",
        "targets.t.handles=per_job",
        "targets.t.rbd.images=2",
        "workloads.w.numjobs=2",
        "workloads.w.offset=4MiB",
    ];
    site.run(READS, &sets).success();
    let [cache] = caches(&site)[..] else { panic!("one trial") };
    assert_eq!((cache.hits, cache.misses), (2 * 2048, 0));
    site.assert_clean();
}

#[test]
fn a_cold_trial_is_not_asked_to_be_steady() {
    let site = Site::on(shared());
    let job = "workloads.w={rw: randread, size: 4MiB, rate_iops: 200, iodepth: 4}";
    site.run(READS, &["run.cache=cold", job, "run.runtime=6s", "run.repeats=1"]).success();
    let result = site.result();
    assert!(
        result.trials[0].problems.iter().all(|problem| problem.code != "unsteady"),
        "{:?}",
        result.trials[0].problems
    );
}

#[test]
fn cached_writes_are_judged_by_what_is_durable() {
    let site = Site::on(shared());
    let sets = [
        "targets={plain: {rbd: {namespace: NAMESPACE, size: 512MiB}, options: {rbd_cache: false}}, \
         back: {rbd: {namespace: NAMESPACE, size: 512MiB}, options: {rbd_cache_policy: writeback, rbd_cache_size: 64MiB, \
         rbd_cache_max_dirty: 48MiB, rbd_cache_target_dirty: 32MiB}}}",
        "workloads.w={rw: randwrite, bs: 4k, iodepth: 32}",
        "run.runtime=1500ms",
        "run.repeats=4",
        "compare={baseline: plain, metrics: [iops, bytes_per_s]}",
    ];
    let end = site.run(PROFILE, &sets);
    end.success();
    let result = site.result();
    let of = |arm: &str, figure: fn(&Trial) -> f64| -> Vec<f64> {
        let mut trials: Vec<&Trial> = result.trials.iter().filter(|trial| trial.arm == arm).collect();
        trials.sort_by_key(|trial| trial.repeat);
        trials.into_iter().map(figure).collect()
    };
    let ratio = |figure: fn(&Trial) -> f64| {
        let logs: Vec<f64> = of("back", figure)
            .iter()
            .zip(of("plain", figure))
            .map(|(back, plain)| (back / plain).ln())
            .collect();
        (logs.iter().sum::<f64>() / logs.len() as f64).exp()
    };
    let raw = ratio(|trial| trial.jobs[""]["write"].bytes_per_s);
    let durable = ratio(|trial| trial.effective_bytes_per_s.expect("it writes"));
    println!("write-back against none: {raw:.2} acknowledged, {durable:.2} durable\n{}", end.stdout);
    assert!(raw > durable * 1.1, "what is owed at the end is not given away: {raw} {durable}");
    for comparison in &result.comparisons {
        assert!(matches!(comparison.metric, Metric::Iops | Metric::BytesPerS));
        assert!((comparison.ratio / durable - 1.0).abs() < 0.05, "{comparison:?} is judged by {durable}");
    }
    assert!(end.stdout.contains("durable MiB/s"), "{}", end.stdout);
    site.assert_clean();
}

#[test]
fn a_policy_by_pool_metadata_under_which_a_swept_option_does_nothing_is_refused() {
    let site = Site::on(shared());
    let pool = TestPool::new(site.lab);
    tool(site.lab, "rbd", &["config", "pool", "set", &pool.name, "rbd_cache_policy", "writearound"]);
    let target = format!(
        "targets.t={{rbd: {{pool: {}, size: 16MiB}}, options: {{rbd_cache_policy: writethrough}}}}",
        pool.name
    );
    let end = site.run(PROFILE, &[&target, "sweep.targets.t.options.rbd_cache_size=[8MiB, 16MiB]"]);
    let remedy = format!("`rbd config pool remove {} rbd_cache_policy` removes that", pool.name);
    end.fails(
        3,
        &["a sweep over rbd_cache_size shows nothing", "under rbd_cache_policy=writearound", &remedy],
    );
    assert_eq!(tool(site.lab, "rbd", &["ls", &pool.name]), "");
}

#[test]
fn a_sweep_that_does_nothing_under_the_clusters_own_policy_is_refused_before_anything_is_made() {
    let site = Site::on(shared());
    let sets = ["targets.t.options={}", "sweep.targets.t.options.rbd cache size=[8MiB, 16MiB]"];
    site.run(PROFILE, &sets).refused(
        2,
        &["targets.t.options.rbd cache size", "it has no effect under rbd_cache_policy=writearound"],
    );
    site.assert_untouched();
}

#[test]
fn limits_must_stand_in_their_order_with_the_clusters_own_values_too() {
    let site = Site::on(shared());
    let options = "targets.t.options={rbd_cache_policy: writeback, rbd_cache_size: 8MiB}";
    let said = "rbd_cache_size: is 8MiB, which must be above rbd_cache_max_dirty, 24MiB unless set; set that too, or make it";
    site.run(PROFILE, &[options]).refused(2, &[said]);
    site.assert_untouched();
}

#[test]
fn a_persistent_cache_that_this_librbd_does_not_have_is_refused() {
    let site = Site::on(shared());
    for options in
        ["{rbd_persistent_cache_mode: ssd, rbd_plugins: pwl_cache}", "{rbd_persistent_cache_mode: rwl}"]
    {
        let end = site.run(PROFILE, &[&format!("targets.t.options={options}")]);
        end.refused(
            3,
            &["targets.t.options.rbd_persistent_cache_mode", "this build of librbd has no pwl plugin"],
        );
    }
    site.assert_untouched();
}
