//! The options that librbd has in effect for an image, and who set them: metadata of pools and images beats the client.
#![expect(unsafe_code, reason = "calls librbd")]

use ceph_sys::rbd::{RBD_CONFIG_SOURCE_IMAGE, RBD_CONFIG_SOURCE_POOL, rbd_config_option_t};

use super::call::{check, listed, text};
use super::{Error, Image};

/// Where the value of an image's option comes from; the later in this list the stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The client: its defaults, `ceph.conf`, the monitors, or [`super::Config::set`].
    Client,
    /// The pool's metadata (`rbd config pool set`).
    Pool,
    /// The image's metadata (`rbd config image set`).
    Image,
}

/// An option as librbd has it in effect for an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageOption {
    /// Its name, with underscores.
    pub name: String,
    /// Its value, as Ceph prints it.
    pub value: String,
    /// Who set it.
    pub source: Source,
}

impl Image {
    /// Every option that pool or image metadata can override, with its value and who set it. It is read at the time of
    /// the call, while caches are built when an image is opened: for those it holds only if nothing was set since.
    ///
    /// Implements: `rbd_config_image_list`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn options(&self) -> Result<Vec<ImageOption>, Error> {
        let rbd = self.rbd();
        let mut entries = listed::<rbd_config_option_t>(|first, filled| {
            let mut count = i32::try_from(*filled).unwrap_or(i32::MAX);
            // SAFETY: the image is open, and there is room for `count` entries.
            let code = unsafe { rbd.rbd_config_image_list(self.raw(), first, &raw mut count) };
            *filled = usize::try_from(count).unwrap_or(0);
            check(code).map(drop)
        })
        .map_err(|errno| self.failed("list the options of", errno))?;
        let options = entries.iter().map(|entry| ImageOption {
            // SAFETY: librbd filled the entry with strings of its own.
            name: unsafe { text(entry.name) },
            // SAFETY: as above.
            value: unsafe { text(entry.value) },
            source: match entry.source {
                RBD_CONFIG_SOURCE_IMAGE => Source::Image,
                RBD_CONFIG_SOURCE_POOL => Source::Pool,
                _ => Source::Client,
            },
        });
        let options = options.collect();
        let count = i32::try_from(entries.len()).unwrap_or(i32::MAX);
        // SAFETY: these are the entries that librbd filled; their strings are freed once, here.
        unsafe { rbd.rbd_config_image_list_cleanup(entries.as_mut_ptr(), count) };
        Ok(options)
    }
}
