//! io_uring as the queue of a [`super::KernelLane`]: I/Os are written into memory that the kernel shares, so that one call
//! hands over many, and the same call waits.
#![expect(unsafe_code, reason = "writes to a queue that the kernel reads pointers from")]

use std::io;
use std::os::fd::AsRawFd;
use std::time::Instant;

use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};
use nix::errno::Errno;

use super::Op;
use super::file::{KernelFile, clearing_mode};
use super::kernel::{EngineError, Piece, Queue};

/// I/Os added before the kernel gets them even though nobody waits: enough to share the cost of a call, and few enough
/// that the first of them is not late.
const BATCH: u32 = 8;

/// `_IO(0x12, 0)`: the kernel has its discard as a command of io_uring from 6.12 on.
const BLOCK_URING_CMD_DISCARD: u32 = 0x1200;

/// An io_uring of one thread.
///
/// The kernel is told once of each buffer, and keeps its pages: to look them up for every I/O costs a sixth of the CPU time of
/// 4 KiB, and most of that of 1 MiB. Where it can't, as above the limit of locked memory, it looks them up.
pub struct Uring {
    ring: IoUring,
    /// Added, and not yet with the kernel.
    added: u32,
    /// Added, and not yet ended.
    flying: u32,
    /// By slot the buffer that the kernel knows.
    known: Box<[Option<u64>]>,
    /// Whether it is to be told of more.
    registers: bool,
}

impl std::fmt::Debug for Uring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Uring").field("added", &self.added).finish_non_exhaustive()
    }
}

impl Uring {
    /// Whether io_uring may be used at all.
    ///
    /// # Errors
    /// [`EngineError`] with what forbids it.
    pub fn check() -> Result<(), EngineError> {
        Self::ring(1).map(drop)
    }

    fn ring(depth: u32) -> Result<IoUring, EngineError> {
        let depth = depth.next_power_of_two();
        // Completions are taken in when this thread asks for them, and don't interrupt it.
        let quiet = IoUring::builder()
            .setup_single_issuer()
            .setup_coop_taskrun()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .build(depth);
        let ring = match quiet {
            // Linux before 6.1 knows not all of these.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => IoUring::new(depth),
            other => other,
        };
        let ring = ring.map_err(|error| refused(errno(&error)))?;
        if ring.params().is_feature_ext_arg() { Ok(ring) } else { Err(refused(Errno::ENOSYS)) }
    }

    /// Tells the kernel of a buffer; whether it knows it now.
    #[cold]
    fn register(&mut self, piece: &Piece<'_>) -> bool {
        if !self.registers {
            return false;
        }
        let (start, len) = (piece.buffer.as_ptr(), piece.buffer.len());
        let memory = libc::iovec { iov_base: start.cast(), iov_len: len };
        // SAFETY: the memory is there for the call, in which the kernel takes hold of its pages. It uses them for I/Os of this
        // slot only, and those name a buffer by its number, which no other memory at this address would have.
        let told = unsafe { self.ring.submitter().register_buffers_update(piece.slot, &[memory], None) };
        self.registers = told.is_ok();
        self.known[piece.slot as usize] = told.is_ok().then(|| piece.buffer.id());
        told.is_ok()
    }

    /// Enters the kernel: hands over what was added, and waits for `want` completions until `until`.
    fn enter(&mut self, want: usize, until: Option<Timespec>) -> Result<(), Errno> {
        let submitter = self.ring.submitter();
        let entered = match &until {
            Some(until) => submitter.submit_with_args(want, &SubmitArgs::new().timespec(until)),
            None => submitter.submit(),
        };
        self.added = self.ring.submission().len() as u32;
        match entered.map_err(|error| errno(&error)) {
            // Out of time, a signal, or out of memory for more until some have completed: the caller looks again.
            Ok(_) | Err(Errno::ETIME | Errno::EINTR | Errno::EAGAIN | Errno::EBUSY) => Ok(()),
            Err(errno) => Err(errno),
        }
    }
}

impl Queue for Uring {
    const NAME: &'static str = "io_uring";

    fn new(files: &[KernelFile], depth: u32) -> Result<Self, EngineError> {
        let ring = Self::ring(depth)?;
        let descriptors: Vec<_> = files.iter().map(|file| file.file.as_raw_fd()).collect();
        ring.submitter().register_files(&descriptors).map_err(|error| refused(errno(&error)))?;
        // Not before Linux 5.19, nor above 16384.
        let registers = ring.submitter().register_buffers_sparse(depth).is_ok();
        Ok(Self { ring, added: 0, flying: 0, known: vec![None; depth as usize].into(), registers })
    }

    fn takes(&self, _op: Op) -> bool {
        true
    }

