//! Sweeps: axes on targets make arms, axes on workloads make separate comparisons.

use cephmark::plan::Plan;
use cephmark::units::Bytes;

use crate::planning::{PROFILE, plan, refused};

fn sweep(axes: &str) -> Result<Plan, String> {
    plan(&format!("{PROFILE}sweep:\n{axes}"))
}

fn arms(plan: &Plan) -> Vec<&str> {
    plan.arms.iter().map(|arm| arm.name.as_str()).collect()
}

#[test]
fn an_axis_on_a_target_makes_an_arm_of_each_value() {
    let plan = sweep("  targets.t.options.rbd_cache_policy: [writearound, writeback]\n").unwrap();
    assert_eq!(arms(&plan), ["t[rbd_cache_policy=writearound]", "t[rbd_cache_policy=writeback]"]);
    assert_eq!(
        plan.arms[1].settings,
        [("targets.t.options.rbd_cache_policy".to_owned(), "writeback".to_owned())]
    );
    assert_eq!(plan.arms[1].options[0].value, "writeback");
    assert!(plan.arms.iter().all(|arm| arm.target == "t"));
}

#[test]
fn axes_multiply_and_the_last_one_changes_fastest() {
    let plan =
        sweep("  targets.t.options.rbd_cache: [false, true]\n  targets.t.rbd.size: [1GiB, 2GiB]\n").unwrap();
    assert_eq!(
        arms(&plan),
        [
            "t[rbd_cache=false,size=1GiB]",
            "t[rbd_cache=false,size=2GiB]",
            "t[rbd_cache=true,size=1GiB]",
            "t[rbd_cache=true,size=2GiB]",
        ]
    );
    assert_eq!(plan.arms[3].image_size(), Some(Bytes(2 << 30)));
}

#[test]
fn axes_that_are_zipped_move_together() {
    let plan = sweep(
        "  targets.t.options.rbd_cache_size: [64MiB, 128MiB]\n  targets.t.rbd.images: [1, 2]\n  \
         targets.t.options.rbd_cache_max_dirty: [50%, 25%]\n  \
         zip: [targets.t.options.rbd_cache_size, targets.t.options.rbd_cache_max_dirty]\n",
    )
    .unwrap();
    assert_eq!(
        arms(&plan),
        [
            "t[rbd_cache_size=64MiB,rbd_cache_max_dirty=50%,images=1]",
            "t[rbd_cache_size=64MiB,rbd_cache_max_dirty=50%,images=2]",
            "t[rbd_cache_size=128MiB,rbd_cache_max_dirty=25%,images=1]",
            "t[rbd_cache_size=128MiB,rbd_cache_max_dirty=25%,images=2]",
        ]
    );
    let options: Vec<&str> = plan.arms[2].options.iter().map(|option| option.value.as_str()).collect();
    assert_eq!(options, ["134217728", "33554432"]);
}

#[test]
fn settings_hold_sizes_in_bytes_and_names_hold_what_was_written() {
    let plan = sweep("  targets.t.options.rbd_cache_size: [64MiB]\n").unwrap();
    assert_eq!(arms(&plan), ["t[rbd_cache_size=64MiB]"]);
    assert_eq!(plan.arms[0].settings[0].1, "67108864");
}

#[test]
fn an_axis_on_a_workload_makes_a_comparison_of_each_value() {
    let plan = sweep("  workloads.w.iodepth: [1, 32]\n").unwrap();
    assert_eq!(arms(&plan), ["t"]);
    let titles: Vec<&str> = plan.workloads.iter().map(|workload| workload.title.as_str()).collect();
    assert_eq!(titles, ["w[iodepth=1]", "w[iodepth=32]"]);
    assert!(plan.workloads.iter().all(|workload| workload.name == "w"));
    assert_eq!(plan.workloads[1].settings, [("workloads.w.iodepth".to_owned(), "32".to_owned())]);
    assert_eq!(plan.trials.len(), 2);
}

