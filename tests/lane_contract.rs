//! The contract of every lane: each I/O comes back once, errors carry their errno, deadlines hold, dropping drains.
//!
//! A lane takes the whole suite with one call of [`Contract::check`].

use std::time::{Duration, Instant};

use cephmark::lane::{Buffer, Done, Io, Lane, NullLane, Op};
use nix::errno::Errno;

use crate::delay_thread::DelayThread;

const BLOCK: u32 = 4096;
const DEPTH: u32 = 16;
/// Longer than any I/O takes that is not meant to be stuck.
const LONG: Duration = Duration::from_secs(60);
/// How late a thread may wake up on a busy machine.
const SLACK: Duration = Duration::from_millis(500);

/// Makes an I/O one that must fail, and tells how it fails.
pub(crate) type Spoil = (fn(&mut Io), Errno);

/// What the suite needs to know of a kind of lane.
pub(crate) struct Contract<'a, L> {
    /// Makes a lane of that depth.
    pub(crate) make: &'a dyn Fn(u32) -> L,
    /// Images that may be overwritten, of at least 1 MiB each.
    pub(crate) images: u32,
    /// What makes an I/O fail; `None` where nothing does.
    pub(crate) spoil: Option<Spoil>,
    /// Makes a lane whose I/Os do not complete within some seconds; `None` where there is no such thing.
    pub(crate) stuck: Option<&'a dyn Fn() -> L>,
}

