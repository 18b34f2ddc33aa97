//! Who else uses an image.
#![expect(unsafe_code, reason = "calls librbd")]

use ceph_sys::rbd::rbd_image_watcher_t;

use super::call::{check, grown, split_nul, text};
use super::{Error, Image};

/// A client that has the image open for writing, or had until its death less than 30 s ago.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watcher {
    /// Its address.
    pub address: String,
    /// Its number in the cluster: [`super::Cluster::instance_id`].
    pub client: u64,
}

/// A client that holds a lock of the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockOwner {
    /// Its name in the cluster, such as `client.4123`.
    pub client: String,
    /// Its address.
    pub address: String,
}

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

    /// The clients that hold a lock: the exclusive lock that a writer takes by itself, or one taken with `rbd lock add`,
    /// before which every writer has to wait. They are those of when the image was opened, or last looked at anew.
    ///
    /// Implements: `rbd_list_lockers`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn lock_owners(&self) -> Result<Vec<LockOwner>, Error> {
        let rbd = self.rbd();
        let mut addresses = Vec::new();
        let clients = grown(|clients| {
            let (mut exclusive, mut tag, mut cookies) = (0, vec![0; clients.len()], vec![0; clients.len()]);
            addresses.resize(clients.len(), 0);
            let [mut tag_len, mut clients_len, mut cookies_len, mut addresses_len] = [clients.len(); 4];
            // SAFETY: the image is open, the lengths are those of the buffers, and all are places to write to.
            let code = unsafe {
                rbd.rbd_list_lockers(
                    self.raw(),
                    &raw mut exclusive,
                    tag.as_mut_ptr(),
                    &raw mut tag_len,
                    clients.as_mut_ptr().cast(),
                    &raw mut clients_len,
                    cookies.as_mut_ptr(),
                    &raw mut cookies_len,
                    addresses.as_mut_ptr().cast(),
                    &raw mut addresses_len,
                )
            };
            check(code as i64)?;
            addresses.truncate(addresses_len);
            Ok(clients_len)
        });
        let clients = clients.map_err(|errno| self.failed("list the lock owners of", errno))?;
        let owners = split_nul(&clients).into_iter().zip(split_nul(&addresses));
        let owners = owners.filter(|(client, _)| !client.is_empty());
        Ok(owners.map(|(client, address)| LockOwner { client, address }).collect())
    }
}
