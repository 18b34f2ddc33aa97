//! What cephmark writes is read by second tools, and the other way round.

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cephmark::ceph::{Image, Role, View};
use cephmark::lane::{Buffer, Io, Lane, LibrbdLane, Op};

use crate::support::block::{self, Header};
use crate::support::ceph::{self, POOL, Scratch};
use crate::support::cluster::shared;
use crate::support::site::Site;

const MIB: u64 = 1 << 20;
const CHUNK: u32 = 64 << 10;

/// Overwrites `rbd/NAMESPACE/disk`.
const PROFILE: &str = "\
version: 1
name: written
targets:
  t: {rbd: {image: rbd/NAMESPACE/disk}, destroys_data: true}
workloads:
  w: {rw: write, bs: 4k, iodepth: 8, verify: crc32c}
run: {ramp_time: 0s, runtime: 60s, repeats: 1}
";

/// The bytes of an image as `rbd export` reads them.
fn exported(site: &Site<'_>, image: &str) -> Vec<u8> {
    let file = site.path("exported");
    site.rbd(&["export", "--no-progress", image, &file.to_string_lossy()]);
    std::fs::read(&file).expect("it was exported")
}

#[test]
fn every_block_that_was_written_is_exported_with_its_header_offset_and_checksum() {
    let site = Site::on(shared());
    let image = site.create("disk", 16);
    site.run(PROFILE, &["workloads.w.io_size=16MiB"]).success();
    let bytes = exported(&site, &image);
    let headers: Vec<Header> = bytes.chunks(4096).map(block::read).collect();
    assert_eq!(headers.len(), 4096);
    for (number, header) in headers.iter().enumerate() {
        let expected = Header { image: 0, run: headers[0].run, offset: number as u64 * 4096, generation: 1 };
        assert_eq!(*header, expected);
    }
    site.rbd(&["rm", "--no-progress", &image]);
}

#[test]
fn no_overwrite_is_lost_or_done_twice_whatever_is_in_flight_at_once() {
    let site = Site::on(shared());
    let image = site.image("disk");
    let striped = ["--object-size", "1M", "--stripe-unit", "64K", "--stripe-count", "4"];
    site.rbd(&[&["create", "--size", "4M"], &striped[..], &[&image]].concat());
    let job =
        "{rw: randwrite, bssplit: '4k/50:16k/50', iodepth: 8, numjobs: 2, number_ios: 1000, verify: crc32c}";
    site.run(PROFILE, &[&format!("workloads.w={job}"), "run.seed=7"]).success();
    let bytes = exported(&site, &image);
    let (blank, written): (Vec<_>, Vec<_>) =
        bytes.chunks(4096).enumerate().partition(|(_, unit)| unit.iter().all(|byte| *byte == 0));
    let mut generations = 0;
    for (number, unit) in &written {
        let header = block::read(unit);
        assert_eq!((header.image, header.offset), (0, *number as u64 * 4096));
        generations += header.generation;
    }
    let writes = &site.result().trials[0].jobs[""]["write"];
    assert_eq!(writes.ios, 2000);
    assert_eq!(generations, writes.bytes / 4096, "{} units were never written", blank.len());
    site.rbd(&["rm", "--no-progress", &image]);
}

#[test]
fn fio_writes_what_our_lane_reads() {
    let scratch = Scratch::of_size(&ceph::pool(shared(), Role::Admin), 8 * MIB);
    // fio puts the offset of each of its blocks into the pattern.
    fio(&scratch.name, &["--rw=write", "--verify=pattern", "--verify_pattern=%o", "--do_verify=0"]);
    for (number, chunk) in read_by_lane(&scratch).chunks(CHUNK as usize).enumerate() {
        let offset = (number as u64 * u64::from(CHUNK)).to_le_bytes();
        assert!(chunk.chunks(8).all(|word| word == offset), "chunk {number} holds {:?}", &chunk[..16]);
    }
}

#[test]
fn fio_verifies_what_our_lane_wrote() {
    let scratch = Scratch::of_size(&ceph::pool(shared(), Role::Admin), 8 * MIB);
    let mut lane = lane(&scratch, View::Write);
    for offset in (0..8 * MIB).step_by(CHUNK as usize) {
        let mut buffer = Buffer::zeroed(CHUNK as usize);
        buffer.fill(0x5a);
        once(&mut lane, Io { slot: 0, image: 0, op: Op::Write, offset, len: CHUNK, buffer });
    }
    drop(lane);
    fio(&scratch.name, &["--rw=read", "--verify=pattern", "--verify_pattern=0x5a", "--verify_fatal=1"]);
}

#[test]
fn a_file_that_rbd_imported_is_read_as_it_is() {
    let site = Site::on(shared());
    let mut state = 42_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    let bytes: Vec<u8> = (0..4 * MIB).map(|_| random()).collect();
    std::fs::write(site.path("file"), &bytes).expect("a file");
    let scratch = Scratch::named(&ceph::pool(shared(), Role::Admin), |name| {
        let spec = format!("{POOL}/{name}");
        site.rbd(&["import", "--no-progress", &site.path("file").to_string_lossy(), &spec]);
    });
    assert!(read_by_lane(&scratch) == bytes, "they differ");
}

/// Runs fio's own rbd engine over 8 MiB of an image.
#[track_caller]
fn fio(image: &str, arguments: &[&str]) {
    let directory = tempfile::tempdir().expect("a directory for its state");
    let output = Command::new("fio")
        .args(["--name=fio", "--ioengine=rbd", "--clientname=admin", "--size=8M", "--bs=64k", "--iodepth=8"])
        .args([format!("--pool={POOL}"), format!("--rbdname={image}")])
        .args(arguments)
        .env("CEPH_CONF", shared().conf())
        .current_dir(&directory)
        .output()
        .expect("fio is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&[output.stdout, output.stderr].concat()));
}

fn lane(scratch: &Scratch, view: View<'_>) -> LibrbdLane {
    let images: Arc<[Image]> = Arc::new([scratch.open(view)]);
    LibrbdLane::new(images, 1).expect("an open image")
}

/// All bytes of an image through our own lane.
fn read_by_lane(scratch: &Scratch) -> Vec<u8> {
    let size = scratch.open(View::Read).size().expect("a size").get();
    let mut lane = lane(scratch, View::Read);
    let mut bytes = Vec::new();
    for offset in (0..size).step_by(CHUNK as usize) {
        let buffer = Buffer::zeroed(CHUNK as usize);
        bytes.extend_from_slice(&once(
            &mut lane,
            Io { slot: 0, image: 0, op: Op::Read, offset, len: CHUNK, buffer },
        ));
    }
    bytes
}

/// Does one I/O; its buffer afterwards.
fn once(lane: &mut LibrbdLane, io: Io) -> Buffer {
    let (until, mut done) = (Instant::now() + Duration::from_secs(60), None);
    lane.push(Box::new(io));
    while done.is_none() {
        assert!(Instant::now() < until, "it does not end");
        lane.reap(until, |ended| done = Some(ended)).expect("the inbox does not fail");
    }
    let done = done.expect("it ended");
    assert_eq!(done.result, Ok(CHUNK));
    done.io.buffer
}
