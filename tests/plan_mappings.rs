//! Rules of images that become block devices: which keys they take, and how the plan tells of them.

use crate::planning::{plan, refused, warned, with_target};

/// A target that the kernel's client maps, with this key beside it.
fn krbd(key: &str) -> String {
    with_target(&format!("{{rbd: {{size: 1GiB, client: krbd}}, {key}}}"))
}

#[test]
fn a_mapped_image_takes_the_keys_of_block_devices() {
    let plan =
        plan(&krbd("map_options: [queue_depth=64, notrim], queue: {read_ahead_kb: 0}, engine: linux_aio"));
    let text = plan.expect("a plan").render();
    assert!(
        text.contains("krbd: 1 new image of 1GiB in rbd, filled; queue_depth=64; notrim; linux_aio, direct; queue/read_ahead_kb=0"),
        "{text}"
    );
    assert!(plan_of_nbd().contains(
        "nbd: 1 new image of 1GiB in rbd, filled; io-timeout=60; io_uring, direct; rbd_cache=false"
    ));
}

fn plan_of_nbd() -> String {
    let target =
        "{rbd: {size: 1GiB, client: nbd}, map_options: [io-timeout=60], options: {rbd_cache: false}}";
    plan(&with_target(target)).expect("a plan").render()
}

#[test]
fn keys_belong_to_their_client() {
    refused(
        &krbd("^options: {rbd_cache: false}"),
        "targets.t.options: is of Ceph's libraries; the kernel's client has `map_options` instead",
    );
    refused(
        &krbd("handles: per_job, ^connections: per_job"),
        "targets.t.connections: is of librbd; each mapping has a connection of its own",
    );
    refused(
        &with_target("{rbd: {size: 1GiB}, ^map_options: [queue_depth=64]}"),
        "targets.t.map_options: is of images with `client: krbd` or `client: nbd`",
    );
}

#[test]
fn map_options_are_known_ones_and_the_user_is_not_among_them() {
    let of = |option: &str| krbd(&format!("map_options: [notrim, ^{option}]"));
    refused(
        &of("queue_dept=64"),
        "targets.t.map_options[1]: krbd has no map option `queue_dept`; did you mean `queue_depth`?",
    );
    for option in ["secret=AQBC", "name=admin", "key=x"] {
        refused(&of(option), "targets.t.map_options[1]: is taken from `cluster.user` and its keyring");
    }
    refused(
        &of("\"ro,queue_depth=64\""),
        "targets.t.map_options[1]: is not one option; write a list, as `[queue_depth=128, notrim]`",
    );
}

#[test]
fn direct_io_is_in_whole_sectors() {
    refused(
        &krbd("").replace("rw: randwrite", "rw: randwrite, ^bs: 777"),
        "workloads.w.bs: direct I/O on the block devices of t needs multiples of 512; or set `direct: false` there",
    );
    assert!(plan(&krbd("direct: false").replace("rw: randwrite", "rw: randwrite, bs: 777")).is_ok());
}

#[test]
fn the_page_cache_may_answer_reads_unless_it_is_dropped() {
    let reads = |key: &str| krbd(key).replace("randwrite", "randread");
    warned(&reads("direct: true"), &[]);
    let cache = "targets.t.direct: reads are answered by this host's page cache where it holds the data; add `run.drop_caches`";
    warned(&reads("^direct: false"), &[cache]);
}
