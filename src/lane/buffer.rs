//! Aligned memory for one I/O.
#![expect(unsafe_code, reason = "aligned memory has no safe owner in std")]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Page-aligned memory with a single owner, fit for `O_DIRECT`; zeroed at first, never resized.
#[derive(Debug)]
pub struct Buffer {
    start: NonNull<u8>,
    len: usize,
    id: u64,
}

impl Buffer {
    /// The alignment of every buffer, in bytes.
    pub const ALIGNMENT: usize = 4096;

    /// Allocates `len` bytes; 0 is allowed and allocates nothing.
    ///
    /// # Panics
    /// If `len` is above `isize::MAX` less a page.
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        if len == 0 {
            return Self { start: NonNull::dangling(), len, id };
        }
        let layout = Self::layout(len);
        // SAFETY: the layout's size is not zero, checked above.
        let start = unsafe { alloc_zeroed(layout) };
        let start = NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout));
        Self { start, len, id }
    }

    /// A number that no other buffer of this process ever has. An address is that of another once this one is gone.
    #[must_use]
    pub const fn id(&self) -> u64 {
        self.id
    }

    /// The first byte, for the lane that hands the memory to C or to the kernel while it owns the [`super::Io`].
    #[must_use]
    pub const fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    fn layout(len: usize) -> Layout {
        Layout::from_size_align(len, Self::ALIGNMENT).expect("an I/O buffer fits the address space")
    }
}

// SAFETY: the memory has one owner, this value; nothing in it is tied to a thread.
unsafe impl Send for Buffer {}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `start` points to `len` bytes that were initialised when allocated (or `len` is 0 and it dangles,
        // aligned), and the borrow of `self` keeps them alive and unchanged.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and `&mut self` makes this the only access.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: allocated in `zeroed` with this very layout, and dropped once.
            unsafe { dealloc(self.start.as_ptr(), Self::layout(self.len)) };
        }
    }
}
