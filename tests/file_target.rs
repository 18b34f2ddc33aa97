//! Files as targets, on whatever is mounted: made and removed, or used as they are.

use std::fs;

use std::os::unix::process::CommandExt;
use std::time::{Duration, Instant};

use cephmark::result::Status;
use nix::sys::signal::Signal;

use crate::support::kernel_site::KernelSite;
use crate::support::loop_device::{LoopDevice, Mounted};
use crate::support::site::Running;

const MIB: u64 = 1 << 20;
const READS: &str = "{r: {rw: randread, iodepth: 4}}";
const VERIFIED: &str = "{w: {rw: randrw, bs: 4k, iodepth: 8, verify: crc32c}, \
                         r: {rw: randread, random_distribution: once, iodepth: 8, verify: crc32c}}";
const NEW: &str = "{file: {path: io, size: 8MiB}}";

fn new(more: &str) -> String {
    NEW.replace("}}", &format!("}}{more}}}"))
}

#[test]
fn a_new_file_is_filled_read_back_and_removed() {
    let site = KernelSite::new();
    for more in ["", ", direct: false", ", engine: linux_aio", ", engine: linux_aio, direct: false"] {
        site.run(&new(more), VERIFIED, &["--set", "run.drop_caches=true"]).success();
        let result = site.result();
        for trial in &result.trials {
            assert_eq!(trial.status, Status::Valid, "{more}: {:?}", trial.problems);
            let verified = trial.checks[""].verified.as_ref().expect("it verifies");
            assert!(verified.units > 0 && verified.mismatches == 0, "{more}: {verified:?}");
            assert_eq!(
                (trial.conditions["client"].as_str(), trial.conditions["prefill"].as_str()),
                ("file", "true")
            );
        }
        assert_eq!(site.files(), Vec::<String>::new(), "{more}: the file is removed");
    }
}

#[test]
fn what_trims_punched_out_is_filled_again() {
    let site = KernelSite::new();
    let workloads = "{trim: {rw: randtrim, bs: 64k}, zero: {rw: write_zeroes, bs: 64k}, \
                     r: {rw: randread, random_distribution: once, iodepth: 8, verify: crc32c}}";
    site.run(NEW, workloads, &["--set", "run.repeats=2"]).success();
    let verified: Vec<_> =
        site.result().trials.iter().filter_map(|trial| trial.checks[""].verified.clone()).collect();
    assert!(verified.len() == 2 && verified.iter().all(|checks| checks.units > 0 && checks.mismatches == 0));
}

#[test]
fn an_existing_file_is_read_as_it_is_and_written_only_if_its_data_may_be_lost() {
    let site = KernelSite::new();
    let data: Vec<u8> = (0..4 * MIB).map(|at| (at / 4096) as u8).collect();
    fs::write(site.path("io"), &data).expect("a file");
    let (careful, careless) = ("{file: {path: io}}", "{file: {path: io}, destroys_data: true}");
    let writes = "{w: {rw: randwrite, iodepth: 4, end_fsync: true}}";
    site.run(careful, writes, &[]).refused(2, &["overwrites io", "`destroys_data: true`"]);
    site.run(careful, READS, &[]).success();
    assert!(fs::read(site.path("io")).expect("it is there") == data, "reads changed it");
    site.run(careless, writes, &[]).success();
    let written = fs::read(site.path("io")).expect("it is there");
    assert!(written.len() == data.len() && written != data, "it keeps its size and gets new data");
    site.run("{file: {path: none}}", READS, &[]).refused(3, &["look at none", "no such file or directory"]);
    site.run("{file: {path: .}}", READS, &[]).refused(2, &["names no file"]);
}

