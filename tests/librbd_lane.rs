//! The librbd lane against a real cluster.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use cephmark::ceph::{Config, Error, Image, Pool, Role, View};
use cephmark::lab;
use cephmark::lane::{Buffer, Done, Io, Lane, LibrbdLane, Op};
use nix::errno::Errno;

use crate::lane_contract::{Contract, Spoil};
use crate::support::ceph::{self, POOL, Scratch, tool};
use crate::support::cluster::shared;
use crate::support::faults::{StoppedOsd, hurt};

const MIB: u64 = 1 << 20;
const BLOCK: u32 = 4096;
const LONG: Duration = Duration::from_secs(60);

fn io(slot: u32, image: u32, op: Op, offset: u64, fill: u8) -> Box<Io> {
    let mut buffer = Buffer::zeroed(BLOCK as usize);
    buffer.fill(fill);
    Box::new(Io { slot, image, op, offset, len: BLOCK, buffer })
}

/// Waits for `count` I/Os to come back.
fn collect(lane: &mut LibrbdLane, count: usize) -> Vec<Done> {
    let (mut dones, until) = (Vec::new(), Instant::now() + LONG);
    while dones.len() < count {
        assert!(Instant::now() < until, "{} of {count} I/Os came back", dones.len());
        lane.reap(until, |done| dones.push(done)).expect("the inbox does not fail");
    }
    dones
}

fn once(lane: &mut LibrbdLane, io: Box<Io>) -> Done {
    lane.push(io);
    collect(lane, 1).remove(0)
}

fn lane_of(images: impl IntoIterator<Item = Image>, depth: u32) -> LibrbdLane {
    LibrbdLane::new(images.into_iter().collect::<Arc<[Image]>>(), depth).expect("open images")
}

/// A pool over a connection that is set up as for a measurement.
fn load_pool() -> Pool {
    load_pool_of(shared(), LONG)
}

fn load_pool_of(lab: &lab::Cluster, timeout: Duration) -> Pool {
    let mut config = Config::new(Some(&lab.conf()), "client.admin", timeout, Role::Load).expect("a conf");
    config.set("rbd_cache", "false").expect("a known option");
    config.connect().expect("a lab that runs").pool(POOL, None).expect("the pool")
}

/// Makes the cluster forget a client that can't let go of its images any more.
fn blocklist(lab: &lab::Cluster, pool: &Pool) {
    let address = pool.cluster().addresses().expect("an address");
    tool(lab, "ceph", &["osd", "blocklist", "add", &address, "60"]);
}

#[test]
fn it_keeps_the_contract_of_lanes() {
    let pool = load_pool();
    let scratch = [(); 3].map(|()| Scratch::of_size(&pool, 4 * MIB));
    let images: Arc<[Image]> = scratch.iter().map(|image| image.open(View::Write)).collect();
    let make = |depth| LibrbdLane::new(Arc::clone(&images), depth).expect("open images");
    let spoil: Spoil = (|io| io.offset = 8 * MIB, Errno::EINVAL);
    Contract { make: &make, images: 3, spoil: Some(spoil), stuck: None }.check();
}

#[test]
fn what_is_written_is_read_back_until_it_is_discarded_or_zeroed() {
    let scratch = Scratch::of_size(&load_pool(), 16 * MIB);
    let mut lane = lane_of([scratch.open(View::Write)], 4);
    for (op, offset) in
        [(Op::Write, 0), (Op::Write, 4096), (Op::Write, 8 * MIB), (Op::Sync, 0), (Op::DataSync, 0)]
    {
        assert_eq!(once(&mut lane, io(0, 0, op, offset, 0xa5)).result, Ok(BLOCK), "{op:?}");
    }
    let read = |lane: &mut LibrbdLane, offset| {
        let done = once(lane, io(1, 0, Op::Read, offset, 0xff));
        assert_eq!(done.result, Ok(BLOCK));
        assert!(done.io.buffer.iter().all(|byte| *byte == done.io.buffer[0]));
        done.io.buffer[0]
    };
    assert_eq!((read(&mut lane, 0), read(&mut lane, 4096), read(&mut lane, 8 * MIB)), (0xa5, 0xa5, 0xa5));
    assert_eq!(read(&mut lane, 8192), 0, "never written");
    assert_eq!(once(&mut lane, io(0, 0, Op::WriteZeroes, 4096, 0)).result, Ok(BLOCK));
    let mut whole_object = io(0, 0, Op::Trim, 8 * MIB, 0);
    whole_object.len = 4 << 20;
    assert_eq!(once(&mut lane, whole_object).result, Ok(4 << 20));
    assert_eq!((read(&mut lane, 0), read(&mut lane, 4096), read(&mut lane, 8 * MIB)), (0xa5, 0, 0));
}

