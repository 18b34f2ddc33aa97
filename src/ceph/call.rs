//! How C functions take texts and give back codes, texts of unknown length and lists of unknown length.
#![expect(unsafe_code, reason = "calls C")]

use std::ffi::{CStr, CString, c_char, c_void};

use nix::errno::Errno;

use super::Error;

/// A handle of the C libraries; null once it is closed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw(*mut c_void);

// SAFETY: librados and librbd lock within each handle (cluster, I/O context, image), and document them as usable from
// any thread; the one thing they leave to the caller, that none is used once closed, is up to the handles' owners.
unsafe impl Send for Raw {}
// SAFETY: as above.
unsafe impl Sync for Raw {}

impl Raw {
    pub(super) const fn new(handle: *mut c_void) -> Self {
        Self(handle)
    }

    pub(super) const fn get(self) -> *mut c_void {
        self.0
    }

    /// Takes the handle to close it, unless that has been done.
    pub(super) fn take(&mut self) -> Option<Self> {
        let handle = std::mem::replace(&mut self.0, std::ptr::null_mut());
        (!handle.is_null()).then_some(Self(handle))
    }
}

/// The code that a C function returned: negative is an errno.
pub(super) fn check<T: Copy + Into<i64>>(code: T) -> Result<T, Errno> {
    let wide: i64 = code.into();
    if wide < 0 { Err(Errno::from_raw(i32::try_from(-wide).unwrap_or(i32::MAX))) } else { Ok(code) }
}

/// A text for C; `what` names it in the error.
pub(super) fn c_text(what: &'static str, text: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::Nul { what })
}

/// A text from C; null is empty, and what is no UTF-8 is replaced.
///
/// # Safety
/// `text` is null or a NUL-terminated string that lives for the call.
pub(super) unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The longest text or list that is fetched, in bytes or entries: a bound for the loops below.
const LARGEST: usize = 1 << 24;

/// Fetches bytes of a length that is not known before: calls again with a buffer twice the size for as long as C says
/// that it is too small. The function gets the buffer and its length, and returns how many bytes it filled.
pub(super) fn grown(mut fill: impl FnMut(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut buffer = vec![0; 512];
    loop {
        match fill(&mut buffer) {
            Err(Errno::ERANGE | Errno::ENAMETOOLONG) if buffer.len() < LARGEST => {
                let doubled = buffer.len() * 2;
                buffer.resize(doubled, 0);
            }
            Err(errno) => return Err(errno),
            Ok(filled) => {
                buffer.truncate(filled);
                return Ok(buffer);
            }
        }
    }
}

/// As [`grown`], for a list: the function gets the first entry and how many there is room for, which C overwrites with
/// how many it filled.
pub(super) fn listed<T: Copy + Default>(
    mut fill: impl FnMut(*mut T, &mut usize) -> Result<(), Errno>,
) -> Result<Vec<T>, Errno> {
    let mut room = 64;
    loop {
        let mut entries = vec![T::default(); room];
        let mut filled = room;
        match fill(entries.as_mut_ptr(), &mut filled) {
            Err(Errno::ERANGE) if room < LARGEST => room *= 2,
            Err(errno) => return Err(errno),
            Ok(()) => {
                entries.truncate(filled);
                return Ok(entries);
            }
        }
    }
}

/// The texts of a buffer in which each ends with a NUL.
pub(super) fn split_nul(buffer: &[u8]) -> Vec<String> {
    let texts = buffer.split(|byte| *byte == 0).filter(|text| !text.is_empty());
    texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_code_is_an_errno() {
        assert_eq!(check(-2), Err(Errno::ENOENT));
        assert_eq!(check(-108_i64), Err(Errno::ESHUTDOWN));
        assert_eq!(check(7), Ok(7));
        assert_eq!(check(i64::MIN + 1), Err(Errno::UnknownErrno));
    }

    #[test]
    fn a_buffer_grows_until_the_text_fits() {
        let mut rooms = Vec::new();
        let bytes = grown(|buffer| {
            rooms.push(buffer.len());
            if buffer.len() < 2000 { Err(Errno::ERANGE) } else { Ok(3) }
        });
        assert_eq!((bytes.map(|bytes| bytes.len()), rooms), (Ok(3), vec![512, 1024, 2048]));
    }

    #[test]
    fn a_list_grows_until_every_entry_fits() {
        let mut rooms = Vec::new();
        let list = listed::<u8>(|_, filled| {
            rooms.push(*filled);
            if *filled < 100 {
                Err(Errno::ERANGE)
            } else {
                *filled = 2;
                Ok(())
            }
        });
        assert_eq!((list, rooms), (Ok(vec![0, 0]), vec![64, 128]));
    }

    #[test]
    fn texts_are_split_at_their_nul() {
        assert_eq!(split_nul(b"a\0bc\0\0"), ["a", "bc"]);
    }
}
