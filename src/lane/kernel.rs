//! The lane of files and block devices: I/O through the kernel, over whichever of its queues was chosen.
//!
//! What the queues have in common is here: the I/Os that the kernel has, the rest of those that it did in part, calls
//! that it has no queue for, and the end of a lane.
#![expect(unsafe_code, reason = "hands buffers to the kernel")]

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::errno::Errno;

use super::file::KernelFile;
use super::flying::{Flight, Flying};
use super::{Buffer, Done, Io, Lane, LaneError, Op};
use crate::console::say;

/// One of the kernel's queues of I/O, used by one thread.
pub trait Queue: Sized {
    /// Its name in messages.
    const NAME: &'static str;

    /// A queue for `depth` I/Os on these files, used by the calling thread only.
    ///
    /// # Errors
    /// [`EngineError`] if the kernel refuses.
    fn new(files: &[KernelFile], depth: u32) -> Result<Self, EngineError>;

    /// Whether it does this kind of I/O at all.
    fn takes(&self, op: Op) -> bool;

    /// Adds a piece of I/O, which the kernel gets at the next [`Self::wait`] at the latest.
    ///
    /// # Safety
    /// Where `piece` reads or writes, its memory is good for that until it came back from [`Self::next`] or the queue
    /// was leaked, and no more than `depth` pieces are on their way, each of another slot.
    unsafe fn add(&mut self, piece: &Piece<'_>);

    /// Tells how many pieces have ended. With none it hands over what was added and waits for the first to end, until
    /// `until`; with `until` in the past it only looks, and hands over once enough was added. May return early.
    ///
    /// # Errors
    /// If the kernel takes no more I/O or gives none back.
    fn wait(&mut self, until: Instant) -> Result<usize, Errno>;

    /// One of the pieces that have ended: its slot, and the bytes done or the negative errno.
    fn next(&mut self) -> Option<(u32, i32)>;
}

/// What a queue is to do.
#[derive(Debug)]
pub struct Piece<'a> {
    /// The slot of its I/O.
    pub slot: u32,
    /// What to do.
    pub op: Op,
    /// The file.
    pub file: &'a KernelFile,
    /// The file's index.
    pub index: u32,
    /// The whole buffer of its I/O.
    pub buffer: &'a Buffer,
    /// Where in it this reads to or writes from.
    pub memory: *mut u8,
    /// First byte within the file.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
}

/// A queue that the kernel refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{queue} is refused here ({errno}): {remedy}")]
pub struct EngineError {
    /// The queue's name.
    pub queue: &'static str,
    /// Why.
    pub errno: Errno,
    /// What to do about it.
    pub remedy: String,
}

/// One queue of I/O over open files or block devices.
#[derive(Debug)]
pub struct KernelLane<Q: Queue> {
    files: Arc<[KernelFile]>,
    queue: ManuallyDrop<Q>,
    /// The I/Os on their way, each with the bytes that earlier pieces of it did.
    flying: Flying<u32>,
    /// Slots whose I/O never reached the queue, with their results; as large as it ever gets from the start.
    ended: Vec<(u32, Result<u32, Errno>)>,
    /// The queue has discards for these devices. Not so before Linux 6.12, which only the first one tells.
    discards: bool,
    drain: Duration,
}

impl<Q: Queue> KernelLane<Q> {
    /// A lane over these files, for I/Os with slots below `depth`; to be used by the calling thread only.
    ///
    /// # Errors
    /// [`EngineError`] if the kernel refuses the queue.
    pub fn new(files: Arc<[KernelFile]>, depth: u32) -> Result<Self, EngineError> {
        Ok(Self {
            queue: ManuallyDrop::new(Q::new(&files, depth)?),
            files,
            flying: Flying::new(depth),
            ended: Vec::with_capacity(depth as usize),
            discards: true,
            drain: Duration::from_secs(30),
        })
    }

