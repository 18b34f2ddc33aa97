//! The sequence of a thread's I/Os, decided without regard to time: the same seed gives the same sequence.
//!
//! Syncs follow fio: after every `fsync` (`fdatasync`) writes a sync is queued in order, as an I/O of its own that
//! takes a slot; neither does it wait for writes in flight, nor do later I/Os wait for it. At `iodepth` 1 this is
//! write, sync, write, sync. Writes are counted for each image, and the image that they went to is synced.

use super::mix::Mix;
use super::place::Place;
use super::random::{Purpose, Random, random};
use crate::lane::Op;
use crate::plan::Job;

/// What an I/O is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) op: Op,
    pub(crate) image: u32,
    pub(crate) offset: u64,
    pub(crate) len: u32,
}

/// The endless sequence of one thread.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    random: Random,
    mix: Mix,
    place: Place,
    fsync: u32,
    fdatasync: u32,
    /// Writes so far, by image; empty without syncs.
    writes: Vec<u32>,
    sync: Option<Choice>,
}

impl Stream {
    pub(crate) fn new(job: &Job, thread: u32, images: u32) -> Self {
        let mut random = random(job.randseed, thread, Purpose::Stream);
        let place = Place::new(job, images, &mut random);
        let syncs = job.fsync > 0 || job.fdatasync > 0;
        Self {
            random,
            mix: Mix::new(job),
            place,
            fsync: job.fsync,
            fdatasync: job.fdatasync,
            writes: if syncs { vec![0; images as usize] } else { Vec::new() },
            sync: None,
        }
    }

    /// The operations that may come.
    pub(crate) fn ops(&self) -> Vec<Op> {
        let mut ops: Vec<Op> = self.mix.ops().collect();
        ops.extend((self.fsync > 0).then_some(Op::Sync));
        ops.extend((self.fdatasync > 0).then_some(Op::DataSync));
        ops
    }

    /// The longest I/O, in bytes.
    pub(crate) fn longest(&self) -> u32 {
        self.mix.longest()
    }

    /// Whether the next I/O is a sync, which belongs to the write before it and is not paced.
    #[inline]
    pub(crate) fn sync_is_next(&self) -> bool {
        self.sync.is_some()
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Choice {
        if let Some(sync) = self.sync.take() {
            return sync;
        }
        let (op, len) = self.mix.draw(&mut self.random);
        let (image, offset) = self.place.draw(op, len, &mut self.random);
        if !self.writes.is_empty() && matches!(op, Op::Write | Op::WriteZeroes) {
            self.count_write(image);
        }
        Choice { op, image, offset, len }
    }

    fn count_write(&mut self, image: u32) {
        let writes = &mut self.writes[image as usize];
        *writes = writes.wrapping_add(1);
        let due = |every: u32| every > 0 && writes.is_multiple_of(every);
        let op = match (due(self.fsync), due(self.fdatasync)) {
            (true, _) => Op::Sync,
            (false, true) => Op::DataSync,
            (false, false) => return,
        };
        self.sync = Some(Choice { op, image, offset: 0, len: 0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Distribution, Rw};
    use crate::units::Bytes;

    fn choices(job: &Job, thread: u32, images: u32, count: usize) -> Vec<Choice> {
        let mut stream = Stream::new(job, thread, images);
        (0..count).map(|_| stream.next()).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_sequence_and_another_seed_or_thread_another() {
        for distribution in [Distribution::Uniform, Distribution::Zipf(1.1), Distribution::Once] {
            let size = Bytes(1 << 30);
            let job = Job { rw: Rw::RandRw, distribution, size, randseed: 42, fsync: 3, ..Job::default() };
            let first = choices(&job, 0, 3, 1000);
            assert_eq!(choices(&job, 0, 3, 1000), first);
            assert_ne!(choices(&job, 1, 3, 1000), first);
            assert_ne!(choices(&Job { randseed: 43, ..job }, 0, 3, 1000), first);
        }
    }

    #[test]
    fn a_sync_follows_every_nth_write_to_an_image() {
        let job = Job { rw: Rw::Write, fdatasync: 2, size: Bytes(1 << 20), ..Job::default() };
        let found: Vec<_> = choices(&job, 0, 2, 6).iter().map(|choice| (choice.op, choice.image)).collect();
        let (write, sync) = (Op::Write, Op::DataSync);
        assert_eq!(found, [(write, 0), (write, 1), (write, 0), (sync, 0), (write, 1), (sync, 1)]);
    }

    #[test]
    fn of_two_syncs_due_at_once_the_full_one_is_done_as_in_fio() {
        let job = Job { rw: Rw::Write, fsync: 2, fdatasync: 1, size: Bytes(1 << 20), ..Job::default() };
        let found: Vec<_> = choices(&job, 0, 1, 4).iter().map(|choice| choice.op).collect();
        assert_eq!(found, [Op::Write, Op::DataSync, Op::Write, Op::Sync]);
        assert_eq!(Stream::new(&job, 0, 1).ops(), [Op::Write, Op::Sync, Op::DataSync]);
    }

    #[test]
    fn reads_are_not_counted_towards_a_sync() {
        let job = Job { rw: Rw::Read, fsync: 1, size: Bytes(1 << 20), ..Job::default() };
        assert!(choices(&job, 0, 1, 100).iter().all(|choice| choice.op == Op::Read));
    }
}
