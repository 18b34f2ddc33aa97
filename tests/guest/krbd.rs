//! The kernel's RBD client as an arm: beside librbd, with the same data, and nothing left afterwards.

use std::io::Read;
use std::path::Path;

use super::guest::{Guest, with_guest};
use super::support::block;
use super::support::ceph::{command, tool};

/// One arm that the kernel drives, on two images that cephmark makes; `--set` makes other cases of it.
const PROFILE: &str = "\
version: 1
name: test
targets:
  krbd: {rbd: {size: 8MiB, images: 2, client: krbd}}
workloads:
  w: {rw: randwrite, bs: 4k, iodepth: 4}
run: {ramp_time: 0s, runtime: 60s, repeats: 1, retries: 0, prefill: false}
";

/// One arm on an image that exists, every block of which is written once, then read and checked.
const WHOLE: &str = "\
version: 1
name: test
targets:
  t: {rbd: {image: IMAGE, client: CLIENT}, destroys_data: true}
workloads:
  w: {rw: randwrite, bs: 4k, iodepth: 16, random_distribution: once, number_ios: 1024, verify: crc32c}
  r: {rw: randread, bs: 4k, iodepth: 16, verify: crc32c, number_ios: 512}
run: {ramp_time: 0s, runtime: 60s, repeats: 1, order: sequential}
";

/// An image of so many MiB, for a test's own use.
#[track_caller]
fn create(guest: &Guest, image: &str, mib: u32) {
    tool(&guest.lab, "rbd", &["create", "--size", &format!("{mib}M"), image]);
}

#[track_caller]
fn remove(guest: &Guest, image: &str) {
    assert_eq!(guest.watchers(image), [""; 0], "{image} is still open somewhere");
    tool(&guest.lab, "rbd", &["rm", "--no-progress", image]);
}

/// Asserts that every block of an image holds what cephmark marks, for that place.
#[track_caller]
fn assert_marked(data: &[u8], size: usize) {
    assert_eq!(data.len(), size);
    for (number, block) in data.chunks(4096).enumerate() {
        assert_eq!(block::read(block).offset, number as u64 * 4096);
    }
}

/// While something is mapped: the key must be nowhere that others can see, and the mapping have its mark.
#[track_caller]
fn assert_secret(guest: &Guest) {
    let seen = guest.sh(
        "{ cat /proc/[0-9]*/cmdline | tr '\\0' ' '; cat /sys/bus/rbd/devices/*/config_info; find out -type f -exec cat {} +; \
         dmesg; }",
    );
    assert!(seen.contains("cephmark run profile.yaml") && seen.contains("key=cephmark-"), "{seen}");
    assert!(!seen.contains(&guest.secret()), "{seen}");
}

#[test]
fn both_clients_run_side_by_side_on_like_images_and_are_compared() {
    with_guest(|guest| {
        let profile = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/krbd-vs-librbd.yaml");
        let profile = std::fs::read_to_string(profile).expect("a profile that is shipped");
        let small =
            ["krbd", "librbd", "librbd-cached"].map(|target| format!("targets.{target}.rbd.size=8MiB"));
        let mut sets: Vec<&str> = small.iter().map(String::as_str).collect();
        // By counts, since an emulated machine may be slower than any time allows for.
        let workloads = "workloads={randread-16k: {rw: randread, bs: 16k, iodepth: 32, number_ios: 256}, \
                         randwrite-16k: {rw: randwrite, bs: 16k, iodepth: 32, number_ios: 256}}";
        sets.extend([workloads, "run.ramp_time=0s", "run.runtime=60s", "run.repeats=3"]);
        let output = guest.cephmark_run(&profile, &sets);
        assert_eq!(output.code, 0, "{}", output.text);
        let result = guest.valid_result();
        assert_eq!(result.trials.len(), 3 * 2 * 3);
        for trial in &result.trials {
            let is = |name: &str, value: &str| {
                assert_eq!(trial.conditions[name], value, "{name} of {}", trial.arm)
            };
            is("client", if trial.arm == "krbd" { "krbd" } else { "librbd" });
            is("messenger_mode", "crc secure");
            is("read_from_replica", "default");
            is("image_size", "8MiB");
            is("page_cache", "bypassed");
            let figures = (trial.cpu.us_per_io, trial.cpu.host_us_per_io);
            assert!(figures.0.is_some_and(|cost| cost > 0.0), "{}: {figures:?}", trial.arm);
            assert!(figures.1.is_some_and(|cost| cost > 0.0), "{}: {figures:?}", trial.arm);
        }
        let alike = |name: &str| {
            result.trials.iter().all(|trial| trial.conditions[name] == result.trials[0].conditions[name])
        };
        assert!(["features", "object_size", "stripe"].into_iter().all(alike));
        let pairs: Vec<_> = result
            .comparisons
            .iter()
            .map(|found| (found.baseline.as_str(), found.candidate.as_str()))
            .collect();
        for candidate in ["librbd", "librbd-cached"] {
            assert!(pairs.contains(&("krbd", candidate)), "{pairs:?}");
        }
        let report = guest.sh("cephmark report out --format text");
        for words in ["krbd", "librbd-cached", "CPU us/IO", "host us/IO", "verdict"] {
            assert!(report.contains(words), "{words} is not in {report}");
        }
        guest.assert_nothing_left();
    });
}