    #[inline]
    unsafe fn add(&mut self, piece: &Piece<'_>) {
        let is_known = matches!(piece.op, Op::Read | Op::Write)
            && (self.known[piece.slot as usize] == Some(piece.buffer.id()) || self.register(piece));
        let entry = entry(piece, is_known).user_data(piece.slot.into());
        // SAFETY: the caller vouches for the memory; the files stay open while they are registered.
        let added = unsafe { self.ring.submission().push(&entry) };
        // The ring has an entry for each of `depth` slots.
        debug_assert!(added.is_ok(), "more pieces than slots");
        self.added += 1;
        self.flying += 1;
    }

    #[inline]
    fn wait(&mut self, until: Instant) -> Result<usize, Errno> {
        // Where every slot is in use and none is with the kernel, no more can be added and nothing can have ended: what
        // the caller does next, and the clock read below, had better run while the kernel works.
        let is_full = self.added == self.flying && self.flying as usize == self.known.len();
        if self.added >= BATCH || is_full {
            self.enter(0, None)?;
        }
        let ready = self.ring.completion().len();
        if ready > 0 {
            return Ok(ready);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            if self.ring.submission().taskrun() {
                self.enter(0, None)?;
            }
            return Ok(self.ring.completion().len());
        }
        // All that is waited for is only handed over now. To sleep within the same call would let a worker of the kernel that
        // takes it up on this processor wake this thread on another one: a loop device is up to 40 % slower then.
        if self.added > 0 && self.added == self.flying {
            self.enter(0, None)?;
        }
        if self.ring.completion().is_empty() {
            self.enter(1, Some(left.into()))?;
        }
        Ok(self.ring.completion().len())
    }

    #[inline]
    fn next(&mut self) -> Option<(u32, i32)> {
        let ended = self.ring.completion().next()?;
        self.flying -= 1;
        Some((ended.user_data() as u32, ended.result()))
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        // The kernel takes a ring down some time after it is closed, and would keep the files open until then.
        let _ = self.ring.submitter().unregister_files();
    }
}

#[inline]
fn entry(piece: &Piece<'_>, is_known: bool) -> squeue::Entry {
    let &Piece { memory, offset, len, .. } = piece;
    let (file, known) = (Fixed(piece.index), piece.slot as u16);
    match piece.op {
        Op::Read if is_known => opcode::ReadFixed::new(file, memory, len, known).offset(offset).build(),
        Op::Write if is_known => opcode::WriteFixed::new(file, memory, len, known).offset(offset).build(),
        Op::Read => opcode::Read::new(file, memory, len).offset(offset).build(),
        Op::Write => opcode::Write::new(file, memory, len).offset(offset).build(),
        Op::Sync => opcode::Fsync::new(file).build(),
        Op::DataSync => opcode::Fsync::new(file).flags(FsyncFlags::DATASYNC).build(),
        Op::Trim if piece.file.is_device => {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&u64::from(len).to_ne_bytes());
            opcode::UringCmd16::new(file, BLOCK_URING_CMD_DISCARD).cmd(bytes).addr(Some(offset)).build()
        }
        op @ (Op::Trim | Op::WriteZeroes) => {
            opcode::Fallocate::new(file, len.into()).offset(offset).mode(clearing_mode(op)).build()
        }
    }
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO))
}

/// What forbids io_uring, and the way round it.
#[cold]
fn refused(errno: Errno) -> EngineError {
    let setting = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default();
    let remedy = format!("{}; or set `engine: linux_aio`", reason(errno, setting.trim()));
    EngineError { queue: Uring::NAME, errno, remedy }
}

/// Why io_uring is refused, with this value of `kernel.io_uring_disabled`; older kernels have none.
fn reason(errno: Errno, setting: &str) -> String {
    match (errno, setting) {
        (Errno::EPERM, level @ ("1" | "2")) => {
            format!(
                "kernel.io_uring_disabled is {level}; allow it with `sysctl -w kernel.io_uring_disabled=0`"
            )
        }
        (Errno::EPERM | Errno::EACCES, _) => {
            "a seccomp filter forbids it, as those of container runtimes do by default; \
             allow io_uring_setup, io_uring_enter and io_uring_register in the container's seccomp profile"
                .to_owned()
        }
        (Errno::ENOSYS, _) => {
            "it needs Linux 5.11 or newer, with CONFIG_IO_URING and no seccomp filter that hides \
             io_uring_setup, as those of container runtimes do by default"
                .to_owned()
        }
        (Errno::ENOMEM, _) => "the limit of locked memory is too low; raise it with `ulimit -l`".to_owned(),
        _ => "the kernel does not take the queue".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_setting_where_it_is_what_forbids_it() {
        let names = |errno, setting| {
            let reason = reason(errno, setting);
            ["kernel.io_uring_disabled", "seccomp"].map(|name| reason.contains(name))
        };
        assert_eq!(names(Errno::EPERM, "2"), [true, false]);
        assert_eq!(names(Errno::EPERM, "0"), [false, true]);
        assert_eq!(names(Errno::EPERM, ""), [false, true], "a kernel without the setting");
        assert_eq!(names(Errno::ENOSYS, "0"), [false, true]);
    }
}
