//! `rbd-nbd` as an arm: librbd in a process of its own, with librbd's options, behind a block device.

use super::guest::with_guest;

#[test]
fn an_image_behind_a_network_block_device_is_mapped_measured_and_unmapped() {
    with_guest(|guest| {
        let profile = "\
version: 1
name: test
targets:
  nbd: {rbd: {size: 8MiB, client: nbd}, options: {rbd_cache: false}}
workloads:
  w: {rw: randrw, bs: 4k, iodepth: 8, verify: crc32c, number_ios: 512}
run: {ramp_time: 0s, runtime: 60s, repeats: 1}
";
        let output = guest.cephmark_run(profile, &[]);
        assert_eq!(output.code, 0, "{}", output.text);
        let result = guest.valid_result();
        assert_eq!(result.trials[0].conditions["client"], "nbd");
        assert_eq!(result.trials[0].durable_on_ack, Some(true));
        let cache = &result.trials[0].effective_options["rbd_cache"];
        assert_eq!((cache.value.as_str(), cache.source.name()), ("false", "client"));
        assert_eq!(guest.sh("rbd-nbd list-mapped --format json").trim(), "[]");
        assert_eq!(guest.sh("ps | grep -c '[r]bd-nbd map' || true").trim(), "0");
        guest.assert_nothing_left();
    });
}

#[test]
fn what_a_killed_run_left_is_unmapped() {
    with_guest(|guest| {
        let profile = "\
version: 1
name: test
targets:
  nbd: {rbd: {image: rbd/disk, client: nbd}}
workloads:
  r: {rw: randread, bs: 4k}
run: {ramp_time: 0s, runtime: 60s, repeats: 1}
";
        let mut running = guest.cephmark_start(profile, &[]);
        running.wait_for("measuring");
        running.signal("KILL");
        assert_eq!(running.end().code, 137);
        let listed = guest.clean("");
        assert!(listed.contains("/dev/nbd0, which maps rbd/disk"), "{listed}");
        assert!(guest.clean("--yes").contains("unmapped /dev/nbd0"));
        assert_eq!(guest.sh("rbd-nbd list-mapped --format json").trim(), "[]");
    });
}