#[test]
fn what_the_kernel_wrote_reads_back_through_librbd() {
    with_guest(|guest| {
        tool(&guest.lab, "rbd", &["namespace", "create", "rbd/ns"]);
        create(guest, "rbd/ns/written", 4);
        let profile = WHOLE.replace("IMAGE", "rbd/ns/written").replace("CLIENT", "krbd");
        let sets =
            ["targets.t.map_options=[queue_depth=32, alloc_size=4096]", "targets.t.queue={read_ahead_kb: 0}"];
        let output = guest.cephmark_run(&profile, &sets);
        assert_eq!(output.code, 0, "{}", output.text);
        let result = guest.valid_result();
        let verified = result.trials[1].checks[""].verified.as_ref().expect("it verifies");
        assert!(verified.units > 0 && verified.mismatches == 0, "{verified:?}");
        assert_eq!(result.trials[0].conditions["nr_requests"], "32");
        assert_eq!(result.trials[0].conditions["read_ahead_kb"], "0");
        assert_eq!(result.trials[0].conditions["map_options"], "queue_depth=32,alloc_size=4096");
        assert_eq!(result.trials[0].durable_on_ack, Some(true));
        let export =
            command(&guest.lab, "rbd").args(["export", "--no-progress", "rbd/ns/written", "-"]).output();
        assert_marked(&export.expect("rbd runs").stdout, 4 << 20);
        guest.assert_nothing_left();
        remove(guest, "rbd/ns/written");
        tool(&guest.lab, "rbd", &["namespace", "remove", "rbd/ns"]);
    });
}

#[test]
fn what_librbd_wrote_reads_back_through_the_kernel() {
    with_guest(|guest| {
        create(guest, "rbd/written", 4);
        let profile = WHOLE.replace("IMAGE", "rbd/written").replace("CLIENT", "librbd");
        let output = guest.cephmark_run(&profile, &[]);
        assert_eq!(output.code, 0, "{}", output.text);
        let device = map_by_hand(guest, "written");
        let mut data = Vec::new();
        guest.start(&format!("cat {device}")).read_to_end(&mut data).expect("it is read");
        let end = data.len() - "exit 0\n".len();
        assert_marked(&data[..end], 4 << 20);
        unmap_by_hand(guest);
        guest.assert_nothing_left();
        remove(guest, "rbd/written");
    });
}

/// Maps an image of the pool as somebody else than cephmark would; its device.
#[track_caller]
fn map_by_hand(guest: &Guest, image: &str) -> String {
    let (monitor, secret) = (guest.lab.monitor(), guest.secret());
    guest.sh(&format!(
        "echo '{monitor} name=admin,secret={secret},ms_mode=prefer-crc rbd {image} -' > /sys/bus/rbd/add_single_major"
    ));
    let mapped = guest.mapped();
    let [id] = &mapped[..] else { panic!("{mapped:?}") };
    format!("/dev/rbd{id}")
}

#[track_caller]
fn unmap_by_hand(guest: &Guest) {
    guest.sh("echo $(ls /sys/bus/rbd/devices) > /sys/bus/rbd/remove_single_major");
}

