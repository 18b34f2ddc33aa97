//! Combinations that can't be meant are refused before any I/O; what has no effect is warned of.

use cephmark::plan::Subject;

use crate::planning::{PROFILE, plan, refused, warned, with_run, with_target, with_workload};

#[test]
fn counts_and_sizes_of_nothing_are_refused() {
    for (job, line) in [
        ("{rw: read, ^iodepth: 0}", "workloads.w.iodepth: must be at least 1"),
        ("{rw: read, ^numjobs: 0}", "workloads.w.numjobs: must be at least 1"),
        ("{rw: read, ^bs: 0}", "workloads.w.bs: a block must be larger than 0"),
        ("{rw: read, ^size: 0}", "workloads.w.size: must be above 0; leave it out for all of the image"),
        ("{rw: read, ^runtime: 0s}", "workloads.w.runtime: must be above 0"),
        ("{rw: read, ^number_ios: 0}", "workloads.w.number_ios: must be above 0; leave it out for no limit"),
        ("{rw: read, ^io_size: 0}", "workloads.w.io_size: must be above 0; leave it out for no limit"),
        ("{rw: read, ^io_size: 1k}", "workloads.w.io_size: is less than one block of 4KiB"),
        ("{rw: read, ^bs: 2GiB}", "workloads.w.bs: a block must not be larger than 1GiB"),
    ] {
        refused(&with_workload(job), line);
    }
    refused(&with_target("{rbd: {^size: 0}}"), "targets.t.rbd.size: must be above 0");
    refused(&with_target("{rbd: {size: 1GiB, ^images: 0}}"), "targets.t.rbd.images: must be at least 1");
    refused(&with_target("{null: {^size: 0}}"), "targets.t.null.size: must be above 0");
    for (run, key) in [("{^runtime: 0}", "runtime"), ("{^stall: 0}", "stall")] {
        refused(&with_run(run), &format!("run.{key}: must be above 0"));
    }
    refused(&with_run("{^repeats: 0}"), "run.repeats: must be at least 1");
}

#[test]
fn nothing_may_reach_past_the_image() {
    let small = |job| with_workload(job).replace("1GiB", "1MiB");
    refused(
        &small("{rw: read, ^bs: 2m}"),
        "workloads.w.bs: a block of 2MiB is larger than the image of 1MiB",
    );
    refused(
        &small("{rw: read, ^bssplit: 4k/50:2m/50}"),
        "workloads.w.bssplit: a block of 2MiB is larger than the image of 1MiB",
    );
    refused(
        &small("{rw: read, ^bs: 64k, size: 32k}"),
        "workloads.w.bs: a block of 64KiB is larger than the range of 32KiB",
    );
    refused(&small("{rw: read, ^offset: 1m}"), "workloads.w.offset: lies past the end of the image of 1MiB");
    refused(
        &small("{rw: read, offset: 512k, ^size: 1m}"),
        "workloads.w.size: 1MiB from offset 512KiB on reach past the end of the image of 1MiB",
    );
}

#[test]
fn a_block_that_does_not_divide_the_image_leaves_its_end_unused() {
    warned(
        &with_workload("{rw: read, bs: 3m}").replace("  w:", "  ^w:"),
        &["workloads.w: the usable range is 1023MiB of 1GiB: blocks of 3MiB do not divide it"],
    );
}

#[test]
fn names_are_fit_for_paths_and_files() {
    let message = |name: &str| format!("the name `{name}` may hold only a-z, 0-9, `_` and `-`");
    refused(&PROFILE.replace("  w:", "  ^W:"), &format!("workloads.W: {}", message("W")));
    refused(&PROFILE.replace("  t:", "  ^t.1:"), &format!("targets.t.1: {}", message("t.1")));
    refused(&PROFILE.replace("name: test", "^name: a b"), &format!("name: {}", message("a b")));
    refused(
        &with_workload("{jobs: {^'x/y': {rw: read}}}"),
        &format!("workloads.w.jobs.x/y: {}", message("x/y")),
    );
}

#[test]
fn a_profile_tests_something_with_some_load() {
    refused(
        &PROFILE.replace("version: 1", "^version: 2"),
        "version: format 2 is not known; this cephmark reads 1",
    );
    refused("version: 1\nname: x\n^targets: {}\nworkloads: {}\n", "targets: names nothing to test");
    refused("version: 1\nname: x\ntargets: {n: {null: {}}}\n^workloads:\n", "workloads: names no load");
    refused(
        &format!("{PROFILE}cluster: {{^user: admin}}\n"),
        "cluster.user: must name the type of user too, such as client.admin",
    );
}

