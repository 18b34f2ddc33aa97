//! A network file system as a target: a real GlusterFS volume, mounted through FUSE.

use std::fs;
use std::path::Path;

use cephmark::result::Status;

use crate::support::glusterfs::GlusterFs;
use crate::support::kernel_site::KernelSite;
use crate::support::loop_device::Mounted;

const MIB: u64 = 1 << 20;

fn target(mounted: &Path, more: &str) -> String {
    format!("{{file: {{path: {}/io, size: 8MiB}}{more}}}", mounted.display())
}

#[test]
fn what_is_written_to_a_gluster_volume_reads_back_from_its_brick() {
    let (site, volume) = (KernelSite::new(), GlusterFs::start());
    // Of what the brick holds, the trial's I/O reads nothing from this host's page cache.
    let workloads = "{w: {rw: randwrite, bs: 4k, iodepth: 8, verify: crc32c, end_fsync: true}, \
                      r: {rw: read, bs: 64k, iodepth: 4, io_size: 8MiB, verify: crc32c}}";
    for more in ["", ", direct: false", ", engine: linux_aio"] {
        let end = site.run(&target(&volume.path(), more), workloads, &["--set", "run.drop_caches=true"]);
        end.success();
        for trial in site.result().trials {
            assert_eq!(trial.status, Status::Valid, "{more}: {:?}", trial.problems);
            assert_eq!(trial.conditions["file_system"], "fuse.glusterfs");
            let verified = trial.checks[""].verified.as_ref().expect("it verifies");
            assert_eq!(verified.mismatches, 0, "{more}: {verified:?}");
            assert!(trial.workload != "r" || verified.units >= 8 * MIB / 4096, "{more}: {verified:?}");
        }
        let left: Vec<_> = fs::read_dir(volume.brick()).expect("the brick").flatten().collect();
        assert!(left.iter().all(|entry| entry.file_name() == ".glusterfs"), "{left:?}");
    }
}

#[test]
fn the_profile_that_compares_two_mounts_runs_on_gluster_and_a_local_file_system() {
    let (site, volume, other) = (KernelSite::new(), GlusterFs::start(), Mounted::ext4(64 * MIB));
    let mut sets = vec![
        format!("targets.glusterfs.file.path={}/io", volume.path().display()),
        format!("targets.nfs.file.path={}/io", other.path().display()),
        "run.repeats=1".to_owned(),
    ];
    sets.extend(["glusterfs", "nfs"].map(|target| format!("targets.{target}.file.size=4MiB")));
    let names = ["write-4k", "write-1m", "read-4k", "read-1m"];
    sets.extend(names.map(|workload| format!("workloads.{workload}.io_size=4MiB")));
    site.run_config("mounts", &sets).success();
    let trials = site.result().trials;
    assert_eq!(trials.len(), 16, "two mounts, direct and buffered, four workloads");
    for trial in &trials {
        assert_eq!(trial.status, Status::Valid, "{} {}: {:?}", trial.arm, trial.workload, trial.problems);
        let moved: u64 =
            trial.jobs[""].iter().filter(|(op, _)| *op != "fsync").map(|(_, found)| found.bytes).sum();
        assert_eq!(moved, 4 * MIB, "{} {}: once over the file", trial.arm, trial.workload);
        let (gluster, direct) = (trial.target == "glusterfs", trial.arm.contains("direct=true"));
        assert_eq!(trial.conditions["file_system"], if gluster { "fuse.glusterfs" } else { "ext4" });
        let cache = if direct { "bypassed" } else { "dropped before the measured part" };
        assert_eq!(trial.conditions["page_cache"], cache);
        assert_eq!(
            trial.jobs[""].contains_key("fsync"),
            trial.workload.starts_with("write"),
            "one, at the end"
        );
    }
}