#[test]
fn features_that_the_kernel_lacks_are_named_with_the_command_that_helps() {
    with_guest(|guest| {
        let features = ["--image-feature", "exclusive-lock,journaling"];
        tool(&guest.lab, "rbd", &[&["create", "--size", "4M", "rbd/journal"], &features[..]].concat());
        let output = guest.cephmark_run(
            PROFILE,
            &["targets.krbd={rbd: {image: rbd/journal, client: krbd}, destroys_data: true}"],
        );
        assert_eq!(output.code, 3, "{}", output.text);
        for words in [
            "the kernel can't map rbd/journal",
            "lacks the feature journaling",
            "`rbd feature disable rbd/journal journaling`",
        ] {
            assert!(output.text.contains(words), "{words} is not in {}", output.text);
        }
        let new = "targets.krbd.rbd.features=[layering, exclusive-lock, journaling]";
        let output = guest.cephmark_run(PROFILE, &[new]);
        assert_eq!(output.code, 3, "{}", output.text);
        assert!(output.text.contains("take it out of `features`"), "{}", output.text);
        guest.assert_nothing_left();
        remove(guest, "rbd/journal");
    });
}

#[test]
fn signals_leave_nothing_mapped_and_nobody_sees_the_key() {
    with_guest(|guest| {
        for signals in [&["INT"][..], &["TERM"], &["INT", "INT"]] {
            let mut running = guest.cephmark_start(PROFILE, &[]);
            running.wait_for("measuring");
            assert_eq!(guest.mapped().len(), 2);
            assert_secret(guest);
            for signal in signals {
                running.signal(signal);
            }
            let output = running.end();
            assert_eq!(output.code, 130, "{signals:?}: {}", output.text);
            assert_eq!(guest.mapped(), [""; 0], "{signals:?}: {}", output.text);
            if signals.len() == 2 {
                clean_up_after_death(guest);
            }
            guest.assert_nothing_left();
        }
    });
}

/// Makes the cluster forget the clients of a run that ended without a word, and removes what it left.
#[track_caller]
fn clean_up_after_death(guest: &Guest) {
    for image in guest.images().iter().filter(|image| image.starts_with("cephmark-")) {
        for address in guest.watchers(&format!("rbd/{image}")) {
            tool(&guest.lab, "ceph", &["osd", "blocklist", "add", &address, "60"]);
        }
    }
    guest.clean("--pool rbd --yes");
}

#[test]
fn an_io_error_in_the_middle_leaves_nothing_mapped() {
    with_guest(|guest| {
        let mut running = guest.cephmark_start(PROFILE, &[]);
        running.wait_for("measuring");
        for address in guest.sh("cat /sys/bus/rbd/devices/*/client_addr").lines() {
            tool(&guest.lab, "ceph", &["osd", "blocklist", "add", address, "60"]);
        }
        let output = running.end();
        assert_eq!(output.code, 4, "{}", output.text);
        guest.assert_nothing_left();
    });
}

#[test]
fn what_a_killed_run_left_is_unmapped_and_removed_and_nothing_else() {
    with_guest(|guest| {
        create(guest, "rbd/theirs", 4);
        let theirs = map_by_hand(guest, "theirs");
        let mut running = guest.cephmark_start(PROFILE, &[]);
        running.wait_for("measuring");
        let going_on = guest.clean("--pool rbd --yes");
        assert!(going_on.contains("(in use by client."), "{going_on}");
        assert_eq!(guest.mapped().len(), 3);
        running.signal("KILL");
        assert_eq!(running.end().code, 137);
        assert_eq!(guest.mapped().len(), 3);
        let listed = guest.clean("--pool rbd");
        assert!(listed.contains(", which maps rbd/cephmark-"), "{listed}");
        assert!(listed.ends_with("nothing was removed; add --yes to remove what is listed\n"), "{listed}");
        assert!(!listed.contains("theirs"), "{listed}");
        let unmapped = guest.clean("--pool rbd --yes");
        assert!(unmapped.contains("unmapped /dev/rbd"), "{unmapped}");
        assert_eq!(guest.mapped(), [theirs.trim_start_matches("/dev/rbd")]);
        clean_up_after_death(guest);
        unmap_by_hand(guest);
        guest.assert_nothing_left();
        remove(guest, "rbd/theirs");
    });
}
