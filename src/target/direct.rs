//! What direct I/O on a file has to be aligned to.
#![expect(unsafe_code, reason = "statx has no safe form that tells it")]

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;

use crate::units::Bytes;

/// What every device can do that is not told apart.
const SECTOR: Bytes = Bytes(512);

/// What offsets and lengths of direct I/O on an open file have to be multiples of. Some file systems do other I/O through
/// the page cache, and tell nobody. Before Linux 6.1 the kernel does not say, and a sector is assumed.
///
/// Implements: `statx` with `STATX_DIOALIGN`.
pub(super) fn alignment(file: &File) -> Bytes {
    let mut about = MaybeUninit::<libc::statx>::zeroed();
    let (descriptor, mask) = (file.as_raw_fd(), libc::STATX_DIOALIGN);
    // SAFETY: the path is empty, and `about` has room for what is written there.
    let result =
        unsafe { libc::statx(descriptor, c"".as_ptr(), libc::AT_EMPTY_PATH, mask, about.as_mut_ptr()) };
    // SAFETY: plain numbers, zero at first.
    let about = unsafe { about.assume_init() };
    let told = result == 0 && about.stx_mask & mask != 0 && about.stx_dio_offset_align > 0;
    if told { Bytes(about.stx_dio_offset_align.into()) } else { SECTOR }
}
