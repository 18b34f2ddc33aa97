//! The same cluster seen through other paths of a guest: a file on CephFS by the kernel, and a disk that the emulator
//! drives through librbd.

use super::guest::{DISK, with_guest};
use super::support::block;
use super::support::ceph::command;

#[test]
fn a_file_on_cephfs_through_the_kernel() {
    with_guest(|guest| {
        let (monitor, secret) = (guest.lab.monitor(), guest.secret());
        guest.sh(&format!(
            "mkdir -p /mnt/cephfs && mount -t ceph {monitor}:/ /mnt/cephfs -o name=admin,secret={secret},ms_mode=prefer-crc"
        ));
        let profile = "\
version: 1
name: test
targets:
  t: {file: {path: /mnt/cephfs/io, size: 4MiB}}
workloads:
  w: {rw: randwrite, bs: 4k, iodepth: 8, verify: crc32c, number_ios: 512}
  r: {rw: randread, bs: 4k, iodepth: 8, verify: crc32c, number_ios: 512}
run: {ramp_time: 0s, runtime: 60s, repeats: 1, order: sequential}
";
        let output = guest.cephmark_run(profile, &[]);
        assert_eq!(output.code, 0, "{}", output.text);
        let result = guest.valid_result();
        assert!(result.trials.iter().all(|trial| trial.conditions["file_system"] == "ceph"));
        let read = result.trials[1].checks[""].verified.as_ref().expect("it verifies");
        assert_eq!((read.units, read.mismatches), (512, 0));
        assert_eq!(guest.sh("ls /mnt/cephfs"), "", "files are left");
        guest.sh("umount /mnt/cephfs");
    });
}

#[test]
fn a_disk_that_the_emulator_drives_through_librbd() {
    with_guest(|guest| {
        let profile = "\
version: 1
name: test
targets:
  t: {block: {path: /dev/vda}, destroys_data: true}
workloads:
  w: {rw: write, bs: 4k, iodepth: 16, number_ios: 1024, verify: crc32c}
run: {ramp_time: 0s, runtime: 60s, repeats: 1}
";
        let output = guest.cephmark_run(profile, &[]);
        assert_eq!(output.code, 0, "{}", output.text);
        guest.valid_result();
        let export = command(&guest.lab, "rbd")
            .args(["export", "--no-progress", DISK, "-"])
            .output()
            .expect("rbd runs");
        for (number, data) in export.stdout.chunks(4096).take(1024).enumerate() {
            assert_eq!(block::read(data).offset, number as u64 * 4096);
        }
    });
}
