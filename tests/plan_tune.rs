//! `tune`: which settings a space makes, and what can't be tuned.

use cephmark::plan::{Subject, Tuning};
use cephmark::profile::Profile;
use cephmark::units::Bytes;

const PROFILE: &str = "\
version: 1
name: test
targets:
  t: {rbd: {size: 1GiB, images: 2}}
workloads:
  w: {rw: randread}
run: {ramp_time: 0s, runtime: 10s}
tune:
  space: {rbd_cache_policy: [writearound, writeback], rbd cache size: [16MiB, 64MiB], rbd_cache_max_dirty: ['50%']}
  constraints: [p99 <= 20ms]
  budget: 1h
";

fn tuning(yaml: &str) -> Result<Tuning, String> {
    let loaded = Profile::parse("p.yaml", yaml, &[]).map_err(|fault| fault.to_string())?;
    Tuning::new(&loaded).map_err(|fault| fault.to_string())
}

/// [`PROFILE`] with these words replaced is refused for this reason.
#[track_caller]
fn refused(old: &str, new: &str, reason: &str) {
    assert!(PROFILE.contains(old), "{old}");
    let line = tuning(&PROFILE.replace(old, new)).expect_err("it is refused");
    assert!(line.contains(reason), "{line}");
}

#[test]
fn every_value_meets_every_value_of_the_others_beside_what_the_cluster_has_now() {
    let tuning = tuning(PROFILE).unwrap();
    let names: Vec<&str> = tuning.plan.arms.iter().map(|arm| arm.name.as_str()).collect();
    assert_eq!(names.len(), 5, "{names:?}");
    assert_eq!(names[0], "t[current]");
    assert_eq!(names[4], "t[rbd_cache_policy=writeback,rbd_cache_size=64MiB,rbd_cache_max_dirty=32MiB]");
    let options = |arm: usize| -> Vec<(&str, &str)> {
        tuning.plan.arms[arm]
            .options
            .iter()
            .map(|option| (option.name.as_str(), option.value.as_str()))
            .collect()
    };
    assert_eq!(options(0), []);
    let all = [
        ("rbd_cache_policy", "writeback"),
        ("rbd_cache_size", "67108864"),
        ("rbd_cache_max_dirty", "33554432"),
    ];
    assert_eq!(options(4), all);
    assert_eq!(tuning.settings[4][1], ("rbd_cache_size".to_owned(), "64MiB".to_owned()));
}

#[test]
fn all_settings_run_on_the_same_images_in_turn() {
    let Tuning { plan, .. } = tuning(PROFILE).unwrap();
    assert_eq!((plan.image_sets(), plan.image_set(4)), (1, 0));
    assert_eq!(plan.needs.space["rbd"].get(), 2 << 30, "two images, whatever the number of settings");
    assert!(plan.arms.iter().all(|arm| matches!(arm.subject, Subject::Managed(_))));
}

#[test]
fn the_objective_against_what_the_cluster_has_now_is_what_comparisons_are_of() {
    let Tuning { plan, .. } = tuning(PROFILE).unwrap();
    assert_eq!(plan.profile["compare"]["baseline"], "t[current]");
    assert_eq!(plan.profile["compare"]["metrics"], serde_json::json!(["iops"]));
}

#[test]
fn blocks_hold_the_wanted_settings_once_and_count_on() {
    let Tuning { plan, budget, .. } = tuning(PROFILE).unwrap();
    let blocks = plan.blocks(&[1, 4], 3, 7, budget);
    assert_eq!(blocks.trials.len(), 6);
    for (number, block) in blocks.trials.chunks(2).enumerate() {
        let mut arms: Vec<usize> = block.iter().map(|trial| trial.arm).collect();
        arms.sort_unstable();
        assert_eq!(arms, [1, 4]);
        assert!(block.iter().all(|trial| trial.repeat == 7 + number as u32));
    }
    assert_eq!(blocks.needs.duration.as_secs(), 60);
}

#[test]
fn a_confirmation_has_random_choices_of_its_own_and_needs_time_for_three_blocks() {
    let Tuning { plan, .. } = tuning(PROFILE).unwrap();
    let each = plan.once() * 2;
    assert!(plan.until_decided(&[0, 1], each, each * 3 - plan.once()).is_none());
    let fresh = plan.until_decided(&[0, 1], each, each * 4).expect("there is time");
    assert!(fresh.run.until_decided);
    assert_eq!((fresh.run.repeats, fresh.run.budget), (4, Some(each * 4)));
    let seed = |plan: &cephmark::plan::Plan| plan.workloads[0].jobs(Bytes(1 << 30), 0).unwrap()[0].randseed;
    assert_ne!(seed(&fresh), seed(&plan));
    let fresh = plan.until_decided(&[0, 1], each, each * 60).expect("there is time");
    assert_ne!(fresh.trials, plan.blocks(&[0, 1], 60, 0, each).trials, "the order is another one too");
}