#[test]
fn a_target_is_one_thing() {
    refused(
        &with_target("{destroys_data: true}").replace("  t:", "  ^t:"),
        "targets.t: names nothing to test; add one of rbd, cephfs, rados, block, file and null",
    );
    refused(
        &with_target("{rbd: {size: 1GiB}, ^null: {}}"),
        "targets.t.null: a target is one thing; keep one of rbd, null",
    );
    refused(
        &with_target("{^rbd: {pool: rbd}}"),
        "targets.t.rbd: give `size` for new images, or `image` for one that exists",
    );
    refused(
        &with_target("{rbd: {image: x, ^size: 1GiB}}"),
        "targets.t.rbd.size: an existing image has its size; keep `image`, or `size` for new images",
    );
}

#[test]
fn an_existing_image_is_only_read_unless_its_data_may_be_lost() {
    refused(
        &with_target("{rbd: {image: rbd/vol1}}").replace("  t:", "  ^t:"),
        "targets.t: workload `w` overwrites the existing image `vol1`; add `destroys_data: true` if its data \
         may be lost",
    );
    assert!(plan(&with_target("{rbd: {image: rbd/vol1}, destroys_data: true}")).is_ok());
    let reads = with_target("{rbd: {image: rbd/vol1}}").replace("randwrite", "randread");
    assert!(!plan(&reads).unwrap().workloads[0].changes_data());
}

#[test]
fn a_snapshot_is_never_written_whatever_the_profile_allows() {
    refused(
        &with_target("{rbd: {image: rbd/vol1@s}, destroys_data: true}").replace("rw:", "^rw:"),
        "workloads.w.rw: changes data, but target `t` is the snapshot `s`, which can only be read",
    );
}

