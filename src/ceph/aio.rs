//! Asynchronous I/O on an image: what the librbd lane submits, and how it is told of the end.
#![expect(unsafe_code, reason = "calls librbd")]

use std::ffi::c_void;
use std::ptr;

use ceph_sys::rbd::{Rbd, rbd_completion_t};
use nix::errno::Errno;

use super::Image;
use super::call::check;

/// Told of the end of an I/O, on a thread of librbd.
///
/// # Safety
/// `notify` must not panic, and must be sound on any thread.
pub unsafe trait Notify {
    /// `result` is what librbd returned: below 0 a negated errno, else for reads the bytes read.
    ///
    /// # Safety
    /// `this` is what the I/O was submitted with; called once per I/O, and nothing of librbd touches `this` afterwards.
    unsafe fn notify(this: *const Self, result: i64);
}

impl Image {
    /// Starts a read of `len` bytes at `offset` into `buffer`. May block inside librados' throttle.
    ///
    /// Implements: `rbd_aio_read`.
    ///
    /// # Errors
    /// The errno, if nothing was started; `done` is not told then.
    ///
    /// # Safety
    /// `buffer` has `len` bytes that nobody else touches, and `done` stays valid, until `done` is told; the image stays
    /// open until then.
    pub unsafe fn aio_read<N: Notify>(
        &self,
        offset: u64,
        len: usize,
        buffer: *mut u8,
        done: *const N,
    ) -> Result<(), Errno> {
        // SAFETY: the image is open and the buffer the caller's promise.
        self.start(done, |rbd, completion| unsafe {
            rbd.rbd_aio_read(self.raw(), offset, len, buffer.cast(), completion)
        })
    }

    /// Starts a write of `len` bytes from `buffer` at `offset`. May block inside librados' throttle.
    ///
    /// Implements: `rbd_aio_write`.
    ///
    /// # Errors
    /// As [`Image::aio_read`].
    ///
    /// # Safety
    /// As [`Image::aio_read`]; the buffer is only read.
    pub unsafe fn aio_write<N: Notify>(
        &self,
        offset: u64,
        len: usize,
        buffer: *const u8,
        done: *const N,
    ) -> Result<(), Errno> {
        // SAFETY: the image is open and the buffer the caller's promise.
        self.start(done, |rbd, completion| unsafe {
            rbd.rbd_aio_write(self.raw(), offset, len, buffer.cast(), completion)
        })
    }

    /// Starts a discard of `len` bytes at `offset`.
    ///
    /// Implements: `rbd_aio_discard`.
    ///
    /// # Errors
    /// As [`Image::aio_read`].
    ///
    /// # Safety
    /// As [`Image::aio_read`], without a buffer.
    pub unsafe fn aio_discard<N: Notify>(
        &self,
        offset: u64,
        len: usize,
        done: *const N,
    ) -> Result<(), Errno> {
        // SAFETY: the image is open.
        self.start(done, |rbd, completion| unsafe {
            rbd.rbd_aio_discard(self.raw(), offset, len as u64, completion)
        })
    }

    /// Starts writing `len` zeroes at `offset`; whole objects are removed instead.
    ///
    /// Implements: `rbd_aio_write_zeroes`.
    ///
    /// # Errors
    /// As [`Image::aio_read`].
    ///
    /// # Safety
    /// As [`Image::aio_read`], without a buffer.
    pub unsafe fn aio_write_zeroes<N: Notify>(
        &self,
        offset: u64,
        len: usize,
        done: *const N,
    ) -> Result<(), Errno> {
        // SAFETY: the image is open.
        self.start(done, |rbd, completion| unsafe {
            rbd.rbd_aio_write_zeroes(self.raw(), offset, len, completion, 0, 0)
        })
    }

    /// Starts a flush: it ends once every write that has completed before is durable.
    ///
    /// Implements: `rbd_aio_flush`.
    ///
    /// # Errors
    /// As [`Image::aio_read`].
    ///
    /// # Safety
    /// As [`Image::aio_read`], without a buffer.
    pub unsafe fn aio_flush<N: Notify>(&self, done: *const N) -> Result<(), Errno> {
        // SAFETY: the image is open.
        self.start(done, |rbd, completion| unsafe { rbd.rbd_aio_flush(self.raw(), completion) })
    }

    /// Implements: `rbd_aio_create_completion`.
    fn start<N: Notify>(
        &self,
        done: *const N,
        submit: impl FnOnce(&Rbd, rbd_completion_t) -> i32,
    ) -> Result<(), Errno> {
        let rbd = self.rbd();
        let mut completion = ptr::null_mut();
        let argument = done.cast_mut().cast::<c_void>();
        // SAFETY: `completion` is a place to write to, and `finished::<N>` expects what `argument` points to.
        check(unsafe { rbd.rbd_aio_create_completion(argument, Some(finished::<N>), &raw mut completion) })?;
        check(submit(rbd, completion)).map(drop).inspect_err(|_| {
            // SAFETY: librbd refused the I/O, so that nothing but us knows of the completion.
            unsafe { rbd.rbd_aio_release(completion) };
        })
    }
}

/// Implements: `rbd_callback_t`, with `rbd_aio_get_return_value` and `rbd_aio_release`.
unsafe extern "C" fn finished<N: Notify>(completion: rbd_completion_t, argument: *mut c_void) {
    // An I/O that ends was submitted through the loaded library.
    let Ok(rbd) = ceph_sys::rbd() else { return };
    // SAFETY: librbd calls this once with a completion that is complete and not released.
    let result = unsafe { rbd.rbd_aio_get_return_value(completion) };
    // SAFETY: as above; librbd holds its own reference for as long as it needs one.
    unsafe { rbd.rbd_aio_release(completion) };
    // SAFETY: `argument` is the `done` of `start`, valid until told.
    unsafe { N::notify(argument.cast::<N>(), result as i64) };
}
