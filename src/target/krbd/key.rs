//! The user's secret, from its keyring into one of the kernel's: it is never part of a command line or of sysfs.
#![expect(unsafe_code, reason = "the kernel's keyrings have no safe interface")]

use std::ffi::{CString, c_long};
use std::fs;
use std::io;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nix::errno::Errno;

use crate::ceph::Cluster;
use crate::target::Error;

/// A key that the kernel's client of Ceph finds by its name, as long as it is asked by the thread that added it.
#[derive(Debug)]
pub(super) struct KernelKey {
    serial: c_long,
}

impl KernelKey {
    /// Adds a key to the keyring of this thread.
    ///
    /// Implements: `add_key`.
    pub(super) fn add(name: &str, secret: &[u8]) -> io::Result<Self> {
        let name = CString::new(name)?;
        // SAFETY: both texts end with NUL, and the kernel reads `secret` within its length and within the call.
        let serial = unsafe {
            libc::syscall(
                libc::SYS_add_key,
                c"ceph".as_ptr(),
                name.as_ptr(),
                secret.as_ptr(),
                secret.len(),
                c_long::from(libc::KEY_SPEC_THREAD_KEYRING),
            )
        };
        if serial < 0 { Err(io::Error::last_os_error()) } else { Ok(Self { serial }) }
    }
}

impl Drop for KernelKey {
    /// Implements: `keyctl`.
    fn drop(&mut self) {
        // What fails here leaves a key that goes with the thread.
        // SAFETY: takes numbers only.
        let _ = unsafe {
            libc::syscall(
                libc::SYS_keyctl,
                c_long::from(libc::KEYCTL_UNLINK),
                self.serial,
                c_long::from(libc::KEY_SPEC_THREAD_KEYRING),
            )
        };
    }
}

/// The secret of the user that a connection was made as, where the client's own library takes it from; `None` for a
/// cluster that asks for none.
///
/// # Errors
/// [`Error::Secret`] if there is none to be found.
pub(super) fn secret(cluster: &Cluster) -> Result<Option<Vec<u8>>, Error> {
    if cluster.option("auth_client_required")? == "none" {
        return Ok(None);
    }
    let error = |reason: String| Error::Secret { user: cluster.user().to_owned(), reason };
    let text = encoded(cluster, &error)?.ok_or_else(|| error("no keyring of it is found".to_owned()))?;
    let secret = STANDARD.decode(text.trim()).map_err(|_| error("its key is not in base 64".to_owned()))?;
    Ok(Some(secret))
}

fn encoded(cluster: &Cluster, error: &dyn Fn(String) -> Error) -> Result<Option<String>, Error> {
    let read =
        |path: &str| fs::read_to_string(path).map_err(|reason| error(format!("can't read {path}: {reason}")));
    let files = cluster.option("keyring")?;
    let mut files = files.split([',', ';', ' ']).filter(|path| !path.is_empty());
    if let Some(path) = files.find(|path| Path::new(path).exists()) {
        let key = key_in(&read(path)?, cluster.user());
        return key.map(Some).ok_or_else(|| error(format!("{path} does not have it")));
    }
    let key = cluster.option("key")?;
    if !key.is_empty() {
        return Ok(Some(key));
    }
    match cluster.option("keyfile")? {
        path if path.is_empty() => Ok(None),
        path => read(&path).map(Some),
    }
}

/// The key of a user in the text of a keyring.
fn key_in(keyring: &str, user: &str) -> Option<String> {
    let mut section = "";
    keyring.lines().map(str::trim).find_map(|line| {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name;
        }
        let (name, value) = line.split_once('=')?;
        (section == user && name.trim() == "key").then(|| value.trim().to_owned())
    })
}

/// Whether the kernel's client can be given keys at all, as some containers forbid.
pub(super) fn may_add() -> Result<(), Errno> {
    // A key of no bytes is malformed, and refused only once everything else is allowed.
    match KernelKey::add("cephmark", &[]).err().and_then(|error| error.raw_os_error()).map(Errno::from_raw) {
        Some(errno @ (Errno::EPERM | Errno::ENOSYS | Errno::EACCES)) => Err(errno),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_keyring_the_key_of_the_user_is_taken() {
        let keyring = "[client.bench]\n\tkey = AAA=\n\tcaps mon = \"allow r\"\n[client.admin]\nkey=BBB==\n";
        assert_eq!(key_in(keyring, "client.admin").as_deref(), Some("BBB=="));
        assert_eq!(key_in(keyring, "client.bench").as_deref(), Some("AAA="));
        assert_eq!(key_in(keyring, "client.other"), None);
    }
}
