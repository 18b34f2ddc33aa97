//! A file or block device that the kernel does I/O on, and the calls that it offers no queue for.
#![expect(unsafe_code, reason = "ioctls and fallocate take no safe form")]

use std::fs::File;
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, fallocate};

use super::Op;

nix::ioctl_write_ptr_bad!(blkdiscard, nix::request_code_none!(0x12, 119), [u64; 2]);

/// An open file or block device.
#[derive(Debug)]
pub struct KernelFile {
    /// Open as its lane is to use it.
    pub file: File,
    /// What it is called, for messages.
    pub name: String,
    /// It is a block device, whose ranges are discarded and not punched out.
    pub is_device: bool,
}

impl KernelFile {
    /// Trims or zeroes a range, and blocks until that is done.
    ///
    /// Implements: `BLKDISCARD`, `fallocate`.
    pub(super) fn clear(&self, op: Op, offset: u64, len: u64) -> Result<(), Errno> {
        if op == Op::Trim && self.is_device {
            // SAFETY: the range is read within the call, and the descriptor is open as long as `self` is.
            return unsafe { blkdiscard(self.file.as_raw_fd(), &[offset, len]) }.map(drop);
        }
        let position = |bytes: u64| i64::try_from(bytes).map_err(|_| Errno::EFBIG);
        let flags = FallocateFlags::from_bits_retain(clearing_mode(op));
        fallocate(&self.file, flags, position(offset)?, position(len)?)
    }
}

/// The mode of `fallocate` that trims or zeroes a range and leaves the size of the file.
pub(super) const fn clearing_mode(op: Op) -> i32 {
    let what = match op {
        Op::WriteZeroes => libc::FALLOC_FL_ZERO_RANGE,
        _ => libc::FALLOC_FL_PUNCH_HOLE,
    };
    what | libc::FALLOC_FL_KEEP_SIZE
}
