//! Block devices as targets: what runs on them, and which of them are left alone.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use cephmark::result::Status;
use cephmark::target::Device;
use nix::sys::signal::Signal;

use crate::support::kernel_site::KernelSite;
use crate::support::loop_device::{LoopDevice, Mounted, tool};

const MIB: u64 = 1 << 20;
const VERIFIED: &str = "{w: {rw: randrw, bs: 4k, iodepth: 8, numjobs: 2, verify: crc32c}}";

fn target(device: &Path, more: &str) -> String {
    format!("{{block: {{path: {}}}, destroys_data: true{more}}}", device.display())
}

#[test]
fn what_is_written_reads_back_by_either_queue_direct_and_buffered() {
    let (site, device) = (KernelSite::new(), LoopDevice::in_memory(16 * MIB));
    for (engine, direct) in
        [("io_uring", true), ("io_uring", false), ("linux_aio", true), ("linux_aio", false)]
    {
        let more = format!(", engine: {engine}, direct: {direct}");
        site.run(&target(device.path(), &more), VERIFIED, &["--set", "run.drop_caches=true"]).success();
        let trial = &site.result().trials[0];
        assert_eq!(trial.status, Status::Valid, "{:?}", trial.problems);
        let verified = trial.checks[""].verified.as_ref().expect("it verifies");
        assert!(verified.units > 0 && verified.mismatches == 0, "{verified:?}");
        let condition = |name: &str| trial.conditions[name].as_str();
        assert_eq!(
            (condition("engine"), condition("direct")),
            (engine, if direct { "true" } else { "false" })
        );
        let cache = if direct { "bypassed" } else { "dropped before the measured part" };
        assert_eq!((condition("client"), condition("page_cache")), ("block", cache));
        assert!(trial.conditions.contains_key("nr_requests") && trial.conditions.contains_key("scheduler"));
        assert_eq!(trial.durable_on_ack == Some(false), !direct || condition("write_cache") == "write back");
    }
}

#[test]
fn trims_zeroes_and_syncs_run_on_a_device() {
    let (site, device) = (KernelSite::new(), LoopDevice::in_memory(16 * MIB));
    let workloads = "{trim: {rw: randtrim, bs: 64k, iodepth: 4}, zero: {rw: write_zeroes, bs: 64k, iodepth: 4}, \
                     sync: {rw: randwrite, fsync: 2, fdatasync: 3, end_fsync: true}}";
    for engine in ["io_uring", "linux_aio"] {
        site.run(&target(device.path(), &format!(", engine: {engine}")), workloads, &[]).success();
        let done = |workload: usize, op: &str| site.result().trials[workload].jobs[""][op].ios;
        let ios = [(0, "trim"), (1, "write_zeroes"), (2, "write"), (2, "fsync"), (2, "fdatasync")];
        assert!(ios.into_iter().all(|(workload, op)| done(workload, op) > 0), "{engine}");
    }
}

#[test]
fn a_device_is_only_read_unless_its_data_may_be_lost() {
    let (site, device) = (KernelSite::new(), LoopDevice::in_memory(4 * MIB));
    let careful = format!("{{block: {{path: {}}}}}", device.path().display());
    site.run(&careful, VERIFIED, &[]).refused(2, &["overwrites /dev/loop", "`destroys_data: true`"]);
    let bytes = || {
        let mut bytes = vec![0; 4 << 20];
        File::open(device.path()).expect("it exists").read_exact_at(&mut bytes, 0).expect("it reads");
        bytes
    };
    let before = bytes();
    site.run(&careful, "{r: {rw: randread, iodepth: 4}}", &[]).success();
    assert!(bytes() == before, "the device has changed");
}