#[test]
fn an_io_beyond_the_end_comes_back_with_its_errno() {
    let scratch = Scratch::of_size(&load_pool(), MIB);
    let mut lane = lane_of([scratch.open(View::Write)], 1);
    for op in [Op::Read, Op::Write, Op::Trim, Op::WriteZeroes] {
        assert_eq!(once(&mut lane, io(0, 0, op, 2 * MIB, 0)).result, Err(Errno::EINVAL), "{op:?}");
    }
    let mut too_long = io(0, 0, Op::Read, 0, 0);
    too_long.len += 1;
    assert_eq!(once(&mut lane, too_long).result, Err(Errno::EINVAL), "more than the buffer holds");
    assert_eq!(
        once(&mut lane, io(0, 7, Op::Read, 0, 0)).result,
        Err(Errno::ENODEV),
        "there is no such image"
    );
    assert_eq!(lane.in_flight(), 0);
}

#[test]
fn an_io_over_the_end_of_the_image_is_never_taken_for_whole() {
    let scratch = Scratch::of_size(&load_pool(), MIB);
    let mut lane = lane_of([scratch.open(View::Write)], 1);
    for op in [Op::Read, Op::Write, Op::Trim, Op::WriteZeroes] {
        assert_eq!(once(&mut lane, io(0, 0, op, MIB - 1024, 0)).result, Ok(1024), "{op:?}");
    }
}

#[test]
fn a_write_to_an_image_open_to_read_comes_back_with_erofs() {
    let scratch = Scratch::of_size(&load_pool(), MIB);
    let mut lane = lane_of([scratch.open(View::Read)], 1);
    assert_eq!(once(&mut lane, io(0, 0, Op::Write, 0, 1)).result, Err(Errno::EROFS));
    assert_eq!(once(&mut lane, io(0, 0, Op::Read, 0, 1)).result, Ok(BLOCK));
}

#[test]
fn every_io_comes_back_once_at_full_depth() {
    const DEPTH: u32 = 32;
    let scratch = Scratch::of_size(&load_pool(), 16 * MIB);
    let mut lane = lane_of([scratch.open(View::Write)], DEPTH);
    for slot in 0..DEPTH {
        lane.push(io(slot, 0, Op::Write, u64::from(slot * BLOCK), 1));
    }
    assert_eq!(lane.in_flight(), DEPTH);
    let mut seen = vec![0; DEPTH as usize];
    while seen.iter().sum::<i32>() < 2000 {
        for mut done in collect(&mut lane, 1) {
            assert_eq!(done.result, Ok(BLOCK));
            seen[done.io.slot as usize] += 1;
            done.io.op = if done.io.op == Op::Write { Op::Read } else { Op::Write };
            lane.push(done.io);
        }
    }
    assert_eq!(collect(&mut lane, DEPTH as usize).len(), DEPTH as usize);
    assert_eq!(lane.in_flight(), 0);
}

#[test]
fn looking_does_not_wait_and_waiting_ends_on_time() {
    let scratch = Scratch::of_size(&load_pool(), MIB);
    let mut lane = lane_of([scratch.open(View::Write)], 1);
    let begin = Instant::now();
    lane.reap(begin, |_| panic!("nothing was pushed")).expect("the inbox does not fail");
    assert!(begin.elapsed() < Duration::from_millis(10));
    let until = begin + Duration::from_millis(50);
    lane.reap(until, |_| panic!("nothing was pushed")).expect("the inbox does not fail");
    assert!(Instant::now() >= until);
}

