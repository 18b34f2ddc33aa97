//! Snapshots of an image.
#![expect(unsafe_code, reason = "calls librbd")]

use ceph_sys::rbd::rbd_snap_info_t;

use super::call::{check, listed, text};
use super::{Error, Image};
use crate::units::Bytes;

/// A snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Its name.
    pub name: String,
    /// The size of the image when it was taken.
    pub size: Bytes,
}

impl Image {
    /// The snapshots.
    ///
    /// Implements: `rbd_snap_list`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn snapshots(&self) -> Result<Vec<Snapshot>, Error> {
        let rbd = self.rbd();
        let mut entries = listed::<rbd_snap_info_t>(|first, filled| {
            let mut count = i32::try_from(*filled).unwrap_or(i32::MAX);
            // SAFETY: the image is open, and there is room for `count` entries.
            let code = unsafe { rbd.rbd_snap_list(self.raw(), first, &raw mut count) };
            // Unlike its siblings this one returns how many it filled.
            let found = check(code)?;
            *filled = usize::try_from(found).unwrap_or(0);
            Ok(())
        })
        .map_err(|errno| self.failed("list the snapshots of", errno))?;
        let snapshots = entries.iter().map(|entry| Snapshot {
            // SAFETY: librbd filled the entry with a string of its own.
            name: unsafe { text(entry.name) },
            size: Bytes(entry.size),
        });
        let snapshots = snapshots.collect();
        if !entries.is_empty() {
            // The list is freed up to an entry without a name.
            entries.push(rbd_snap_info_t::default());
            // SAFETY: these are the entries that librbd filled, ended as it wants; freed once, here.
            unsafe { rbd.rbd_snap_list_end(entries.as_mut_ptr()) };
        }
        Ok(snapshots)
    }
}