impl<L: Lane> Contract<'_, L> {
    /// Runs the whole suite.
    pub(crate) fn check(&self) {
        self.every_io_comes_back_once_as_it_was_pushed();
        self.slots_can_be_used_over_and_over();
        self.looking_takes_no_time();
        self.waiting_ends_at_its_deadline();
        self.waiting_ends_with_the_first_completion();
        self.errors_carry_their_errno();
        self.dropping_drains();
        self.dropping_gives_up_at_its_deadline();
    }

    fn io(&self, slot: u32, op: Op) -> Box<Io> {
        let mut buffer = Buffer::zeroed(BLOCK as usize);
        buffer.fill(slot as u8);
        let len = if matches!(op, Op::Sync | Op::DataSync) { 0 } else { BLOCK };
        Box::new(Io { slot, image: slot % self.images, op, offset: u64::from(slot * BLOCK), len, buffer })
    }

    fn lane(&self) -> L {
        (self.make)(DEPTH)
    }

    fn every_io_comes_back_once_as_it_was_pushed(&self) {
        for op in Op::ALL {
            let mut lane = self.lane();
            assert_eq!(lane.in_flight(), 0);
            let mut buffers = Vec::new();
            for slot in 0..DEPTH {
                let io = self.io(slot, op);
                buffers.push(io.buffer.as_ptr());
                lane.push(io);
            }
            let done = collect(&mut lane, DEPTH as usize);
            let mut slots: Vec<u32> = done.iter().map(|done| done.io.slot).collect();
            slots.sort_unstable();
            assert!(slots.into_iter().eq(0..DEPTH), "{op:?}: each slot once");
            for Done { io, result } in done {
                let pushed = self.io(io.slot, op);
                assert_eq!(result, Ok(pushed.len), "{op:?}");
                assert_eq!(
                    (io.op, io.image, io.offset, io.len),
                    (op, pushed.image, pushed.offset, pushed.len)
                );
                assert_eq!(io.buffer.as_ptr(), buffers[io.slot as usize], "the buffer is the very same");
            }
            assert_eq!(lane.in_flight(), 0);
            lane.reap(Instant::now(), |done| panic!("{done:?} came back twice")).expect("reap");
        }
    }

    fn slots_can_be_used_over_and_over(&self) {
        let (mut lane, rounds) = (self.lane(), 200_usize);
        let mut free: Vec<Box<Io>> = (0..DEPTH).map(|slot| self.io(slot, Op::Write)).collect();
        let (mut pushed, mut back, until) = (0, 0, Instant::now() + LONG);
        while back < rounds {
            while pushed < rounds
                && let Some(io) = free.pop()
            {
                lane.push(io);
                pushed += 1;
            }
            lane.reap(until, |Done { io, result }| {
                assert_eq!(result, Ok(BLOCK));
                back += 1;
                free.push(io);
            })
            .expect("reap");
            assert_eq!(lane.in_flight() as usize, pushed - back);
            assert!(Instant::now() < until, "{back} of {rounds} came back");
        }
    }

    fn looking_takes_no_time(&self) {
        let (mut lane, begin) = (self.lane(), Instant::now());
        for _ in 0..100 {
            lane.reap(begin, |done| panic!("{done:?} from nowhere")).expect("reap");
        }
        assert!(begin.elapsed() < SLACK, "a hundred looks took {:?}", begin.elapsed());
    }

    fn waiting_ends_at_its_deadline(&self) {
        let (mut lane, begin, wait) = (self.lane(), Instant::now(), Duration::from_millis(50));
        // A lane may come back early, but not at once: that would be a loop at full speed.
        let mut turns = 0;
        while begin.elapsed() < wait {
            lane.reap(begin + wait, |done| panic!("{done:?} from nowhere")).expect("reap");
            turns += 1;
        }
        assert!(turns < 10, "{turns} turns in {wait:?}");
        assert!(begin.elapsed() < wait + SLACK, "{:?}", begin.elapsed());
    }

    fn waiting_ends_with_the_first_completion(&self) {
        let (mut lane, begin) = (self.lane(), Instant::now());
        lane.push(self.io(0, Op::Write));
        assert_eq!(collect(&mut lane, 1).len(), 1);
        assert!(begin.elapsed() < LONG / 2, "{:?}", begin.elapsed());
    }

    fn errors_carry_their_errno(&self) {
        let Some((spoil, errno)) = self.spoil else { return };
        let mut lane = self.lane();
        for slot in 0..DEPTH {
            let mut io = self.io(slot, Op::Read);
            if slot % 2 == 1 {
                spoil(&mut io);
            }
            lane.push(io);
        }
        for Done { io, result } in collect(&mut lane, DEPTH as usize) {
            assert_eq!(result, if io.slot % 2 == 1 { Err(errno) } else { Ok(BLOCK) }, "slot {}", io.slot);
        }
    }

    fn dropping_drains(&self) {
        let (mut lane, begin) = (self.lane(), Instant::now());
        lane.set_drain_deadline(LONG);
        for slot in 0..DEPTH {
            lane.push(self.io(slot, Op::Write));
        }
        drop(lane);
        assert!(begin.elapsed() < LONG / 2, "{:?}", begin.elapsed());
    }

    fn dropping_gives_up_at_its_deadline(&self) {
        let Some(stuck) = self.stuck else { return };
        let (mut lane, deadline) = (stuck(), Duration::from_millis(200));
        lane.set_drain_deadline(deadline);
        lane.push(self.io(0, Op::Write));
        let begin = Instant::now();
        lane.reap(begin + deadline, |done| panic!("{done:?} was to be stuck")).expect("reap");
        assert_eq!(lane.in_flight(), 1);
        let begin = Instant::now();
        drop(lane);
        assert!(begin.elapsed() >= deadline && begin.elapsed() < deadline + SLACK, "{:?}", begin.elapsed());
    }
}

/// Waits for `count` I/Os to come back.
fn collect(lane: &mut impl Lane, count: usize) -> Vec<Done> {
    let (mut back, until) = (Vec::new(), Instant::now() + LONG);
    while back.len() < count {
        assert!(Instant::now() < until, "{} of {count} I/Os came back", back.len());
        lane.reap(until, |done| back.push(done)).expect("reap");
    }
    back
}

#[test]
fn the_null_lane_keeps_the_contract() {
    Contract { make: &NullLane::new, images: 3, spoil: None, stuck: None }.check();
}

#[test]
fn a_lane_with_a_thread_of_its_own_keeps_the_contract() {
    let make = |_| DelayThread::new(Duration::from_millis(1));
    let stuck = || DelayThread::new(Duration::from_secs(5));
    Contract {
        make: &make,
        images: DelayThread::IMAGES,
        spoil: Some((|io| io.image = DelayThread::IMAGES, Errno::ENXIO)),
        stuck: Some(&stuck),
    }
    .check();
}
