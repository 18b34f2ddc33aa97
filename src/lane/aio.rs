//! Linux AIO as the queue of a [`super::KernelLane`], for where io_uring is not allowed. It is asynchronous for direct I/O
//! only: handing over buffered I/O blocks until that is done. It has no trims and no zeroing.
#![expect(unsafe_code, reason = "system calls that take pointers, and libc has no functions for")]

use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nix::errno::Errno;

use super::Op;
use super::file::KernelFile;
use super::kernel::{EngineError, Piece, Queue};

/// As for io_uring: enough to share the cost of a call, and few enough that the first of them is not late.
const BATCH: usize = 8;

/// The commands of `linux/aio_abi.h`.
const IOCB_CMD_PREAD: u16 = 0;
const IOCB_CMD_PWRITE: u16 = 1;
const IOCB_CMD_FSYNC: u16 = 2;
const IOCB_CMD_FDSYNC: u16 = 3;

/// The AIO context of one thread.
#[derive(Debug)]
pub struct Aio {
    /// The kernel's name for it, which is the address of the ring of completions that it maps.
    context: libc::c_ulong,
    /// A control block for each slot, which the kernel reads when the I/O is handed over.
    blocks: Box<[libc::iocb]>,
    /// Slots added, and not yet with the kernel.
    added: Vec<u32>,
    /// The addresses of their blocks, as the kernel wants them; as long as there are slots.
    list: Vec<*mut libc::iocb>,
    events: Box<[Event]>,
    /// Of `events`, those that are not yet taken.
    fresh: std::ops::Range<usize>,
    /// Slots that the kernel did not take, with the negative errno.
    refused: Vec<(u32, i32)>,
}

/// `struct io_event`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Event {
    data: u64,
    block: u64,
    result: i64,
    result2: i64,
}

/// The begin of the ring of completions, `struct aio_ring`.
#[repr(C)]
struct RingHead {
    id: u32,
    nr: u32,
    head: AtomicU32,
    tail: AtomicU32,
}

impl Aio {
    /// Whether Linux AIO may be used at all.
    ///
    /// # Errors
    /// [`EngineError`] with what forbids it.
    pub fn check() -> Result<(), EngineError> {
        Self::new(&[], 1).map(drop)
    }

    /// Hands over what was added.
    ///
    /// Implements: `io_submit`.
    fn submit(&mut self) {
        let mut taken = 0;
        self.list.clear();
        let first = self.blocks.as_mut_ptr();
        self.list.extend(self.added.iter().map(|slot| first.wrapping_add(*slot as usize)));
        while let left @ [_, ..] = &self.list[taken..] {
            // SAFETY: every pointer is to a block of `blocks`, and who added it vouched for the memory that it names.
            let submitted =
                unsafe { libc::syscall(libc::SYS_io_submit, self.context, left.len(), left.as_ptr()) };
            match Errno::result(submitted) {
                Ok(count) => taken += count as usize,
                // Out of memory for more until some have completed: they stay, for the next time.
                Err(Errno::EAGAIN) => break,
                // It is the first that it does not take.
                Err(errno) => {
                    self.refused.push((self.added[taken], -(errno as i32)));
                    taken += 1;
                }
            }
        }
        self.added.drain(..taken);
    }

    /// Takes what has completed, waiting for the first for as long as is `left`.
    ///
    /// Implements: `io_getevents`.
    fn take(&mut self, left: Duration) -> Result<(), Errno> {
        let limit = libc::timespec {
            tv_sec: libc::time_t::try_from(left.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        let (least, room) = (u32::from(!left.is_zero()), self.events.len());
        // SAFETY: `events` has room for that many, and the limit lives for the call.
        let taken = unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context,
                libc::c_long::from(least),
                room,
                self.events.as_mut_ptr(),
                ptr::from_ref(&limit),
            )
        };
        match Errno::result(taken) {
            Ok(count) => {
                self.fresh = 0..count as usize;
                Ok(())
            }
            Err(Errno::EINTR) => Ok(()),
            Err(errno) => Err(errno),
        }
    }