#[test]
fn an_existing_file_that_somebody_uses_is_not_overwritten() {
    let site = KernelSite::new();
    let (path, data) = (site.path("io"), vec![7; 4 * MIB as usize]);
    fs::write(&path, &data).expect("a file");
    let (target, writes) = ("{file: {path: io}, destroys_data: true}", "{w: {rw: randwrite, iodepth: 4}}");
    let is_refused = |by: &[&str]| {
        site.run(target, writes, &[]).refused(3, by);
        assert!(fs::read(&path).expect("it is there") == data, "{by:?}: its data is gone");
    };

    let device = LoopDevice::over(&path);
    let name = device.path().file_name().expect("a name").display().to_string();
    is_refused(&[
        &format!("io is not written: loop device {name} is built on it"),
        &format!("`losetup --detach /dev/{name}` first"),
    ]);
    site.run(target, READS, &[]).success();
    drop(device);

    let reader = fs::File::open(&path).expect("a reader");
    is_refused(&[
        &format!("io is not written: process {} (", std::process::id()),
        "has it open; end that first",
    ]);
    drop(reader);
    site.run(target, writes, &["--set", "run.repeats=2"]).success();
    assert!(fs::read(&path).expect("it is there") != data, "nothing was written");
}

#[test]
fn holes_of_an_existing_file_are_told() {
    let site = KernelSite::new();
    let file = fs::File::create(site.path("io")).expect("a file");
    file.set_len(4 * MIB).expect("room");
    site.run("{file: {path: io}}", READS, &[]).success();
    let notes = site.result().notes;
    assert!(notes.iter().any(|note| note.text.contains("only 0 of 4MiB of io are allocated")), "{notes:?}");
}

#[test]
fn a_file_system_without_direct_io_is_told_and_nothing_stays_on_it() {
    let (site, mounted) = (KernelSite::new(), Mounted::ramfs());
    let target = |direct: bool| {
        format!("{{file: {{path: {}/io, size: 1MiB}}, direct: {direct}}}", mounted.path().display())
    };
    let end = site.run(&target(true), READS, &[]);
    end.fails(3, &["its file system, ramfs, takes no direct I/O; set `direct: false`"]);
    assert_eq!(fs::read_dir(mounted.path()).expect("it is mounted").count(), 0);
    site.run(&target(false), READS, &[]).success();
    assert_eq!(site.result().trials[0].conditions["file_system"], "ramfs");
}

#[test]
fn blocks_that_would_go_through_the_page_cache_unasked_are_refused() {
    let site = KernelSite::new();
    let end = site.run(NEW, "{w: {rw: write, bs: 1000}}", &[]);
    end.fails(2, &["workloads.w.bs: direct I/O on io.cephmark-", "needs multiples of"]);
    assert_eq!(site.files(), Vec::<String>::new());
}

#[test]
fn a_file_that_does_not_fit_is_refused() {
    let (site, mounted) = (KernelSite::new(), Mounted::tmpfs(16 * MIB));
    let target = format!("{{file: {{path: {}/io, size: 10MiB}}}}", mounted.path().display());
    site.run(
        &target,
        READS,
        &["--set", "sweep={targets.t.direct: [true, false]}", "--set", "run.drop_caches=true"],
    )
    .refused(3, &["the file system has 16MiB left, but the files of the plan need 20MiB"]);
}

#[test]
fn reads_after_dropping_caches_come_from_the_device() {
    let (site, mounted) = (KernelSite::new(), Mounted::ext4(64 * MIB));
    let name = mounted.device().file_name().expect("a name").display().to_string();
    let sectors_read = || -> u64 {
        let stat = fs::read_to_string(format!("/sys/block/{name}/stat")).expect("every device has it");
        stat.split_whitespace().nth(2).expect("sectors").parse().expect("a number")
    };
    let target = format!("{{file: {{path: {}/io, size: 16MiB}}, direct: false}}", mounted.path().display());
    let once = "{r: {rw: read, bs: 1m, io_size: 16MiB}}";
    // The ramp fills the page cache again, after it was emptied for the trial.
    let ramped = ["--set", "run.ramp_time=500ms", "--set", "run.repeats=2"];
    let before = sectors_read();
    site.run(&target, once, &[&ramped[..], &["--set", "run.drop_caches=true"]].concat()).success();
    let read = (sectors_read() - before) * 512;
    assert!(read >= 4 * 16 * MIB, "two ramps and two trials read {read} bytes");
}

#[test]
fn dropping_caches_takes_root() {
    let site = KernelSite::new();
    let mut command = site.command("check", NEW, READS, &["--set", "run.drop_caches=true"]);
    command.uid(65534);
    Running::start(command).end().fails(3, &["can't drop the page cache", "run as root of this host"]);
}

