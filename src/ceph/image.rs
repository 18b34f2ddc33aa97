//! An open RBD image.
#![expect(unsafe_code, reason = "calls librbd")]

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use ceph_sys::rbd::{Rbd, rbd_image_info_t};
use nix::errno::Errno;

use super::call::{Raw, c_text, check, text};
use super::deadline::{finish_within, leave_behind};
use super::{Error, Features, Pool};
use crate::console::say;
use crate::units::Bytes;

/// An open image, from [`Pool::image`]. Clones share it; the last one closes it.
#[derive(Clone, Debug)]
pub struct Image(Arc<Open>);

/// How an image is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View<'a> {
    /// To read and write; takes a watch, and the exclusive lock on the first write.
    Write,
    /// To read only: no watch, no lock.
    Read,
    /// To read one of its snapshots.
    Snapshot(&'a str),
}

/// What an image looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageInfo {
    /// Its size.
    pub size: Bytes,
    /// The size of its objects.
    pub object_size: Bytes,
    /// How many objects it has when full.
    pub objects: u64,
    /// Its internal id, which is part of the names of its counters and objects.
    pub id: String,
    /// Its features.
    pub features: Features,
    /// Bytes before the next object of a stripe; the object size if it is not striped.
    pub stripe_unit: Bytes,
    /// Objects that a stripe goes over; 1 if it is not striped.
    pub stripe_count: u64,
    /// The number of the pool of its data.
    pub data_pool: i64,
}

#[derive(Debug)]
struct Open {
    raw: Raw,
    rbd: &'static Rbd,
    pool: Pool,
    name: String,
}

impl Image {
    pub(super) fn open(pool: &Pool, name: &str, view: View<'_>) -> Result<Self, Error> {
        let rbd = ceph_sys::rbd()?;
        let image = c_text("an image's name", name)?;
        let (snapshot, full_name) = match view {
            View::Snapshot(snapshot) => (Some(snapshot), format!("{pool}/{name}@{snapshot}")),
            View::Write | View::Read => (None, format!("{pool}/{name}")),
        };
        let snapshot = snapshot.map(|snapshot| c_text("a snapshot's name", snapshot)).transpose()?;
        let at = snapshot.as_ref().map_or(ptr::null(), |snapshot| snapshot.as_ptr());
        let mut raw = ptr::null_mut();
        let open = if view == View::Write { rbd.rbd_open } else { rbd.rbd_open_read_only };
        // SAFETY: the I/O context is open, the names live for the call (null is no snapshot), and `raw` is a place to
        // write to.
        let code = unsafe { open(pool.raw(), image.as_ptr(), &raw mut raw, at) };
        check(code).map_err(|errno| {
            let missing = match pool.has_namespace() {
                Ok(false) => "there is no such namespace; see `rbd namespace ls`",
                _ => "there is no such image or snapshot; see `rbd ls` and `rbd snap ls`",
            };
            Error::failed(format!("open the image {full_name}"), errno, &[(Errno::ENOENT, missing)])
        })?;
        Ok(Self(Arc::new(Open { raw: Raw::new(raw), rbd, pool: pool.clone(), name: full_name })))
    }

    /// Its name: `pool/image`, `pool/namespace/image` or either with `@snapshot`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Where it is.
    #[must_use]
    pub fn pool(&self) -> &Pool {
        &self.0.pool
    }

