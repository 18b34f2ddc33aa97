//! Cache options in a plan: what does nothing is not swept over, limits stand in their order, memory is counted.

use std::time::Duration;

use cephmark::plan::{CacheState, Plan};
use cephmark::units::Bytes;

use crate::planning::{PROFILE, plan, plan_with, refused, warned, with_run, with_target};

fn target(options: &str) -> String {
    with_target(&format!("{{rbd: {{size: 1GiB}}, options: {{{options}}}}}"))
}

fn arms(plan: &Plan) -> Vec<&str> {
    plan.arms.iter().map(|arm| arm.name.as_str()).collect()
}

#[test]
fn a_sweep_over_what_does_nothing_is_refused_with_the_reason() {
    let sweep =
        |options: &str, axis: &str| target(options) + &format!("sweep: {{targets.t.options.{axis}}}\n");
    refused(
        &sweep("rbd_cache_policy: writearound", "rbd_cache_size: [^32MiB, 64MiB]"),
        "targets.t.options.rbd_cache_size: a sweep over it shows nothing: it has no effect under \
         rbd_cache_policy=writearound",
    );
    refused(
        &sweep("rbd_cache: false", "rbd cache policy: [^writearound, writeback]"),
        "targets.t.options.rbd cache policy: a sweep over it shows nothing: it has no effect under rbd_cache=false",
    );
    refused(
        &sweep("rbd_cache_policy: writeback", "rbd_cache_writethrough_until_flush: [^false, true]"),
        "targets.t.options.rbd_cache_writethrough_until_flush: a sweep over it shows nothing: it has no effect here, since \
         cephmark flushes every image before its load",
    );
}

#[test]
fn an_axis_that_does_nothing_for_one_value_of_another_is_refused_too() {
    let axes = "targets.t.options.rbd_cache_policy: [writearound, writethrough], \
                targets.t.options.rbd_cache_size: [^32MiB, 64MiB]";
    refused(
        &format!("{PROFILE}sweep: {{{axes}}}\n"),
        "targets.t.options.rbd_cache_size: a sweep over it shows nothing: it has no effect under \
         rbd_cache_policy=writearound",
    );
}

#[test]
fn axes_that_move_together_may_leave_one_idle_where_another_tells_the_arms_apart() {
    let yaml = format!(
        "{PROFILE}sweep:\n  targets.t.options.rbd_cache: [false, true, true]\n  \
         targets.t.options.rbd_cache_policy: [writearound, writearound, writethrough]\n  \
         zip: [targets.t.options.rbd_cache, targets.t.options.rbd_cache_policy]\n"
    );
    let plan = plan(&yaml).unwrap();
    assert_eq!(arms(&plan).len(), 3);
    assert_eq!(plan.warnings, []);
}

#[test]
fn what_does_nothing_and_is_not_swept_is_warned_of() {
    warned(
        &target("rbd_cache_policy: writearound, ^rbd_cache_size: 64MiB, rbd_cache_max_dirty: 8MiB"),
        &["targets.t.options.rbd_cache_size: has no effect under rbd_cache_policy=writearound"],
    );
    warned(
        &target("rbd_cache_policy: writeback, rbd_cache_max_dirty: 0, ^rbd_cache_target_dirty: 0"),
        &["targets.t.options.rbd_cache_target_dirty: has no effect with rbd_cache_max_dirty=0"],
    );
}

#[test]
fn what_makes_librbd_hang_is_warned_of_where_it_acts() {
    let hangs = "targets.t.options.rbd_cache_block_writes_upfront: can make librbd hang once several writes wait at \
                 the dirty limit (16.2.15 does)";
    warned(&target("rbd_cache_policy: writeback, ^rbd_cache_block_writes_upfront: true"), &[hangs]);
    warned(&target("rbd_cache_policy: writeback, rbd_cache_block_writes_upfront: false"), &[]);
}

#[test]
fn nothing_is_said_where_the_policy_is_left_to_the_cluster() {
    warned(&target("rbd_cache_size: 64MiB"), &[]);
}

#[test]
fn limits_of_write_back_stand_in_their_order() {
    let back = |options: &str| target(&format!("rbd_cache_policy: writeback, {options}"));
    refused(
        &back("rbd_cache_size: 8MiB, ^rbd_cache_max_dirty: 8MiB"),
        "targets.t.options.rbd_cache_max_dirty: is 8MiB, which must be below rbd_cache_size, 8MiB; lower it, or make it a \
         percentage of rbd_cache_size",
    );
    refused(
        &back("rbd_cache_size: 8MiB, rbd_cache_max_dirty: 50%, ^rbd_cache_target_dirty: 75%"),
        "targets.t.options.rbd_cache_target_dirty: is 6MiB, which must be below rbd_cache_max_dirty, 4MiB; lower it, or make \
         it a percentage of rbd_cache_size",
    );
    warned(&back("rbd_cache_size: 8MiB, rbd_cache_max_dirty: 50%, rbd_cache_target_dirty: 25%"), &[]);
    // Other policies do not bring the limits together.
    warned(&target("rbd_cache_policy: writearound, rbd_cache_max_dirty: 64MiB"), &[]);
}

#[test]
fn caches_count_as_memory_for_each_image() {
    let caches = |target: &str, sets: &[&str]| plan_with(&with_target(target), sets).unwrap().needs.caches;
    let back = "{rbd: {size: 1GiB, images: 3}, options: {rbd_cache_policy: writeback}}";
    assert_eq!(caches(back, &[]), Bytes(3 * (32 << 20)), "Ceph's default for each");
    assert_eq!(caches(back, &["targets.t.options.rbd_cache=false"]), Bytes(0));
    assert_eq!(caches(back, &["targets.t.options.rbd_cache_policy=writearound"]), Bytes(0));
    let axis = "sweep.targets.t.rbd.images=[1, 4]";
    assert_eq!(caches(back, &[axis]), Bytes(4 * (32 << 20)), "of the largest trial");
    let sliced = ["run={order: sliced, slice: 1s, seed: 1}", axis];
    assert_eq!(caches(back, &sliced), Bytes(5 * (32 << 20)), "all arms are open");
    let handles = ["targets.t.handles=per_job", "workloads.w={rw: randread, numjobs: 2}"];
    assert_eq!(caches(back, &handles), Bytes(6 * (32 << 20)));
    assert!(plan(&with_target(back)).unwrap().render().contains("0 to verify, 96MiB of clients' caches\n"));
}

#[test]
fn caches_beyond_this_hosts_memory_are_refused() {
    let line = plan(&target("rbd_cache_policy: writethrough, rbd_cache_size: 1000TiB")).unwrap_err();
    assert!(line.contains("1000TiB for caches (rbd_cache_size x images)"), "{line}");
}

#[test]
fn a_cold_cache_has_no_ramp_to_warm_it() {
    let plan = plan(&with_run("{cache: cold, runtime: 10s, repeats: 1}")).unwrap();
    assert_eq!(plan.run.cache, Some(CacheState::Cold));
    assert_eq!((plan.workloads[0].ramp_time, plan.needs.duration), (Duration::ZERO, Duration::from_secs(10)));
    warned(
        &with_run("{cache: cold, seed: 1, ^ramp_time: 5s}"),
        &["run.ramp_time: has no effect with `cache: cold`, since a ramp would warm the cache"],
    );
    refused(
        &with_run("{^cache: cold, seed: 1, order: sliced}"),
        "run.cache: is cold only at the start of a trial, whose slices would be warmer and warmer; use interleaved",
    );
}