#[test]
fn a_run_that_is_interrupted_removes_its_file_and_that_of_a_killed_one_is_cleaned_away() {
    let site = KernelSite::new();
    // With as many files in all.
    let start = |files: usize| {
        let running = site.start(NEW, READS, &["--set", "run.runtime=60s"]);
        let until = Instant::now() + Duration::from_secs(60);
        while fs::metadata(site.path("out/result.json")).is_err() || site.files().len() < files {
            assert!(Instant::now() < until, "it makes no file");
            std::thread::sleep(Duration::from_millis(5));
        }
        running
    };
    let running = start(1);
    running.signal(Signal::SIGTERM);
    assert_eq!(running.end().status.code(), Some(130));
    assert_eq!(site.files(), Vec::<String>::new());
    let running = start(1);
    running.signal(Signal::SIGKILL);
    assert!(!running.end().status.success());
    let files = site.files();
    assert!(files.len() == 1 && files[0].starts_with("io.cephmark-"), "{files:?}");
    let left = site.path(&files[0]);

    // Another run goes on beside it.
    let running = start(2);
    let alive = site.files().into_iter().find(|name| site.path(name) != left).expect("it makes a file");
    let path = site.path("io").display().to_string();
    let listed = site.run_command(&["clean", &path]);
    let lines = [
        left.display().to_string(),
        format!("{} (in use by a run: left alone)", site.path(&alive).display()),
    ];
    assert!(
        lines.iter().all(|line| listed.success().contains(&format!("{line}\n"))),
        "{lines:?}: {listed:#?}"
    );
    assert!(listed.stdout.ends_with("add --yes to remove what is listed\n"), "{listed:#?}");
    let removed = site.run_command(&["clean", &path, "--yes"]);
    assert!(removed.success().ends_with(&format!("removed {}\n", left.display())), "{removed:#?}");
    assert_eq!(site.files(), [alive]);
    running.signal(Signal::SIGINT);
    assert_eq!(running.end().status.code(), Some(130));
    assert_eq!(site.run_command(&["clean", &path]).success(), "nothing was left behind\n");
}

#[test]
fn writes_through_the_page_cache_are_not_taken_for_durable_ones() {
    let site = KernelSite::new();
    let workloads = "{w: {rw: write, bs: 1m, io_size: 8MiB, end_fsync: true}}";
    site.run(&new(", direct: false"), workloads, &[]).success();
    let trial = &site.result().trials[0];
    assert_eq!(trial.durable_on_ack, Some(false));
    let sync_s = trial.jobs[""]["fsync"].latency_ns.max.expect("one sync") as f64 / 1e9;
    assert!(
        trial.drain_s.expect("it owes a sync") >= sync_s * 0.999,
        "the sync of the load threads is in the drain"
    );
    let (durable, acknowledged) =
        (trial.effective_bytes_per_s.expect("writes"), trial.jobs[""]["write"].bytes_per_s);
    assert!(durable < acknowledged, "{durable} {acknowledged}");
}

#[test]
fn a_volume_seen_from_two_places_is_compared_by_its_labels() {
    let (site, device) = (KernelSite::new(), LoopDevice::in_memory(16 * MIB));
    let mounted = Mounted::ext4(64 * MIB);
    let places = [
        ("host", format!("{{block: {{path: {}}}, destroys_data: true}}", device.path().display())),
        ("pod", format!("{{file: {{path: {}/io, size: 16MiB}}}}", mounted.path().display())),
    ];
    for (place, target) in &places {
        let mut sets = vec![
            format!("labels.place={place}"),
            format!("targets={{volume: {target}}}"),
            "run={ramp_time: 0s, runtime: 1s, repeats: 2}".to_owned(),
        ];
        let whole = ["randread-16k", "randwrite-16k"].map(|name| format!("workloads.{name}.size=16MiB"));
        sets.extend(whole);
        site.run_config("places", &sets).success();
        fs::rename(site.path("out"), site.path(place)).expect("a result");
    }
    let end = site.run_command(&["compare", "host", "pod", "--baseline", "place=host volume"]);
    let text = end.success();
    assert!(text.contains("place=pod volume") && text.contains("unpaired"), "{text}");
    assert!(
        text.contains("different client: block in place=host volume, file in place=pod volume"),
        "{text}"
    );
}
