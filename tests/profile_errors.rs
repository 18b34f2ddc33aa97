//! What a user gets for a profile that is mistyped: file, line, column, key, and what was most likely meant.

use crate::planning::{PROFILE, refused, with_run, with_target, with_workload};

#[test]
fn an_unknown_key_gives_its_position_and_the_nearest_one() {
    refused(
        &with_workload("{rw: randread, ^iodepht: 32}"),
        "workloads.w.iodepht: unknown key; did you mean `iodepth`?",
    );
    refused(&with_target("{^rdb: {size: 1GiB}}"), "targets.t.rdb: unknown key; did you mean `rbd`?");
    refused(&format!("{PROFILE}^runs: {{}}\n"), "runs: unknown key; did you mean `run`?");
}

#[test]
fn an_unknown_key_far_from_all_lists_them() {
    refused(&with_target("{file: {^name: x}}"), "targets.t.file.name: unknown key; it may be path or size");
}

#[test]
fn a_key_of_fio_says_what_to_write_instead() {
    refused(
        &with_workload("{rw: randread, ^ioengine: rbd}"),
        "workloads.w.ioengine: unknown key; the target says which client does the I/O",
    );
    refused(&with_workload("{^readwrite: randread}"), "workloads.w.readwrite: unknown key; write `rw`");
    refused(
        &with_workload("{rw: read, ^norandommap: 1}"),
        "workloads.w.norandommap: unknown key; this is what random orders do; `random_distribution: once` \
         keeps fio's map",
    );
}

#[test]
fn a_value_of_the_wrong_kind_says_what_is_expected() {
    refused(
        &with_workload("{rw: randread, ^iodepth: many}"),
        "workloads.w.iodepth: invalid type: string \"many\", expected a whole number",
    );
    refused(
        &with_workload("{rw: randread, ^iodepth: -1}"),
        "workloads.w.iodepth: invalid value: integer `-1`, expected a whole number",
    );
    refused(
        &with_target("{rbd: {^size: 1GiX}}"),
        "targets.t.rbd.size: `1GiX` is not a size such as 4096, 4k, 16KiB or 10GiB",
    );
    refused(
        &with_run("{^runtime: 5 minutes}"),
        "run.runtime: `5 minutes` is not a time such as 500ms, 30s, 5m or 1h",
    );
    refused(
        &with_workload("{rw: randrw, ^rwmixread: 101}"),
        "workloads.w.rwmixread: `101` is not a percentage from 0 to 100 such as 3%",
    );
    refused(
        &with_workload("{rw: read, ^rate_iops: 0}"),
        "workloads.w.rate_iops: `0` is not a number of I/Os per second above 0",
    );
    refused(
        &with_workload("{rw: read, ^cpus_allowed: 3-1}"),
        "workloads.w.cpus_allowed: `3-1` is not a list of processors such as 0-3,5",
    );
    refused(
        &with_workload("{rw: read, ^bssplit: 4k/60:64k/30}"),
        "workloads.w.bssplit: `4k/60:64k/30` is not block sizes with shares that sum up to 100 percent such \
         as 4k/60:64k/40",
    );
    refused(
        &with_workload("{rw: randread, ^random_distribution: 'zipf:0'}"),
        "workloads.w.random_distribution: `zipf:0` is not uniform, once, zipf:EXPONENT (above 0) or \
         hotspot:SPACE/ACCESS (percent; ACCESS not below SPACE)",
    );
}

#[test]
fn a_mistyped_word_gives_the_nearest_valid_one() {
    refused(
        &with_workload("{^rw: randraed}"),
        "workloads.w.rw: `randraed` is not read, write, randread, randwrite, readwrite, rw, randrw, trim, \
         randtrim or write_zeroes; did you mean `randread`?",
    );
    refused(
        &with_target("{rbd: {size: 1GiB, features: [layering, ^exclusive_lock]}}"),
        "targets.t.rbd.features[1]: `exclusive_lock` is not layering, striping, exclusive-lock, \
         object-map, fast-diff, deep-flatten or journaling; did you mean `exclusive-lock`?",
    );
}

#[test]
fn booleans_are_those_of_yaml_1_2() {
    refused(
        &with_target("{rbd: {size: 1GiB}, ^destroys_data: yes}"),
        "targets.t.destroys_data: invalid type: string \"yes\", expected true or false",
    );
}

#[test]
fn a_key_twice_is_an_error() {
    refused(&format!("{PROFILE}^name: again\n"), "duplicated key in mapping");
    refused(&with_workload("{rw: read, ^\"rw\": write}"), "duplicated key in mapping");
}

#[test]
fn a_missing_key_is_named() {
    refused("^version: 1\nname: x\ntargets: {}\n", "`workloads` is missing");
    refused(
        &with_workload("{bs: 4k}").replace("  w:", "  ^w:"),
        "workloads.w: `rw` is missing; add for example `rw: randread`",
    );
}

#[test]
fn what_is_no_map_in_yaml_is_no_profile() {
    refused("^", "is empty");
    refused("^hello", "invalid type: string \"hello\", expected a map");
    refused(&format!("{PROFILE}---\n^name: x\n"), "a second document; a profile is one document");
    refused(&format!("{PROFILE}\t^labels: x\n"), "while parsing a block mapping, did not find expected key");
    refused(
        &with_workload("{^<<: {bs: 4k}, rw: read}"),
        "workloads.w.<<: unknown key; YAML 1.2 merges no maps; repeat the keys",
    );
}

#[test]
fn a_label_that_looks_like_a_number_wants_quotes() {
    refused(
        &format!("{PROFILE}labels: {{^release: 16.10}}\n"),
        "labels.release: invalid type: floating point `16.1`, expected a text; put it in quotes",
    );
}

#[test]
fn a_file_that_is_not_there_says_so() {
    let error = cephmark::profile::Profile::load("no/such.yaml".as_ref(), &[]).unwrap_err().to_string();
    assert_eq!(error, "no/such.yaml: cannot be read: No such file or directory (os error 2)");
}
