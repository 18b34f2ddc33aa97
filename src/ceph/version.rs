//! Versions of the client libraries.
#![expect(unsafe_code, reason = "calls librbd")]

use super::Error;

/// The version of librbd; its second number is that of the Ceph release: `1.16.0` is of Ceph 16.
///
/// Implements: `rbd_version`.
///
/// # Errors
/// [`Error::Library`] without librbd.
pub fn librbd_version() -> Result<String, Error> {
    let rbd = ceph_sys::rbd()?;
    let (mut major, mut minor, mut extra) = (0, 0, 0);
    // SAFETY: the three numbers are places to write to.
    unsafe { rbd.rbd_version(&raw mut major, &raw mut minor, &raw mut extra) };
    Ok(format!("{major}.{minor}.{extra}"))
}