    /// Whether something has completed, without a system call.
    fn has_completed(&self) -> bool {
        let head = ptr::with_exposed_provenance::<RingHead>(self.context as usize);
        // SAFETY: the kernel maps its ring there, page-aligned, for as long as the context is; these two are atomic.
        let head = unsafe { &*head };
        head.head.load(Ordering::Relaxed) != head.tail.load(Ordering::Acquire)
    }
}

impl Queue for Aio {
    const NAME: &'static str = "Linux AIO";

    fn new(_files: &[KernelFile], depth: u32) -> Result<Self, EngineError> {
        let mut context: libc::c_ulong = 0;
        // SAFETY: the kernel writes the context's name there.
        let made = unsafe { libc::syscall(libc::SYS_io_setup, depth, ptr::from_mut(&mut context)) };
        Errno::result(made).map_err(refused)?;
        // SAFETY: a control block is plain numbers, for which zero is a value.
        let block: libc::iocb = unsafe { std::mem::zeroed() };
        let slots = depth as usize;
        Ok(Self {
            context,
            blocks: vec![block; slots].into(),
            added: Vec::with_capacity(slots),
            list: Vec::with_capacity(slots),
            events: vec![Event::default(); slots].into(),
            fresh: 0..0,
            refused: Vec::with_capacity(slots),
        })
    }

    fn takes(&self, op: Op) -> bool {
        !matches!(op, Op::Trim | Op::WriteZeroes)
    }

    #[inline]
    unsafe fn add(&mut self, piece: &Piece<'_>) {
        let block = &mut self.blocks[piece.slot as usize];
        block.aio_data = piece.slot.into();
        block.aio_fildes = piece.file.file.as_raw_fd().cast_unsigned();
        (block.aio_buf, block.aio_nbytes, block.aio_offset) = (0, 0, 0);
        block.aio_lio_opcode = match piece.op {
            Op::Sync => IOCB_CMD_FSYNC,
            Op::DataSync => IOCB_CMD_FDSYNC,
            op => {
                block.aio_buf = piece.memory.expose_provenance() as u64;
                block.aio_nbytes = piece.len.into();
                block.aio_offset = piece.offset.cast_signed();
                if op == Op::Read { IOCB_CMD_PREAD } else { IOCB_CMD_PWRITE }
            }
        };
        self.added.push(piece.slot);
    }

    #[inline]
    fn wait(&mut self, until: Instant) -> Result<usize, Errno> {
        let left = until.saturating_duration_since(Instant::now());
        if self.added.len() >= BATCH || !(left.is_zero() || self.added.is_empty()) {
            self.submit();
        }
        if self.has_completed() {
            self.take(Duration::ZERO)?;
        } else if !left.is_zero() && self.refused.is_empty() {
            self.take(left)?;
        }
        Ok(self.fresh.len() + self.refused.len())
    }

    #[inline]
    fn next(&mut self) -> Option<(u32, i32)> {
        let Some(index) = self.fresh.next() else { return self.refused.pop() };
        let event = &self.events[index];
        Some((event.data as u32, event.result as i32))
    }
}

impl Drop for Aio {
    fn drop(&mut self) {
        // SAFETY: the context is not used any more; nothing is in flight, or the lane had leaked it.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}

/// What forbids Linux AIO, and what to do about it.
#[cold]
fn refused(errno: Errno) -> EngineError {
    let remedy = match errno {
        Errno::EAGAIN => {
            "all of fs.aio-max-nr is in use (see fs.aio-nr); raise it with `sysctl -w fs.aio-max-nr=1048576`"
        }
        Errno::ENOSYS | Errno::EPERM => {
            "this kernel is built without it, or a seccomp filter forbids io_setup"
        }
        _ => "the kernel does not take the queue; lower `iodepth`",
    };
    EngineError { queue: Aio::NAME, errno, remedy: remedy.to_owned() }
}