#[test]
fn an_image_is_named_as_the_rbd_tool_names_it() {
    let subject = |image: &str| {
        let yaml = with_target(&format!("{{rbd: {{{image}}}}}")).replace("randwrite", "read");
        plan(&yaml).map(|plan| match &plan.arms[0].subject {
            Subject::Existing(image) => {
                format!("{}|{}|{}|{:?}", image.pool, image.namespace, image.image, image.snapshot)
            }
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(subject("image: vol").unwrap(), "rbd||vol|None");
    assert_eq!(subject("image: vol, pool: p, namespace: n").unwrap(), "p|n|vol|None");
    assert_eq!(subject("image: p/n/vol@s").unwrap(), "p|n|vol|Some(\"s\")");
    assert!(subject("image: p/vol, pool: q").unwrap_err().ends_with("`image` names the pool already"));
    assert!(subject("image: a/b/c/d").unwrap_err().contains("is not [POOL/[NAMESPACE/]]IMAGE[@SNAPSHOT]"));
    for broken in ["image: /vol", "image: vol@", "image: ''", "image: a@b@c"] {
        assert!(subject(broken).unwrap_err().contains("IMAGE[@SNAPSHOT]"), "{broken}");
    }
    assert!(
        subject("image: vol, features: [layering]").unwrap_err().contains("an existing image has its own")
    );
}

#[test]
fn features_and_striping_fit_together() {
    let line = |rbd: &str| plan(&with_target(&format!("{{rbd: {{size: 1GiB, {rbd}}}}}"))).unwrap_err();
    assert!(line("features: [object-map]").ends_with("features: object-map needs exclusive-lock"));
    assert!(line("features: [exclusive-lock, fast-diff]").ends_with("fast-diff needs object-map"));
    assert!(line("stripe_unit: 64k").ends_with("stripe_unit: needs `stripe_count` beside it"));
    assert!(line("stripe_unit: 3k, stripe_count: 4").ends_with("must divide the object size of 4MiB"));
    assert!(line("object_size: 3m").ends_with("must be a power of two from 4KiB to 32MiB"));
}

#[test]
fn options_have_one_spelling_and_values_that_ceph_takes() {
    let yaml = with_target(
        "{rbd: {size: 1GiB}, options: {rbd cache size: 64MiB, rbd_cache_max_dirty: 50%, rbd_cache: true}}",
    );
    let options: Vec<(String, String)> =
        plan(&yaml).unwrap().arms[0].options.iter().map(|o| (o.name.clone(), o.value.clone())).collect();
    let expected =
        [("rbd_cache_size", "67108864"), ("rbd_cache_max_dirty", "33554432"), ("rbd_cache", "true")];
    assert_eq!(options, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let line = |options: &str| {
        plan(&with_target(&format!("{{rbd: {{size: 1GiB}}, options: {{{options}}}}}"))).unwrap_err()
    };
    assert_eq!(
        line("rbd_cache: true, rbd cache: false"),
        "p.yaml:4:53: targets.t.options.rbd cache: is the same option as `rbd_cache`; keep one of them"
    );
    assert!(line("rbd_cache_max_dirty: 50%").ends_with("a percentage is of rbd_cache_size; add that option"));
    assert!(
        line("rbd_cache_size: 50%")
            .ends_with("only rbd_cache_max_dirty and rbd_cache_target_dirty may be a percentage")
    );
    assert!(
        line("rbd_cache_size: 1g, rbd_cache_max_dirty: 150%")
            .ends_with("is not a percentage from 0 to 100 such as 3%")
    );
    assert!(line("key: AQB=").contains("put it into a keyring"), "a key must not reach a result");
}

#[test]
fn what_ceph_says_of_an_option_is_told_at_its_place() {
    let plan = plan(&with_target("{rbd: {size: 1GiB}, options: {rbd cachee: true}}")).unwrap();
    let arm = &plan.arms[0];
    assert_eq!(
        arm.option_fault(&arm.options[0], "is no option of Ceph").to_string(),
        "p.yaml:4:36: targets.t.options.rbd cachee: is no option of Ceph"
    );
}

#[test]
fn keys_of_other_kinds_of_targets_are_refused() {
    let line = |keys: &str| plan(&with_target(&format!("{{rbd: {{size: 1GiB}}, {keys}}}"))).unwrap_err();
    assert!(line("direct: true").contains("librbd's cache is `options: {rbd_cache: false}`"));
    assert!(
        line("map_options: [queue_depth=128]").ends_with("is of images with `client: krbd` or `client: nbd`")
    );
    assert!(line("queue: {nr_requests: 128}").ends_with("is of kernel paths, files and block devices"));
    assert!(line("connections: per_job").contains("needs `handles: per_job` too"));
    assert!(
        plan(&with_target("{null: {}, options: {rbd_cache: true}}"))
            .unwrap_err()
            .contains("the null target uses none")
    );
}

#[test]
fn jobs_that_run_together_share_one_window() {
    let line = |jobs: &str| plan(&with_workload(jobs)).unwrap_err();
    assert!(line("{jobs: {a: {rw: read}, b: {rw: read, runtime: 1s}}}").contains("give all the same"));
    assert!(line("{jobs: {a: {rw: read}, b: {rw: read, ramp_time: 1s}}}").contains("give all the same"));
    assert!(line("{jobs: {}}").ends_with("jobs: has no jobs"));
    assert!(line("{bs: 8k, jobs: {a: {rw: read}}}").contains("stands beside `jobs`"));
    assert!(line("{jobs: {a: {jobs: {b: {rw: read}}}}}").ends_with("a job has no jobs of its own"));
    assert!(line("{rw: read, bs: 4k, bssplit: 4k/100}").contains("stands beside `bs`"));
    assert!(
        line("{rw: write, zero_buffers: true, buffer_compress_percentage: 50}")
            .contains("contradicts `zero_buffers`")
    );
    assert!(line("{rw: randrw, rwmixread: 33.3}").ends_with("must be a whole number of percent"));
    assert!(
        line("{rw: read, cpus_allowed: 8191}")
            .ends_with("this process may not use processor 8191 of this host")
    );
}

#[test]
fn verification_needs_blocks_that_were_marked_and_that_stay() {
    let line = |yaml: String| plan(&yaml).unwrap_err();
    let verify = |job: &str| with_workload(&format!("{{{job}, verify: crc32c}}"));
    assert!(line(verify("rw: trim")).contains("can't check trims or zeroes"));
    assert!(line(verify("rw: randrw, bs: 1000")).ends_with("needs blocks that are multiples of 512 bytes"));
    assert!(line(verify("rw: write, offset: 2k")).contains("must be a multiple of 4KiB"));
    assert!(
        line(verify("rw: read").replace("{rbd: {size: 1GiB}}", "{rbd: {image: v}}")).contains("never marked")
    );
    assert!(line(verify("rw: read").replace("seed: 1", "prefill: false")).contains("leave `run.prefill` on"));
    assert!(
        line(verify("rw: write").replace("rbd: {size: 1GiB}", "null: {}")).contains("keeps no data to check")
    );
}

#[test]
fn verification_marks_units_that_divide_every_checked_block() {
    let jobs = "{jobs: {a: {rw: write, bs: 12k, verify: crc32c}, b: {rw: randread, bssplit: 8k/50:4k/50, verify: crc32c}}}";
    assert_eq!(plan(&with_workload(jobs)).unwrap().verify_unit.unwrap().get(), 4096);
    assert_eq!(plan(PROFILE).unwrap().verify_unit, None);
}

#[test]
fn a_job_that_overwrites_checked_blocks_without_marking_them_is_warned_of() {
    let jobs = "{jobs: {a: {rw: randrw, verify: crc32c}, ^b: {rw: write}}}";
    warned(
        &with_workload(jobs),
        &["workloads.w.jobs.b: overwrites blocks without marking them, so `workloads.w.jobs.a` can't check \
         those"],
    );
}

#[test]
fn what_has_no_effect_is_warned_of() {
    for (job, line) in [
        ("{rw: read, ^rwmixread: 70}", "rwmixread: has no effect unless `rw` is rw or randrw"),
        (
            "{rw: read, ^random_distribution: once}",
            "random_distribution: has no effect on sequential offsets",
        ),
        ("{rw: read, ^rate_process: poisson}", "rate_process: has no effect without `rate_iops`"),
        ("{rw: read, ^fsync: 1}", "fsync: has no effect on a job that only reads"),
        (
            "{rw: write_zeroes, ^zero_buffers: true}",
            "zero_buffers: has no effect on a job that writes no data",
        ),
        ("{rw: read, ^randseed: 4}", "randseed: has no effect on a job without random choices"),
    ] {
        warned(&with_workload(job), &[&format!("workloads.w.{line}")]);
    }
    warned(
        &with_run("{^slice: 1s, ^budget: 1h}"),
        &[
            "run.slice: has no effect unless `order` is sliced",
            "run.budget: has no effect unless `repeats` is auto",
        ],
    );
    warned(
        &with_target("{rbd: {size: 1GiB}, ^destroys_data: true}"),
        &["targets.t.destroys_data: has no effect on what cephmark makes itself"],
    );
    warned(PROFILE, &[]);
}

#[test]
fn several_handles_that_write_fight_for_the_lock() {
    let yaml =
        with_target("{rbd: {size: 1GiB}, ^handles: per_job}").replace("randwrite", "randwrite, numjobs: 2");
    warned(
        &yaml,
        &["targets.t.handles: load threads that write will take the image's exclusive lock from each other"],
    );
    warned(&yaml.replace("size: 1GiB}, ^", "size: 1GiB, features: [layering]}, "), &[]);
}

#[test]
fn buffers_beyond_this_hosts_memory_are_refused() {
    let line = plan(&with_workload("{rw: read, bs: 1m, iodepth: 4000000000}")).unwrap_err();
    assert!(
        line.contains(
            "needs 3906250GiB for buffers (iodepth x numjobs x bs), 0 to verify and 0 for caches (rbd_cache_size x \
             images), and this host has"
        ),
        "{line}"
    );
}

#[test]
fn trims_that_librbd_skips_are_warned_of() {
    let message = "workloads.w: librbd skips what of a trim does not fill blocks of 64KiB (rbd_discard_granularity_bytes); \
                   use a multiple of that, or `options: {rbd_skip_partial_discard: false}`";
    let trim = with_workload("{rw: randtrim, bs: 4k}");
    warned(&trim.replace("  w:", "  ^w:"), &[message]);
    warned(&trim.replace("4k", "64k"), &[]);
    warned(&trim.replace("1GiB}", "1GiB}, options: {rbd_skip_partial_discard: false}"), &[]);
    warned(&trim.replace("1GiB}", "1GiB}, options: {rbd_discard_granularity_bytes: 4k}"), &[]);
}

#[test]
fn more_trials_than_anybody_has_the_time_for_are_refused() {
    refused(&with_run("{^repeats: 100001}"), "run.repeats: makes 100001 trials, more than 100000");
    let values = |count: u32| (0..count).map(|value| value.to_string()).collect::<Vec<_>>().join(", ");
    let axis = |option: &str| format!("  targets.t.options.{option}: [{}]\n", values(32));
    let sweep = ["a", "b"].map(axis).concat();
    refused(
        &format!("{PROFILE}^sweep:\n{sweep}"),
        "sweep: makes 1024 combinations for targets.t, more than 1000",
    );
}

#[test]
fn what_this_version_does_not_do_is_refused_not_ignored() {
    for (target, what) in [
        ("{cephfs: {}}", "the libcephfs client"),
        ("{cephfs: {client: kernel}}", "the kernel's CephFS client"),
        ("{cephfs: {client: fuse}}", "the ceph-fuse client"),
        ("{rados: {pool: p, objects: 4}}", "the rados target"),
    ] {
        let line = plan(&with_target(target)).unwrap_err();
        assert!(line.ends_with(&format!("{what} is not built into this version; use rbd")), "{line}");
    }
}
