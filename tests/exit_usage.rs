//! Exit code 2: the profile or the command line is wrong. Nothing is touched, and nothing is left.

use crate::support::cluster::shared;
use crate::support::site::{PROFILE, Running, Site};

/// Runs a profile where there is no cluster that could be asked.
#[track_caller]
fn refused_offline(site: &Site<'_>, profile: &str, set: &str, words: &[&str]) {
    let mut command = site.run_command(profile, &[set]);
    command.env("CEPH_CONF", "/nowhere/ceph.conf");
    Running::start(command).end().refused(2, words);
    site.assert_untouched();
}

#[test]
fn what_no_profile_can_mean_is_refused_without_asking_the_cluster() {
    let site = Site::on(shared());
    for (set, words) in [
        ("workloads.w.iodept=1", ["workloads.w", "did you mean `iodepth`?"]),
        ("workloads.w.iodepth=0", ["workloads.w.iodepth: must be at least 1", "--set"]),
        (
            "workloads.w.bs=32m",
            ["workloads.w.bs: a block of 32MiB is larger than the image of 16MiB", "--set"],
        ),
        ("targets.t.rbd.size=0", ["targets.t.rbd.size: must be above 0", "--set"]),
        (
            "targets.t.rbd={image: i@s}",
            ["workloads.w.rw: changes data, but target `t` is the snapshot", "profile.yaml:6:"],
        ),
    ] {
        refused_offline(&site, PROFILE, set, &words);
    }
}

#[test]
fn a_mistake_in_the_file_is_told_with_its_line_and_column() {
    let site = Site::on(shared());
    let mistaken = PROFILE.replace("iodepth: 4", "iodepht: 4");
    refused_offline(
        &site,
        &mistaken,
        "run.seed=1",
        &["profile.yaml:6:", "workloads.w.iodepht: unknown key", "did you mean `iodepth`?"],
    );
}

#[test]
fn a_block_larger_than_an_existing_image_is_refused_once_its_size_is_known() {
    let site = Site::on(shared());
    let image = site.create("small", 1);
    let target = "targets.t={rbd: {image: rbd/NAMESPACE/small}, destroys_data: true}";
    let end = site.run(PROFILE, &[target, "workloads.w.bs=2m"]);
    end.refused(2, &["workloads.w.bs: a block of 2MiB is larger than the image of 1MiB"]);
    site.rbd(&["rm", "--no-progress", &image]);
    site.assert_untouched();
}

#[test]
fn an_option_that_ceph_does_not_have_is_told_with_the_one_that_was_meant() {
    let site = Site::on(shared());
    let words =
        ["targets.t.options.rbd_cach", "there is no Ceph option `rbd_cach`; did you mean `rbd_cache`?"];
    refused_offline(&site, PROFILE, "targets.t.options.rbd_cach=true", &words);
    let words = ["targets.t.options.rbd_cache", "Ceph refuses `perhaps` as a value of rbd_cache"];
    refused_offline(&site, PROFILE, "targets.t.options.rbd_cache=perhaps", &words);
}

#[test]
fn the_options_of_a_space_are_checked_before_anything_is_tried() {
    let site = Site::on(shared());
    let profile = PROFILE.replace(", options: {rbd_cache: false}", "");
    let tuned = |space: &str| format!("{profile}tune: {{space: {{{space}}}, budget: 1h}}\n");
    let faults = [
        ("rbd_cach: [true]", "there is no Ceph option `rbd_cach`; did you mean `rbd_cache`?"),
        ("rbd_cache_size: [-1]", "Ceph refuses `-1` as a value of rbd_cache_size"),
        ("targets.t.options.rbd_cache: [true]", "name the option alone: `rbd_cache`"),
    ];
    for (space, words) in faults {
        site.write(&tuned(space));
        site.cephmark(&["tune", "--dry-run", "profile.yaml"]).refused(2, &["profile.yaml:", words]);
        site.cephmark(&["check", "profile.yaml"]).fails(2, &["profile.yaml:", words]);
    }
    site.write(&tuned("rbd_cache_size: [16MiB, 64MiB]"));
    let end = site.cephmark(&["check", "--offline", "profile.yaml"]);
    end.success();
    let line = "`cephmark tune` would try 2 settings of rbd_cache_size on t for more iops, in 1h";
    assert!(end.stdout.contains(line), "{}", end.stdout);
    site.assert_untouched();
}

#[test]
fn a_place_for_results_that_can_not_be_written_is_refused_before_the_run() {
    let site = Site::on(shared());
    std::fs::write(site.path("file"), "").expect("a file");
    site.write(PROFILE);
    for out in ["/proc/results", "file", "file/results"] {
        let end = site.cephmark(&["run", "profile.yaml", "--out", out]);
        end.refused(2, &["can't write results to ", out, "choose another directory with --out"]);
        site.assert_untouched();
    }
}

#[test]
fn an_earlier_result_is_never_overwritten() {
    let site = Site::on(shared());
    std::fs::create_dir(site.path("out")).expect("a directory");
    std::fs::write(site.path("out/result.json"), "years of work").expect("a file");
    site.run(PROFILE, &[]).refused(2, &["out already holds a result.json", "--out"]);
    assert_eq!(std::fs::read_to_string(site.path("out/result.json")).expect("it is there"), "years of work");
    site.assert_clean();
}

#[test]
fn a_command_line_that_is_wrong_is_a_usage_error_too() {
    let site = Site::on(shared());
    for arguments in
        [&["run"][..], &["run", "p.yaml", "--fast"], &["fly"], &["report", "r", "--format", "png"]]
    {
        let end = site.cephmark(arguments);
        assert_eq!(end.status.code(), Some(2), "{end:#?}");
    }
    let end = site.cephmark(&["run", "nowhere.yaml"]);
    end.refused(2, &["nowhere.yaml"]);
}
