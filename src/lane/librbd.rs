//! The lane of librbd: asynchronous I/O on the images of one arm, all of them through one queue.
//!
//! librbd calls back on threads of its own; the callback posts to the lane's [`Inbox`] and the load thread takes from
//! there. No thread is needed for an image, a queue or an I/O.
#![expect(unsafe_code, reason = "hands buffers to librbd")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::errno::Errno;

use super::inbox::{Inbox, Slot};
use super::{Done, Io, Lane, LaneError, Op};
use crate::ceph::{Error, Image, Notify, Request, leave_behind, say};
use crate::units::Bytes;

/// An I/O that librbd has, behind its place in the order of pushing.
type Flight = (u64, Box<Io>);

/// One queue of I/O over open images.
#[derive(Debug)]
pub struct LibrbdLane {
    images: Arc<[Image]>,
    sizes: Box<[Bytes]>,
    inbox: Inbox,
    /// The I/Os that librbd has, by slot, each with its place in the order of pushing.
    flying: Box<[Option<Flight>]>,
    in_flight: u32,
    pushed: u64,
    drain: Duration,
}

// SAFETY: posts to the inbox, whose slots take posts from any thread, and has no panic path.
unsafe impl Notify for Slot {
    unsafe fn notify(this: *const Self, result: i64) {
        // SAFETY: `push` submits with a slot of an inbox that outlives the I/O, once until it is taken.
        unsafe { Self::post(this, result) };
    }
}

impl LibrbdLane {
    /// A lane over these images, for I/Os with slots below `depth`.
    ///
    /// # Errors
    /// [`Error::Failed`] if the size of an image can't be told.
    pub fn new(images: Arc<[Image]>, depth: u32) -> Result<Self, Error> {
        let sizes = images.iter().map(Image::size).collect::<Result<_, _>>()?;
        Ok(Self {
            images,
            sizes,
            inbox: Inbox::new(depth),
            flying: (0..depth).map(|_| None).collect(),
            in_flight: 0,
            pushed: 0,
            drain: Duration::from_secs(30),
        })
    }

    fn submit(&self, io: &Io) -> Result<(), Errno> {
        let image = self.images.get(io.image as usize).ok_or(Errno::ENODEV)?;
        let len = io.len as usize;
        let request = match io.op {
            Op::Read | Op::Write if len > io.buffer.len() => return Err(Errno::EINVAL),
            Op::Read => Request::Read(io.buffer.as_ptr()),
            Op::Write => Request::Write(io.buffer.as_ptr()),
            Op::Trim => Request::Discard,
            Op::WriteZeroes => Request::WriteZeroes,
            Op::Sync | Op::DataSync => Request::Flush,
        };
        // SAFETY: the buffer holds `len` bytes, checked above. It stays with its I/O in `flying`, untouched, until the
        // slot is taken; a lane that goes before leaks it, as well as the inbox with the slot and the open images.
        unsafe { image.submit(request, io.offset, len, self.inbox.slot(io.slot)) }
    }

    /// What librbd returned, as bytes done.
    fn outcome(&self, io: &Io, result: i64) -> Result<u32, Errno> {
        if result < 0 {
            return Err(Errno::from_raw(i32::try_from(-result).unwrap_or(i32::MAX)));
        }
        match io.op {
            Op::Read => Ok(u32::try_from(result).unwrap_or(io.len)),
            // librbd clips what goes over the end of the image, and returns 0 all the same.
            Op::Write | Op::Trim | Op::WriteZeroes => {
                let left = self.sizes[io.image as usize].get().saturating_sub(io.offset);
                Ok(u32::try_from(left).unwrap_or(u32::MAX).min(io.len))
            }
            Op::Sync | Op::DataSync => Ok(io.len),
        }
    }

    /// Waits for what is in flight, until the deadline.
    fn settle(&mut self) {
        let until = Instant::now() + self.drain;
        while self.in_flight > 0 && Instant::now() < until {
            // Cannot fail, and what comes late has nobody to go to.
            let _ = self.reap(until, drop);
        }
    }

    /// Says what librbd still has, and gives it up: its buffers, the inbox it will post to, and the images.
    fn abandon(&mut self) {
        let stuck: Vec<Flight> = self.flying.iter_mut().filter_map(Option::take).collect();
        if let Some((_, oldest)) = stuck.iter().min_by_key(|(order, _)| *order) {
            let image = self.images.get(oldest.image as usize).map_or("an image", Image::name);
            say(format_args!(
                "{} of librbd's I/Os never ended and are left behind, the oldest a {} of {} bytes at {} of {image}; the cluster \
                 is stuck, see `ceph -s`",
                stuck.len(),
                oldest.op.name(),
                oldest.len,
                oldest.offset,
            ));
        }
        leave_behind();
        self.inbox.leak();
        std::mem::forget((stuck, Arc::clone(&self.images)));
    }
}

impl Lane for LibrbdLane {
    fn push(&mut self, io: Box<Io>) {
        let slot = io.slot;
        // Before librbd has the buffer: a panic later would free it.
        assert!(
            self.flying[slot as usize].is_none(),
            "an I/O is pushed once, and again only when it came back"
        );
        let submitted = self.submit(&io);
        self.flying[slot as usize] = Some((self.pushed, io));
        self.in_flight += 1;
        self.pushed += 1;
        if let Err(errno) = submitted {
            // An errno that nix does not know is 0 there, which would read as success.
            let errno = if errno == Errno::UnknownErrno { Errno::EIO } else { errno };
            self.inbox.post(slot, -i64::from(errno as i32));
        }
    }

    fn reap(&mut self, until: Instant, mut done: impl FnMut(Done)) -> Result<(), LaneError> {
        for (slot, result) in self.inbox.take(until) {
            let Some((_, io)) = self.flying[slot as usize].take() else { continue };
            self.in_flight -= 1;
            let result = self.outcome(&io, result);
            done(Done { io, result });
        }
        Ok(())
    }

    fn in_flight(&self) -> u32 {
        self.in_flight
    }

    fn set_drain_deadline(&mut self, deadline: Duration) {
        self.drain = deadline;
    }
}

impl Drop for LibrbdLane {
    fn drop(&mut self) {
        self.settle();
        if self.in_flight > 0 {
            self.abandon();
        }
    }
}