#[test]
fn settings_that_differ_in_nothing_that_acts_are_tried_once() {
    let space = "{rbd_cache_policy: [writearound, writeback], rbd_cache_size: [32MiB, 64MiB]}";
    let old = "{rbd_cache_policy: [writearound, writeback], rbd cache size: [16MiB, 64MiB], rbd_cache_max_dirty: ['50%']}";
    let tuning = tuning(&PROFILE.replace(old, space)).unwrap();
    let names: Vec<&str> = tuning.plan.arms.iter().skip(1).map(|arm| arm.name.as_str()).collect();
    let expected = [
        "t[rbd_cache_policy=writearound]",
        "t[rbd_cache_policy=writeback,rbd_cache_size=32MiB]",
        "t[rbd_cache_policy=writeback,rbd_cache_size=64MiB]",
    ];
    assert_eq!(names, expected);
    assert_eq!(tuning.grid.iter().map(|(_, arm)| *arm).collect::<Vec<_>>(), [1, 1, 2, 3]);
}

#[test]
fn limits_that_do_not_stand_in_their_order_are_left_out() {
    let tuning = tuning(&PROFILE.replace("['50%']", "[20MiB]")).unwrap();
    let [(name, reason)] = &tuning.left_out[..] else { panic!("{:?}", tuning.left_out) };
    assert!(name.contains("writeback,rbd_cache_size=16MiB"), "{name}");
    assert!(reason.contains("must be below rbd_cache_size, 16MiB"), "{reason}");
    assert_eq!(tuning.plan.arms.len(), 3, "the limit without a cache that it is of, and with the larger one");
}

#[test]
fn a_setting_that_can_not_be_is_left_out_and_said() {
    let space = "{rbd_cache_size: [16MiB, 1 GB of it], rbd_cache_max_dirty: ['50%']}";
    let old = "{rbd_cache_policy: [writearound, writeback], rbd cache size: [16MiB, 64MiB], rbd_cache_max_dirty: ['50%']}";
    let tuning = tuning(&PROFILE.replace(old, space)).unwrap();
    assert_eq!(tuning.plan.arms.len(), 2);
    let [(name, reason)] = &tuning.left_out[..] else { panic!("{:?}", tuning.left_out) };
    assert!(
        name.contains("1 GB of it") && reason.contains("is a percentage of rbd_cache_size"),
        "{name}: {reason}"
    );
}

#[test]
fn a_space_of_nothing_that_can_be_is_an_error_at_its_place() {
    refused("rbd cache size: [16MiB, 64MiB], ", "", "p.yaml:9:");
    refused("rbd cache size: [16MiB, 64MiB], ", "", "a percentage is of rbd_cache_size; add that option");
}

#[test]
fn what_a_tuning_decides_by_itself_is_refused() {
    refused("budget: 1h", "budget: 99s", "tune.budget: must be at least 200s, for 5 settings 2 times each");
    refused("runtime: 10s", "runtime: 10s, repeats: auto", "run.repeats: a tuning decides this by itself");
    refused("runtime: 10s", "runtime: 10s, order: sliced", "run.order: a tuning decides this by itself");
    refused(
        "runtime: 10s",
        "runtime: 10s, budget: 1h",
        "run.budget: the budget of a tuning is `tune.budget`",
    );
    refused("run: ", "sweep: {workloads.w.iodepth: [1, 2]}\nrun: ", "sweep: `tune.space` is what varies");
    refused("images: 2}", "images: 2}, options: {rbd_cache_size: 1MiB}", "is among the target's options too");
    refused(
        "rbd cache size:",
        "targets.t.options.rbd_cache_size:",
        "is the path of a key; name the option alone: `rbd_cache_size`",
    );
    refused("[16MiB, 64MiB]", "[]", "tune.space.rbd cache size: has no values");
    refused("[16MiB, 64MiB]", "[16MiB, 16384k]", "is there twice");
    refused("tune:\n", "tune:\n  target: u\n", "there is no `u` in targets");
    refused("p99 <= 20ms", "p99 >= 20ms", "`p99 >= 20ms` is not a bound such as p99 <= 20ms");
    let line = tuning(&PROFILE[..PROFILE.find("tune:").unwrap()]).expect_err("there is nothing to tune");
    assert!(line.contains("there is no `tune`; add what to search"), "{line}");
}

#[test]
fn a_target_is_named_where_there_are_several() {
    refused("workloads:", "  u: {null: {}}\nworkloads:", "tune.target: name one of t, u");
}