#[test]
fn dropping_a_lane_waits_for_what_is_in_flight() {
    let scratch = Scratch::of_size(&load_pool(), 16 * MIB);
    let image = scratch.open(View::Write);
    let mut lane = lane_of([image.clone()], 8);
    for slot in 0..8 {
        lane.push(io(slot, 0, Op::Write, u64::from(slot) * MIB, 0x77));
    }
    drop(lane);
    assert_eq!(scratch.open(View::Read).lock_owners().expect("a list").len(), 1, "the writer");
    let mut lane = lane_of([image], 1);
    for slot in 0..8 {
        assert_eq!(once(&mut lane, io(0, 0, Op::Read, slot * MIB, 0)).io.buffer[0], 0x77);
    }
}

#[test]
fn a_stopped_osd_does_not_hold_up_dropping_the_lane() {
    let lab = hurt();
    let scratch = Scratch::of_size(&ceph::pool(&lab, Role::Admin), 16 * MIB);
    let pool = load_pool_of(&lab, LONG);
    let mut lane = lane_of([pool.image(&scratch.name, View::Write).expect("the image")], 4);
    lane.set_drain_deadline(Duration::from_secs(1));
    assert_eq!(once(&mut lane, io(0, 0, Op::Write, 0, 1)).result, Ok(BLOCK));
    let stopped = StoppedOsd::of(&lab);
    for slot in 0..4 {
        lane.push(io(slot, 0, Op::Read, u64::from(slot) * MIB, 1));
    }
    let begin = Instant::now();
    lane.reap(begin + Duration::from_millis(200), |done| panic!("{done:?}"))
        .expect("the inbox does not fail");
    assert_eq!(lane.in_flight(), 4);
    let begin = Instant::now();
    drop(lane);
    let took = begin.elapsed();
    assert!(took >= Duration::from_secs(1) && took < Duration::from_secs(2), "{took:?}");
    drop(stopped);
    // The callbacks of what was left behind come now, to memory that must still be there; once they came, the same
    // connection serves a new lane.
    let mut again = lane_of([pool.image(&scratch.name, View::Read).expect("the image")], 1);
    assert_eq!(once(&mut again, io(0, 0, Op::Read, 0, 0)).io.buffer[0], 1);
    blocklist(&lab, &pool);
}

#[test]
fn a_stopped_osd_does_not_hold_up_closing_an_image() {
    let lab = hurt();
    let scratch = Scratch::of_size(&ceph::pool(&lab, Role::Admin), 16 * MIB);
    let image =
        load_pool_of(&lab, Duration::from_secs(2)).image(&scratch.name, View::Write).expect("the image");
    let stopped = StoppedOsd::of(&lab);
    let begin = Instant::now();
    let error = image.close().expect_err("its watch can't be removed");
    assert!(matches!(error, Error::Stuck { .. }), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    drop(stopped);
    // The thread that was left behind closes it now.
    let until = Instant::now() + LONG;
    while !scratch.open(View::Read).watchers().expect("a list").is_empty() {
        assert!(Instant::now() < until, "still open");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_blocklisted_client_gets_every_io_back_with_eshutdown() {
    let scratch = Scratch::of_size(&ceph::pool(shared(), Role::Admin), 16 * MIB);
    let pool = load_pool();
    let image = pool.image(&scratch.name, View::Write).expect("the image");
    let mut lane = lane_of([image.clone()], 8);
    assert_eq!(once(&mut lane, io(0, 0, Op::Write, 0, 1)).result, Ok(BLOCK));
    blocklist(shared(), &pool);
    // The client hears of it with the next map of the OSDs.
    let until = Instant::now() + LONG;
    while once(&mut lane, io(0, 0, Op::Write, 0, 1)).result.is_ok() {
        assert!(Instant::now() < until, "still served");
    }
    for slot in 0..8 {
        lane.push(io(slot, 0, Op::Read, 0, 1));
    }
    assert!(collect(&mut lane, 8).iter().all(|done| done.result == Err(Errno::ESHUTDOWN)));
    drop(lane);
    let error = image.flush().expect_err("blocklisted").to_string();
    assert!(error.contains("the cluster blocklisted this client"), "{error}");
    image.close().expect("librbd hides it");
}
