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
