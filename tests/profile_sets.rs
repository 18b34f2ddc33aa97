//! `--set`: any key can be changed from the command line, and what is wrong with it names the argument.

use cephmark::units::Bytes;

use crate::planning::{PROFILE, plan_with};

#[track_caller]
fn set(argument: &str, line: &str) {
    assert_eq!(plan_with(PROFILE, &[argument]).unwrap_err(), line);
}

#[test]
fn any_key_can_be_set_also_one_that_was_not_written() {
    let plan =
        plan_with(PROFILE, &["run.repeats=3", "workloads.w.bs=8k", "targets.t.options.rbd_cache=false"])
            .unwrap();
    assert_eq!(plan.trials.len(), 3);
    assert_eq!(plan.workloads[0].jobs(Bytes(1 << 30), 0).unwrap()[0].largest_block(), Bytes(8192));
    assert_eq!(
        (plan.arms[0].options[0].name.as_str(), plan.arms[0].options[0].value.as_str()),
        ("rbd_cache", "false")
    );
    assert_eq!(plan.profile["run"]["repeats"], 3, "the result shows the profile as it was used");
}

#[test]
fn whole_maps_lists_and_axes_can_be_set() {
    let plan = plan_with(PROFILE, &["sweep.workloads.w.iodepth=[1, 32]", "workloads.r={rw: read}"]).unwrap();
    assert_eq!(
        plan.workloads.iter().map(|w| w.title.as_str()).collect::<Vec<_>>(),
        ["w[iodepth=1]", "w[iodepth=32]", "r"]
    );
}

#[test]
fn an_error_names_the_argument() {
    set("workloads.w.iodepth=0", "--set workloads.w.iodepth=0: workloads.w.iodepth: must be at least 1");
    set("run.runtim=3s", "--set run.runtim=3s: run.runtim: unknown key; did you mean `runtime`?");
    set(
        "sweep.workloads.w.iodepth=[1,0]",
        "--set sweep.workloads.w.iodepth=[1,0]: workloads.w.iodepth: must be at least 1",
    );
}

#[test]
fn a_typo_in_a_name_makes_no_new_target() {
    set(
        "workloads.v.iodepth=4",
        "--set workloads.v.iodepth=4: workloads.v.iodepth: there is no `v` in workloads; there is w",
    );
}

#[test]
fn what_is_no_pair_says_how_to_write_it() {
    for argument in ["run.runtime", "run.runtime=", "=3", "run..runtime=3s"] {
        set(argument, &format!("--set {argument}: write it as PATH=VALUE"));
    }
    set("name.x=3", "--set name.x=3: name.x: what is above it is no map; set that instead");
}
