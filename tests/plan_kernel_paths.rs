//! Rules of block devices and files, which the kernel does the I/O of.

use crate::planning::{plan, refused, warned, with_run, with_target};

const NEW: &str = "{file: {path: /mnt/f, size: 1GiB}}";

#[test]
fn what_exists_is_only_read_unless_its_data_may_be_lost() {
    for (kind, path) in [("block", "/dev/vdb"), ("file", "/mnt/f")] {
        let target = format!("{{{kind}: {{path: {path}}}}}");
        refused(
            &with_target(&target).replace("  t:", "  ^t:"),
            &format!(
                "targets.t: workload `w` overwrites {path}; add `destroys_data: true` if its data may be lost"
            ),
        );
        assert!(plan(&with_target(&target).replace("randwrite", "randread")).is_ok());
        assert!(plan(&with_target(&target.replace("}}", "}, destroys_data: true}"))).is_ok());
    }
    assert!(plan(&with_target(NEW)).is_ok(), "what cephmark makes it may write");
}

#[test]
fn keys_belong_to_their_kind_of_target() {
    let beside = |target: &str, key: &str| with_target(&target.replace("}}", &format!("}}, ^{key}}}")));
    let ceph = "is of Ceph's clients, of which cephmark uses none here";
    refused(&beside(NEW, "options: {rbd_cache: false}"), &format!("targets.t.options: {ceph}"));
    let both = beside(NEW, "connections: per_job").replace("^conn", "handles: per_job, ^conn");
    refused(&both, &format!("targets.t.connections: {ceph}"));
    refused(
        &beside(NEW, "queue: {nr_requests: 8}"),
        "targets.t.queue: is of block devices; a file system may lie on several of them, or on none",
    );
    for key in ["engine: linux_aio", "queue: {nr_requests: 8}"] {
        let name = key.split(':').next().unwrap();
        let message = format!("targets.t.{name}: is of kernel paths, files and block devices");
        refused(&beside("{rbd: {size: 1GiB}}", key), &message);
        refused(&beside("{null: {size: 1GiB}}", key), &message);
    }
    refused(
        &with_target("{block: {path: /dev/vdb}, queue: {^../x: 8}}").replace("randwrite", "read"),
        "targets.t.queue.../x: is no name of a queue attribute; see /sys/block/*/queue",
    );
}

#[test]
fn paths_and_sizes_must_make_sense() {
    refused(
        &with_target("{block: {^path: vdb}}"),
        "targets.t.block.path: must begin with `/`, so that it is the same from wherever cephmark runs",
    );
    refused(&with_target("{file: {^path: /}}"), "targets.t.file.path: names no file");
    refused(&with_target("{file: {path: /f, ^size: 0}}"), "targets.t.file.size: must be above 0");
    let odd = "{file: {path: /f, ^size: 10000}}";
    refused(&with_target(odd), "targets.t.file.size: must be a multiple of 4KiB, for direct I/O");
    let buffered = odd.replace('^', "").replace("}}", "}, direct: false}");
    assert!(plan(&with_target(&buffered)).is_ok());
}

#[test]
fn reads_that_the_page_cache_may_answer_are_warned_of() {
    let buffered = with_target("{file: {path: /f, size: 1GiB}, ^direct: false}").replace("randwrite", "read");
    let warning = "targets.t.direct: reads are answered by this host's page cache where it holds the data; add \
                   `run.drop_caches`";
    warned(&buffered, &[warning]);
    warned(&buffered.replace('^', "").replace("seed: 1,", "seed: 1, drop_caches: true,"), &[]);
    warned(&buffered.replace('^', "").replace("rw: read", "rw: write"), &[]);
    warned(
        &with_run("{seed: 1, repeats: 1, ^drop_caches: true}"),
        &["run.drop_caches: has no effect without targets that the kernel does the I/O of"],
    );
}

#[test]
fn two_arms_can_t_alternate_on_one_device() {
    let yaml = with_target("{block: {path: /dev/vdb}, destroys_data: true}")
        .replace("repeats: 1", "repeats: 1, ^order: sliced")
        + "sweep: {targets.t.direct: [true, false]}\n";
    refused(
        &yaml,
        "run.order: the arms `t[direct=true]` and `t[direct=false]` use the same path, /dev/vdb, which only one of \
         them may have open; use interleaved",
    );
}

#[test]
fn the_plan_says_what_is_made_read_and_overwritten() {
    let text = |target: &str, rw: &str| plan(&with_target(target).replace("randwrite", rw)).unwrap().render();
    let made = text(NEW, "randwrite");
    assert!(made.contains("new file of 1GiB beside /mnt/f, filled; io_uring, direct\n"), "{made}");
    assert!(made.contains("1GiB written once") && made.contains("1GiB beside /mnt/f\n"), "{made}");
    let read = text("{block: {path: /dev/vdb}, engine: linux_aio, queue: {nr_requests: 8}}", "read");
    assert!(
        read.contains("block device /dev/vdb, only read; linux_aio, direct; queue/nr_requests=8\n"),
        "{read}"
    );
    let lost = text("{file: {path: /f}, destroys_data: true, direct: false}", "write");
    assert!(
        lost.contains("the existing file /f, its data is overwritten; io_uring, through the page cache\n"),
        "{lost}"
    );
}
