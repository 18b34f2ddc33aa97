//! The lane of librbd: asynchronous I/O on the images of one arm, all of them through one queue.
//!
//! librbd calls back on threads of its own; the callback posts to the lane's [`Inbox`] and the load thread takes from
//! there. No thread is needed for an image, a queue or an I/O.
#![expect(unsafe_code, reason = "hands buffers to librbd")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::errno::Errno;

use super::flying::Flying;
use super::inbox::{Inbox, Slot};
use super::{Done, Io, Lane, LaneError, Op};
use crate::ceph::{Error, Image, Notify, Request, leave_behind};
use crate::console::say;
use crate::units::Bytes;

/// One queue of I/O over open images.
#[derive(Debug)]
pub struct LibrbdLane {
    images: Arc<[Image]>,
    sizes: Box<[Bytes]>,
    inbox: Inbox,
    /// The I/Os that librbd has.
    flying: Flying<()>,
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
            flying: Flying::new(depth),
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

    /// Says what librbd still has, and gives it up: its buffers, the inbox it will post to, and the images.
    fn abandon(&mut self) {
        let name = |image: u32| self.images.get(image as usize).map_or("an image", Image::name);
        let stuck = self.flying.leak(name);
        say(format_args!("librbd: {stuck}; the cluster is stuck, see `ceph -s`"));
        leave_behind();
        self.inbox.leak();
        std::mem::forget(Arc::clone(&self.images));
    }
}

impl Lane for LibrbdLane {
    fn push(&mut self, io: Box<Io>) {
        let slot = io.slot;
        self.flying.insert(io, ());
        let submitted = self.flying.get(slot).map_or(Ok(()), |flight| self.submit(&flight.io));
        if let Err(errno) = submitted {
            // An errno that nix does not know is 0 there, which would read as success.
            let errno = if errno == Errno::UnknownErrno { Errno::EIO } else { errno };
            self.inbox.post(slot, -i64::from(errno as i32));
        }
    }

    fn reap(&mut self, until: Instant, mut done: impl FnMut(Done)) -> Result<(), LaneError> {
        for (slot, result) in self.inbox.take(until) {
            let Some(io) = self.flying.take(slot) else { continue };
            let result = self.outcome(&io, result);
            done(Done { io, result });
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

impl Drop for LibrbdLane {
    fn drop(&mut self) {
        let until = Instant::now() + self.drain;
        while self.in_flight() > 0 && Instant::now() < until {
            // Cannot fail, and what comes late has nobody to go to.
            let _ = self.reap(until, drop);
        }
        if self.in_flight() > 0 {
            self.abandon();
        }
    }
}