#[test]
fn axes_of_one_name_are_told_apart_by_more_of_their_path() {
    let yaml = PROFILE.replace("{rw: randwrite}", "{jobs: {data: {rw: read}, redo: {rw: write}}}")
        + "sweep:\n  workloads.w.jobs.data.bs: [4k]\n  workloads.w.jobs.redo.bs: [8k]\n";
    assert_eq!(plan(&yaml).unwrap().workloads[0].title, "w[data.bs=4k,redo.bs=8k]");
}

#[test]
fn what_an_axis_sets_obeys_the_rules_and_errors_point_to_the_value() {
    let axis = |text: &str| format!("{PROFILE}sweep: {{{text}}}\n");
    refused(&axis("workloads.w.iodepth: [4, ^0]"), "workloads.w.iodepth: must be at least 1");
    refused(&axis("targets.t.rbd.sise: [^1GiB]"), "targets.t.rbd.sise: unknown key; did you mean `size`?");
    refused(
        &axis("workloads.w.rwmixread: [^50, 70]"),
        "workloads.w.rwmixread: a sweep over it shows nothing: it has no effect unless `rw` is rw or randrw",
    );
}

#[test]
fn what_is_no_axis_is_refused() {
    let axis = |text: &str| format!("{PROFILE}sweep: {{{text}}}\n");
    refused(
        &axis("^run.runtime: [1s, 2s]"),
        "sweep.run.runtime: an axis varies a key of a target or workload; name it as targets.NAME.KEY or \
         workloads.NAME.KEY",
    );
    refused(
        &axis("^targets.x.rbd.size: [1GiB]"),
        "sweep.targets.x.rbd.size: there is no `x` in targets; there is t",
    );
    refused(&axis("^workloads.w.bs: []"), "sweep.workloads.w.bs: has no values");
    refused(
        &axis("^workloads.w.bs: 4k"),
        "sweep.workloads.w.bs: invalid type: string \"4k\", expected a list",
    );
    refused(&axis("workloads.w.bs: [4k, ^4KiB]"), "sweep.workloads.w.bs[1]: has the value 4KiB twice");
}

#[test]
fn axes_that_cannot_move_together_are_refused() {
    let line = |zip: &str| {
        let axes =
            "workloads.w.bs: [4k, 8k], workloads.w.iodepth: [1, 2, 3], targets.t.rbd.size: [1GiB, 2GiB]";
        plan(&format!("{PROFILE}sweep: {{{axes}, zip: [{zip}]}}\n")).unwrap_err()
    };
    assert!(line("workloads.w.bs, workloads.w.iodepth").ends_with("has 3 values but `workloads.w.bs` has 2"));
    assert!(line("workloads.w.bs, targets.t.rbd.size").ends_with("belong to one target or workload"));
    assert!(line("workloads.w.bs, workloads.w.rw").ends_with("`workloads.w.rw` is no axis of this sweep"));
    assert!(line("workloads.w.bs, workloads.w.bs").ends_with("names `workloads.w.bs` twice"));
    let steps = "workloads.w.bs: [4k, 4k, 8k], workloads.w.iodepth: [1, 2, 1]".to_owned();
    let zip = "zip: [workloads.w.bs, workloads.w.iodepth]";
    assert!(plan(&format!("{PROFILE}sweep: {{{steps}, {zip}}}\n")).is_ok(), "no two steps are the same");
    let same = steps.replace("[1, 2, 1]", "[1, 1, 2]");
    let line_of_same = plan(&format!("{PROFILE}sweep: {{{same}, {zip}}}\n")).unwrap_err();
    assert!(line_of_same.ends_with("sweep.workloads.w.bs[1]: has the value 4k, 1 twice"), "{line_of_same}");
    assert!(line("workloads.w.bs").ends_with("one axis has nothing to move together with"));
}
