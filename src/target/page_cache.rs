//! The host's page cache.

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Error;
use crate::ceph::within;

const SWITCH: &str = "/proc/sys/vm/drop_caches";

/// Whether this process may drop the page cache.
///
/// # Errors
/// [`Error::DropCaches`].
pub fn check_droppable() -> Result<(), Error> {
    File::options().write(true).open(SWITCH).map(drop).map_err(Error::DropCaches)
}

/// Writes back what is dirty on the whole host, then drops the page cache with names and inodes.
///
/// # Errors
/// [`Error::DropCaches`] if that is not allowed; [`Error::Ceph`] if it takes longer than `limit`.
pub async fn drop_page_cache(limit: Duration) -> Result<(), Error> {
    within("dropping the page cache", limit, &CancellationToken::new(), || {
        nix::unistd::sync();
        let switched = File::options().write(true).open(SWITCH).and_then(|mut switch| switch.write_all(b"3"));
        Ok(switched.map_err(Error::DropCaches))
    })
    .await?
}
