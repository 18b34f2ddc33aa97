//! Who else uses an image.
#![expect(unsafe_code, reason = "calls librbd")]

use std::ffi::c_char;

use ceph_sys::rbd::rbd_image_watcher_t;
use nix::errno::Errno;

use super::call::{check, text};
use super::{Error, Image};

/// A client that has the image open for writing, or had until its death less than 30 s ago.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watcher {
    /// Its address.
    pub address: String,
    /// Its number in the cluster: [`super::Cluster::instance_id`].
    pub client: u64,
}

/// A client that holds the image's exclusive lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockOwner {
    /// Its name, number and address, as librbd prints them.
    pub client: String,
}

/// Room for the owners of a lock, which only one client can hold at a time, and a few more.
const OWNERS: usize = 8;

impl Image {
    /// The clients that have the image open for writing; this one too, if it has.
    ///
    /// Implements: `rbd_watchers_list`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn watchers(&self) -> Result<Vec<Watcher>, Error> {
        let rbd = self.rbd();
        let mut entries = super::call::listed::<rbd_image_watcher_t>(|first, filled| {
            // SAFETY: the image is open, and there is room for `filled` entries.
            check(unsafe { rbd.rbd_watchers_list(self.raw(), first, filled) }).map(drop)
        })
        .map_err(|errno| self.failed("list the watchers of", errno))?;
        let watchers = entries.iter().map(|entry| Watcher {
            // SAFETY: librbd filled the entry with a string of its own.
            address: unsafe { text(entry.addr) },
            client: entry.id.cast_unsigned(),
        });
        let watchers = watchers.collect();
        // SAFETY: these are the entries that librbd filled; their strings are freed once, here.
        unsafe { rbd.rbd_watchers_list_cleanup(entries.as_mut_ptr(), entries.len()) };
        Ok(watchers)
    }

    /// The clients that hold the image's exclusive lock: none or one.
    ///
    /// Implements: `rbd_lock_get_owners`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn lock_owners(&self) -> Result<Vec<LockOwner>, Error> {
        let rbd = self.rbd();
        let mut mode = 0;
        let mut owners = [std::ptr::null_mut::<c_char>(); OWNERS];
        let mut count = owners.len();
        // SAFETY: the image is open, there is room for `count` owners, and `mode` is a place to write to.
        let code = unsafe {
            rbd.rbd_lock_get_owners(self.raw(), &raw mut mode, owners.as_mut_ptr(), &raw mut count)
        };
        match check(code) {
            // Both mean that nobody does: without the feature nobody can.
            Err(Errno::ENOENT | Errno::EINVAL) => return Ok(Vec::new()),
            Err(errno) => return Err(self.failed("list the lock owners of", errno)),
            Ok(_) => {}
        }
        let found = owners.iter().take(count).map(|owner| LockOwner {
            // SAFETY: librbd filled the entry with a string of its own.
            client: unsafe { text(*owner) },
        });
        let found = found.collect();
        // SAFETY: these are the entries that librbd filled; their strings are freed once, here.
        unsafe { rbd.rbd_lock_get_owners_cleanup(owners.as_mut_ptr(), count) };
        Ok(found)
    }
}