    /// Its size now.
    ///
    /// Implements: `rbd_get_size`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn size(&self) -> Result<Bytes, Error> {
        let mut size = 0;
        // SAFETY: the image is open, and `size` is a place to write to.
        let code = unsafe { self.rbd().rbd_get_size(self.raw(), &raw mut size) };
        check(code).map_err(|errno| self.failed("get the size of", errno))?;
        Ok(Bytes(size))
    }

    /// What it looks like.
    ///
    /// Implements: `rbd_stat`, `rbd_get_id`, `rbd_get_features`, `rbd_get_stripe_unit`, `rbd_get_stripe_count`,
    /// `rbd_get_data_pool_id`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn info(&self) -> Result<ImageInfo, Error> {
        self.read_info().map_err(|errno| self.failed("stat", errno))
    }

    /// Makes every write that has completed durable, and ends librbd's writing through.
    ///
    /// Implements: `rbd_flush`.
    ///
    /// # Errors
    /// [`Error::Failed`]; data that was cached may be lost then.
    pub fn flush(&self) -> Result<(), Error> {
        // SAFETY: the image is open.
        check(unsafe { self.rbd().rbd_flush(self.raw()) })
            .map(drop)
            .map_err(|errno| self.failed("flush", errno))
    }

    /// Drops what the client has cached, after writing back what is dirty.
    ///
    /// Implements: `rbd_invalidate_cache`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn invalidate_cache(&self) -> Result<(), Error> {
        // SAFETY: the image is open.
        let code = unsafe { self.rbd().rbd_invalidate_cache(self.raw()) };
        check(code).map(drop).map_err(|errno| self.failed("invalidate the cache of", errno))
    }

    /// Closes it, unless other handles still use it. Dropping does the same, but can't report. A client that was
    /// blocklisted loses its dirty data here without an error: call [`Image::flush`] first.
    ///
    /// Implements: `rbd_close`.
    ///
    /// # Errors
    /// [`Error::Failed`]; [`Error::Stuck`] if it takes longer than the connection's timeout; the image is left behind
    /// then, with its connection.
    pub fn close(self) -> Result<(), Error> {
        Arc::into_inner(self.0).map_or(Ok(()), |mut open| open.shut())
    }

    /// Gives it up without closing it, which would only hang, for the cluster is stuck.
    pub fn leave_behind(self) {
        leave_behind();
        std::mem::forget(self);
    }

    pub(super) fn rbd(&self) -> &'static Rbd {
        self.0.rbd
    }

    pub(super) fn raw(&self) -> *mut c_void {
        self.0.raw.get()
    }

    pub(super) fn failed(&self, verb: &str, errno: Errno) -> Error {
        Error::failed(format!("{verb} the image {}", self.0.name), errno, &[])
    }

    fn read_info(&self) -> Result<ImageInfo, Errno> {
        let (rbd, raw) = (self.rbd(), self.raw());
        let mut info = rbd_image_info_t::default();
        // SAFETY: the image is open, and `info` is a place of the size that is told.
        check(unsafe { rbd.rbd_stat(raw, &raw mut info, size_of_val(&info)) })?;
        let mut id = [0; 256];
        // SAFETY: the image is open, and `id` has that much room.
        check(unsafe { rbd.rbd_get_id(raw, id.as_mut_ptr(), id.len()) })?;
        let (mut features, mut stripe_unit, mut stripe_count) = (0, 0, 0);
        // SAFETY: the image is open, and `features` is a place to write to.
        check(unsafe { rbd.rbd_get_features(raw, &raw mut features) })?;
        // SAFETY: the image is open, and `stripe_unit` is a place to write to.
        check(unsafe { rbd.rbd_get_stripe_unit(raw, &raw mut stripe_unit) })?;
        // SAFETY: the image is open, and `stripe_count` is a place to write to.
        check(unsafe { rbd.rbd_get_stripe_count(raw, &raw mut stripe_count) })?;
        Ok(ImageInfo {
            size: Bytes(info.size),
            object_size: Bytes(info.obj_size),
            objects: info.num_objs,
            // SAFETY: librbd wrote a string, shorter than the room that it was told.
            id: unsafe { text(id.as_ptr()) },
            features: Features::from_bits(features),
            stripe_unit: Bytes(stripe_unit),
            stripe_count,
            // SAFETY: the image is open.
            data_pool: check(unsafe { rbd.rbd_get_data_pool_id(raw) })?,
        })
    }
}

impl Open {
    fn shut(&mut self) -> Result<(), Error> {
        let Some(raw) = self.raw.take() else { return Ok(()) };
        let (rbd, pool, name) = (self.rbd, self.pool.clone(), self.name.clone());
        let limit = pool.cluster().timeout();
        finish_within(&format!("closing the image {name}"), limit, move || {
            // SAFETY: nobody else has the handle: it was taken above, from its last holder.
            let code = unsafe { rbd.rbd_close(raw.get()) };
            // The pool may go only after the image: this thread holds it for as long as the call takes.
            drop(pool);
            check(code)
                .map(drop)
                .map_err(|errno| Error::failed(format!("close the image {name}"), errno, &[]))
        })
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Err(error) = self.shut() {
            say(error);
        }
    }
}
