//! The heart: a [`Lane`] is one queue of I/O, used by one thread, over all images (objects, files) of one arm.
//!
//! An [`Io`] owns its buffer and is moved loop -> lane -> loop, so that no safe code can touch memory that librbd or
//! the kernel is using. Exactly `iodepth` of them exist: a lane is never full, and nothing is allocated per I/O.

mod aio;
mod buffer;
mod counter;
mod file;
mod flying;
mod inbox;
mod kernel;
mod librbd;
mod null;
mod uring;

use std::time::{Duration, Instant};

pub use aio::Aio;
pub use buffer::Buffer;
pub use counter::Counter;
pub use file::KernelFile;
pub use kernel::{EngineError, KernelLane, Queue};
pub use librbd::LibrbdLane;
use nix::errno::Errno;
pub use null::NullLane;
pub use uring::Uring;

/// What an I/O does. The discriminants index tables of figures per operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Op {
    /// Read `len` bytes into the buffer.
    Read = 0,
    /// Write `len` bytes from the buffer.
    Write = 1,
    /// Discard the range.
    Trim = 2,
    /// Write zeroes to the range, without a data transfer where the path can.
    WriteZeroes = 3,
    /// Make every write that has completed durable; the range is ignored.
    Sync = 4,
    /// As [`Op::Sync`] without metadata that a read does not need; the same where a path knows no difference.
    DataSync = 5,
}

impl Op {
    /// How many operations there are.
    pub const COUNT: usize = 6;
    /// Every operation, in the order of its discriminant.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Read, Self::Write, Self::Trim, Self::WriteZeroes, Self::Sync, Self::DataSync];

    /// The operation's name in result files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::WriteZeroes => "write_zeroes",
            Self::Sync => "fsync",
            Self::DataSync => "fdatasync",
        }
    }
}

/// One I/O: where, what, and the memory it uses. It travels in a box, made once: what moves is one word.
#[derive(Debug)]
pub struct Io {
    /// Which of the loop's `iodepth` I/Os this is: `0..iodepth`, the same for its whole life.
    pub slot: u32,
    /// Index of the image (object, file) within the arm.
    pub image: u32,
    /// What to do.
    pub op: Op,
    /// First byte, from the start of the image.
    pub offset: u64,
    /// Bytes; for reads and writes never more than the buffer holds.
    pub len: u32,
    /// The memory read into or written from.
    pub buffer: Buffer,
}

/// A finished I/O, given back to the loop.
#[derive(Debug)]
pub struct Done {
    /// The I/O as it was pushed.
    pub io: Box<Io>,
    /// Bytes done (for trims, zeroes and syncs `io.len`), or the error.
    pub result: Result<u32, Errno>,
}

/// A lane that can't go on; trouble with a single I/O is a [`Done`] instead.
#[derive(Debug, thiserror::Error)]
pub enum LaneError {
    /// The source of completions itself failed.
    #[error("{lane}: waiting for completions failed: {errno}")]
    Wait {
        /// The lane's name.
        lane: &'static str,
        /// The error.
        errno: Errno,
    },
}

/// One queue of I/O over all images of an arm.
pub trait Lane {
    /// Starts an I/O. Never fails: trouble comes back as a [`Done`]. May block inside the client's own throttle.
    fn push(&mut self, io: Box<Io>);

    /// Hands every I/O that has finished to `done`: only what had finished before the first is handed over, as one
    /// stamp is taken for all. With none finished it waits for the first until `until`, also with none in flight (an
    /// open loop sleeps here until its next I/O is due); with `until` in the past it only looks.
    ///
    /// # Errors
    /// [`LaneError`] if completions can no longer be received.
    fn reap(&mut self, until: Instant, done: impl FnMut(Done)) -> Result<(), LaneError>;

    /// How many I/Os are in flight.
    fn in_flight(&self) -> u32;

    /// How long dropping the lane waits for I/Os in flight before it says what they are and leaks them.
    fn set_drain_deadline(&mut self, deadline: Duration);
}