    /// Starts the I/O of a slot, or what is left of it.
    #[inline]
    fn start(&mut self, slot: u32) {
        let Some(Flight { io, note: done, .. }) = self.flying.get(slot) else { return };
        let Some(file) = self.files.get(io.image as usize) else {
            return self.ended.push((slot, Err(Errno::ENODEV)));
        };
        let len = io.len as usize;
        match io.op {
            Op::Read | Op::Write if len > io.buffer.len() => {
                return self.ended.push((slot, Err(Errno::EINVAL)));
            }
            Op::Trim if file.is_device && !self.discards => return self.clear(slot),
            Op::Trim | Op::WriteZeroes if !self.queue.takes(io.op) => return self.clear(slot),
            _ => {}
        }
        let piece = Piece {
            slot,
            op: io.op,
            file,
            index: io.image,
            buffer: &io.buffer,
            memory: io.buffer.as_ptr().wrapping_add(*done as usize),
            offset: io.offset + u64::from(*done),
            len: io.len - done,
        };
        // SAFETY: the buffer holds `len` bytes, checked above, of which `done` are less than all. It stays with its I/O
        // in `flying`, untouched, until the queue gives the slot back; a lane that goes before leaks both. Slots are
        // below `depth`, or indexing would have panicked, and `push` lets each be used once at a time.
        unsafe { self.queue.add(&piece) };
    }

    /// Trims or zeroes with a call that blocks, since the queue can't.
    #[cold]
    fn clear(&mut self, slot: u32) {
        let Some(Flight { io, .. }) = self.flying.get(slot) else { return };
        let file = &self.files[io.image as usize];
        let result = file.clear(io.op, io.offset, io.len.into()).map(|()| io.len);
        self.ended.push((slot, result));
    }

    /// What becomes of an I/O whose piece came back: its result, or `None` if it goes on.
    ///
    /// As fio does, what is left of a short read or write is asked for again; where that gives nothing, the end of the
    /// file among it, the I/O is short.
    #[inline]
    fn settle(&mut self, slot: u32, result: i32) -> Option<Result<u32, Errno>> {
        let Flight { io, note: done, .. } = self.flying.get_mut(slot)?;
        match io.op {
            Op::Read | Op::Write if result > 0 => {
                *done += result.cast_unsigned();
                if *done >= io.len {
                    return Some(Ok(*done));
                }
            }
            Op::Read | Op::Write if result == 0 => return Some(Ok(*done)),
            _ if result >= 0 => return Some(Ok(io.len)),
            Op::Trim if result == -libc::EOPNOTSUPP && self.files[io.image as usize].is_device => {
                self.discards = false;
            }
            _ if result == -libc::EAGAIN => {}
            _ if *done > 0 => return Some(Ok(*done)),
            _ => return Some(Err(Errno::from_raw(-result))),
        }
        self.start(slot);
        None
    }

    #[inline]
    fn finish(&mut self, slot: u32, result: Result<u32, Errno>) -> Option<Done> {
        Some(Done { io: self.flying.take(slot)?, result })
    }

    /// Says what the kernel still has, and gives it up: its buffers, the queue that it will answer to, and the files.
    fn abandon(&mut self) {
        let name = |file: u32| self.files.get(file as usize).map_or("a file", |file| file.name.as_str());
        let stuck = self.flying.leak(name);
        say(format_args!("{}: {stuck}; its storage is stuck, see `dmesg`", Q::NAME));
        std::mem::forget(Arc::clone(&self.files));
    }
}

impl<Q: Queue> Lane for KernelLane<Q> {
    #[inline]
    fn push(&mut self, io: Box<Io>) {
        let slot = io.slot;
        self.flying.insert(io, 0);
        self.start(slot);
    }

    #[inline]
    fn reap(&mut self, until: Instant, mut done: impl FnMut(Done)) -> Result<(), LaneError> {
        let until = if self.ended.is_empty() { until } else { Instant::now() };
        let ready = self.queue.wait(until).map_err(|errno| LaneError::Wait { lane: Q::NAME, errno })?;
        for _ in 0..ready {
            if let Some((slot, result)) = self.queue.next()
                && let Some(result) = self.settle(slot, result)
                && let Some(finished) = self.finish(slot, result)
            {
                done(finished);
            }
        }
        while let Some((slot, result)) = self.ended.pop() {
            self.finish(slot, result).into_iter().for_each(&mut done);
        }
        Ok(())
    }

    fn in_flight(&self) -> u32 {
        self.flying.count()
    }

    fn set_drain_deadline(&mut self, deadline: Duration) {
        self.drain = deadline;
    }
}

impl<Q: Queue> Drop for KernelLane<Q> {
    fn drop(&mut self) {
        let until = Instant::now() + self.drain;
        while self.in_flight() > 0 && Instant::now() < until {
            // What comes late has nobody to go to.
            if self.reap(until, drop).is_err() {
                break;
            }
        }
        if self.in_flight() > 0 {
            self.abandon();
        } else {
            // SAFETY: dropped once, here, and not used again.
            unsafe { ManuallyDrop::drop(&mut self.queue) };
        }
    }
}
