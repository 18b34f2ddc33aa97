//! The private directory of an admin socket: removed with its connection, or when the process ends if the connection
//! hangs and is left behind.
#![expect(unsafe_code, reason = "registers a function with atexit")]

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use super::Error;

/// A Unix socket's path ends at 107 bytes; the name of the socket, `$pid.$cctid`, takes up to 32 of them.
const LONGEST_PATH: usize = 107 - 32;

/// The directories that exist.
static MADE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

#[derive(Debug)]
pub(super) struct SocketDirectory(PathBuf);

impl SocketDirectory {
    /// Makes a directory that only this user can enter, below `TMPDIR` or `/tmp`.
    pub(super) fn make() -> Result<Self, Error> {
        Self::try_make().map_err(|source| Error::System {
            what: "make a directory for the admin socket".to_owned(),
            source,
        })
    }

    fn try_make() -> io::Result<Self> {
        static AT_EXIT: Once = Once::new();
        let private = fs::Permissions::from_mode(0o700);
        let made = tempfile::Builder::new().prefix("cephmark-").permissions(private).tempdir()?;
        if made.path().as_os_str().len() > LONGEST_PATH {
            let path = made.path().display();
            return Err(io::Error::other(format!("{path} is too long a path; set TMPDIR to a shorter one")));
        }
        // SAFETY: the function has no precondition and no panic path.
        AT_EXIT.call_once(|| unsafe {
            libc::atexit(remove_all);
        });
        let path = made.keep();
        MADE.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for SocketDirectory {
    fn drop(&mut self) {
        MADE.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| *path != self.0);
        // What can't be removed is empty and in nobody's way.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Removes what is left as the process ends; a thread that hangs with the list must not stop that.
pub(super) extern "C" fn remove_all() {
    if let Ok(made) = MADE.try_lock() {
        made.iter().for_each(|path| drop(fs::remove_dir_all(path)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test for both, because what happens at exit happens to every directory.
    #[test]
    fn only_its_user_can_enter_and_it_goes_with_its_owner_or_at_exit() {
        let directory = SocketDirectory::make().expect("a directory");
        let path = directory.path().to_owned();
        assert_eq!(fs::metadata(&path).expect("it exists").permissions().mode() & 0o777, 0o700);
        drop(directory);
        assert!(!path.exists());
        let left_behind = std::mem::ManuallyDrop::new(SocketDirectory::make().expect("a directory"));
        remove_all();
        assert!(!left_behind.path().exists());
    }
}
