//! Asynchronous I/O on an image: what the librbd lane submits, and how it is told of the end.
#![expect(unsafe_code, reason = "calls librbd")]

use std::ffi::c_void;
use std::ptr;

use ceph_sys::rbd::rbd_completion_t;
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

/// What an I/O does, with the memory it uses; safe to build, for only [`Image::submit`] acts on it.
#[derive(Clone, Copy, Debug)]
pub enum Request {
    /// Reads into this memory.
    Read(*mut u8),
    /// Writes from this memory.
    Write(*const u8),
    /// Discards the range.
    Discard,
    /// Writes zeroes to the range; whole objects are removed instead.
    WriteZeroes,
    /// Ends once every write that has completed before is durable; the range is ignored.
    Flush,
}

impl Image {
    /// Starts an I/O of `len` bytes at `offset`. May block inside librados' throttle.
    ///
    /// Implements: `rbd_aio_create_completion`, `rbd_aio_read`, `rbd_aio_write`, `rbd_aio_discard`,
    /// `rbd_aio_write_zeroes`, `rbd_aio_flush`.
    ///
    /// # Errors
    /// The errno, if nothing was started; `done` is not told then.
    ///
    /// # Safety
    /// Until `done` is told, the request's memory has `len` bytes that nobody else uses (for writes: changes), `done`
    /// stays valid, and the image stays open.
    pub unsafe fn submit<N: Notify>(
        &self,
        request: Request,
        offset: u64,
        len: usize,
        done: *const N,
    ) -> Result<(), Errno> {
        let (rbd, image) = (self.rbd(), self.raw());
        let mut completion = ptr::null_mut();
        let argument = done.cast_mut().cast::<c_void>();
        // SAFETY: `completion` is a place to write to, and `finished::<N>` expects what `argument` points to.
        check(unsafe { rbd.rbd_aio_create_completion(argument, Some(finished::<N>), &raw mut completion) })?;
        let code = match request {
            // SAFETY: the image is open, and the memory is the caller's promise.
            Request::Read(into) => unsafe { rbd.rbd_aio_read(image, offset, len, into.cast(), completion) },
            // SAFETY: as above.
            Request::Write(from) => unsafe { rbd.rbd_aio_write(image, offset, len, from.cast(), completion) },
            // SAFETY: the image is open.
            Request::Discard => unsafe { rbd.rbd_aio_discard(image, offset, len as u64, completion) },
            // SAFETY: the image is open, and there are no flags.
            Request::WriteZeroes => unsafe { rbd.rbd_aio_write_zeroes(image, offset, len, completion, 0, 0) },
            // SAFETY: the image is open.
            Request::Flush => unsafe { rbd.rbd_aio_flush(image, completion) },
        };
        check(code).map(drop).inspect_err(|_| {
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
