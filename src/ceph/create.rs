//! What a new image looks like, and making it.
#![expect(unsafe_code, reason = "calls librbd")]

use std::ptr;

use ceph_sys::rbd::{
    RBD_IMAGE_OPTION_DATA_POOL, RBD_IMAGE_OPTION_FEATURES, RBD_IMAGE_OPTION_ORDER,
    RBD_IMAGE_OPTION_STRIPE_COUNT, RBD_IMAGE_OPTION_STRIPE_UNIT, Rbd, rbd_image_options_t,
};
use nix::errno::Errno;

use super::call::{c_text, check};
use super::{Error, Features, Pool};
use crate::units::Bytes;

/// What a new image looks like; what is none is the cluster's default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Its size.
    pub size: Bytes,
    /// The size of its objects: a power of two, 4 KiB to 32 MiB.
    pub object_size: Option<Bytes>,
    /// Its features.
    pub features: Option<Features>,
    /// Bytes before the next object of the stripe; only together with a count.
    pub stripe_unit: Option<Bytes>,
    /// Objects that a stripe goes over; only together with a unit.
    pub stripe_count: Option<u64>,
    /// The pool of its data, if that is not the pool of the image.
    pub data_pool: Option<String>,
}

impl Layout {
    pub(super) fn create(&self, pool: &Pool, name: &str) -> Result<(), Error> {
        let rbd = ceph_sys::rbd()?;
        let image = c_text("an image's name", name)?;
        let failed = |errno| {
            let remedies = [
                (Errno::EEXIST, "there is an image of that name; remove it or choose another name"),
                (
                    Errno::EINVAL,
                    "check object_size (a power of two, 4k to 32M), stripe_unit, stripe_count and features",
                ),
                (
                    Errno::ENOENT,
                    "the namespace or the data pool is missing; see `rbd namespace ls`, `ceph osd pool ls`",
                ),
            ];
            Error::failed(format!("create the image {pool}/{name}"), errno, &remedies)
        };
        let options = Options::new(rbd);
        self.fill(&options).map_err(failed)?;
        // SAFETY: the I/O context is open; the name and the options live for the call.
        let code = unsafe { rbd.rbd_create4(pool.raw(), image.as_ptr(), self.size.get(), options.raw) };
        check(code).map(drop).map_err(failed)
    }

    fn fill(&self, options: &Options) -> Result<(), Errno> {
        if let Some(Bytes(size)) = self.object_size {
            // An order is all that librbd takes, so that a size that is no power of two has to be refused here.
            let order = size.is_power_of_two().then(|| size.ilog2()).ok_or(Errno::EINVAL)?;
            options.set(RBD_IMAGE_OPTION_ORDER, order.into())?;
        }
        if let Some(features) = self.features {
            options.set(RBD_IMAGE_OPTION_FEATURES, features.bits())?;
        }
        if let Some(Bytes(unit)) = self.stripe_unit {
            options.set(RBD_IMAGE_OPTION_STRIPE_UNIT, unit)?;
        }
        if let Some(count) = self.stripe_count {
            options.set(RBD_IMAGE_OPTION_STRIPE_COUNT, count)?;
        }
        self.data_pool.as_deref().map_or(Ok(()), |pool| options.set_text(RBD_IMAGE_OPTION_DATA_POOL, pool))
    }
}

/// librbd's own set of options.
struct Options {
    raw: rbd_image_options_t,
    rbd: &'static Rbd,
}

impl Options {
    fn new(rbd: &'static Rbd) -> Self {
        let mut raw = ptr::null_mut();
        // SAFETY: `raw` is a place to write to.
        unsafe { rbd.rbd_image_options_create(&raw mut raw) };
        Self { raw, rbd }
    }

    fn set(&self, option: u32, value: u64) -> Result<(), Errno> {
        // SAFETY: the set was created and not destroyed.
        check(unsafe { self.rbd.rbd_image_options_set_uint64(self.raw, option.cast_signed(), value) })
            .map(drop)
    }

    fn set_text(&self, option: u32, value: &str) -> Result<(), Errno> {
        let value = std::ffi::CString::new(value).map_err(|_| Errno::EINVAL)?;
        // SAFETY: the set was created and not destroyed; the text lives for the call.
        let code =
            unsafe { self.rbd.rbd_image_options_set_string(self.raw, option.cast_signed(), value.as_ptr()) };
        check(code).map(drop)
    }
}

impl Drop for Options {
    fn drop(&mut self) {
        // SAFETY: created in `new`, destroyed once.
        unsafe { self.rbd.rbd_image_options_destroy(self.raw) };
    }
}