/// Why a device is not claimed.
#[track_caller]
fn refusal(path: &Path) -> String {
    match Device::at(path).expect("a device").claim() {
        Ok(_) => panic!("{} is claimed", path.display()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_mounted_device_is_left_alone_wherever_it_is_mounted() {
    let (site, mounted, bind) =
        (KernelSite::new(), Mounted::ext4(16 * MIB), tempfile::tempdir().expect("a directory"));
    let (at, bound) = (mounted.path().display().to_string(), bind.path().display().to_string());
    let end = site.run(&target(mounted.device(), ""), VERIFIED, &[]);
    end.refused(3, &["is not written: /dev/loop", &format!("is mounted on {at}; `umount {at}` first")]);
    tool("mount", &["--bind", &at, &bound]);
    tool("umount", &[&at]);
    let words = refusal(mounted.device());
    tool("mount", &["--bind", &bound, &at]);
    tool("umount", &[&bound]);
    assert!(words.contains(&format!("is mounted on {bound}")), "{words}");
}

#[test]
fn a_device_that_is_mounted_out_of_our_sight_is_left_alone() {
    let device = LoopDevice::in_memory(16 * MIB);
    let path = device.path().display().to_string();
    tool("mkfs.ext4", &["-q", &path]);
    // A mount namespace of its own, as containers have, which ends with the process in it.
    let script = format!("mount {path} /mnt && echo mounted && exec cat");
    let mut elsewhere = Command::new("unshare")
        .args(["--mount", "sh", "-c", &script])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("unshare runs");
    let mut said = [0; 8];
    std::io::Read::read_exact(elsewhere.stdout.as_mut().expect("it is piped"), &mut said).expect("it mounts");
    let words = refusal(device.path());
    drop(elsewhere.stdin.take());
    elsewhere.wait().expect("it ends");
    assert!(words.contains("the kernel says so") && words.contains("containers"), "{words}");
}

#[test]
fn a_device_that_is_swap_is_left_alone() {
    let device = LoopDevice::in_memory(16 * MIB);
    let path = device.path().display().to_string();
    tool("mkswap", &[&path]);
    tool("swapon", &[&path]);
    let words = refusal(device.path());
    tool("swapoff", &[&path]);
    assert!(words.contains(&format!("{path} is used as swap; `swapoff {path}` first")), "{words}");
}

#[test]
fn a_device_below_another_is_left_alone() {
    let device = LoopDevice::in_memory(16 * MIB);
    let above = LoopDevice::over(device.path());
    let words = refusal(device.path());
    assert!(
        words.contains(&format!("loop device {}", above.path().file_name().unwrap().display())),
        "{words}"
    );
}

#[test]
fn a_device_whose_partition_is_mounted_is_left_alone_and_so_is_its_sibling_not() {
    let device = LoopDevice::in_memory(64 * MIB);
    let path = device.path().display().to_string();
    tool("addpart", &[&path, "1", "2048", "65536"]);
    tool("addpart", &[&path, "2", "67584", "32768"]);
    let (first, second) = (format!("{path}p1"), format!("{path}p2"));
    tool("mkfs.ext4", &["-q", &first]);
    let place = tempfile::tempdir().expect("a directory");
    tool("mount", &[&first, &place.path().display().to_string()]);
    let words = refusal(device.path());
    let sibling = Device::at(Path::new(&second)).expect("a device").claim().map(drop);
    tool("umount", &[&place.path().display().to_string()]);
    assert!(words.contains(&format!("{first} is mounted on")), "{words}");
    sibling.expect("nobody uses it");
}

#[test]
fn a_physical_volume_is_left_alone_even_while_its_group_is_inactive() {
    let device = LoopDevice::in_memory(16 * MIB);
    // What pvcreate writes to the second sector.
    let file = File::options().write(true).open(device.path()).expect("the device");
    file.write_all_at(b"LABELONE", 512).expect("it takes it");
    drop(file);
    let words = refusal(device.path());
    assert!(words.contains("it is a physical volume of LVM; `pvremove /dev/loop"), "{words}");
}

#[test]
fn what_is_no_device_is_told_from_what_is() {
    let site = KernelSite::new();
    fs::write(site.path("file"), "text").expect("a file");
    let block = |name: &str| target(&site.path(name), "");
    site.run(&block("file"), VERIFIED, &[]).refused(3, &["it is no block device; a file goes under `file`"]);
    site.run(&block("none"), VERIFIED, &[])
        .refused(3, &["no such file or directory (ENOENT)", "correct `path`"]);
}

fn read_ahead(device: &LoopDevice) -> String {
    let name = device.path().file_name().expect("a name").display().to_string();
    fs::read_to_string(format!("/sys/block/{name}/queue/read_ahead_kb"))
        .expect("every queue has it")
        .trim()
        .to_owned()
}

#[test]
fn attributes_of_the_queue_hold_for_the_trials_and_are_given_back_however_they_end() {
    let (site, device) = (KernelSite::new(), LoopDevice::in_memory(16 * MIB));
    let before = read_ahead(&device);
    let set = target(device.path(), ", queue: {read_ahead_kb: 64, nomerges: 2}");
    site.run(&set, VERIFIED, &[]).success();
    assert_eq!(site.result().trials[0].conditions["read_ahead_kb"], "64");
    assert_eq!(read_ahead(&device), before);
    for signals in [1, 2] {
        let running = site.start(&set, VERIFIED, &["--set", "run.runtime=60s"]);
        wait_until("it is set", || read_ahead(&device) == "64");
        (0..signals).for_each(|_| running.signal(Signal::SIGINT));
        assert_eq!(running.end().status.code(), Some(130));
        assert_eq!(read_ahead(&device), before, "after {signals} signals");
    }
    let wrong = target(device.path(), ", queue: {read_ahead_kb: 64, nr_reqests: 1}");
    site.run(&wrong, VERIFIED, &[]).fails(3, &["queue/nr_reqests to 1: there is no such attribute"]);
    assert_eq!(read_ahead(&device), before, "after an error");
}

fn wait_until(what: &str, so: impl Fn() -> bool) {
    let until = std::time::Instant::now() + Duration::from_secs(60);
    while !so() {
        assert!(std::time::Instant::now() < until, "{what}: not within a minute");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_io_error_fails_the_trial_with_its_errno() {
    let (site, small) = (KernelSite::new(), Mounted::tmpfs(4 * MIB));
    // Most of it has no memory to go to.
    let device = LoopDevice::in_directory(small.path(), 16 * MIB);
    let end = site.run(&target(device.path(), ""), "{w: {rw: randwrite, bs: 64k, iodepth: 4}}", &[]);
    assert_eq!(end.status.code(), Some(4), "{end:#?}");
    let trial = &site.result().trials[0];
    assert_eq!((trial.status, trial.problems[0].code.as_str()), (Status::Failed, "io_error"));
    assert!(
        ["EIO", "ENOSPC"].iter().any(|errno| trial.problems[0].text.contains(errno)),
        "{:?}",
        trial.problems
    );
}

#[test]
fn blocks_that_a_device_can_t_do_directly_are_refused() {
    let (site, device) = (KernelSite::new(), LoopDevice::of_sectors(16 * MIB, 4096));
    site.run(&target(device.path(), ""), "{w: {rw: read, bs: 6k}}", &[])
        .refused(2, &["workloads.w.bs: direct I/O on /dev/loop", "needs multiples of 4KiB"]);
    site.run(&target(device.path(), ", direct: false"), "{w: {rw: write, bs: 6k}}", &[]).success();
}

#[test]
fn two_arms_on_one_device_take_turns() {
    let (site, device) = (KernelSite::new(), LoopDevice::in_memory(16 * MIB));
    let sweep = ["--set", "sweep={targets.t.direct: [true, false]}", "--set", "run.repeats=2"];
    site.run(&target(device.path(), ""), "{w: {rw: randwrite}}", &sweep).success();
    let arms: Vec<String> = site.result().trials.iter().map(|trial| trial.arm.clone()).collect();
    assert_eq!(arms.iter().filter(|arm| *arm == "t[direct=true]").count(), 2, "{arms:?}");
}
