//! Files that cephmark makes: named after the run, laid out, removed at the end.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;

use super::Error;
use super::managed::NAME_PREFIX;
use crate::units::Bytes;

/// The name of an arm's file: `PATH.cephmark-RUN-ARM`.
#[must_use]
pub fn file_name(path: &Path, run: &str, arm: usize) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{NAME_PREFIX}{run}-{arm}"));
    name.into()
}

/// What was made of an arm's file.
#[derive(Debug, Default)]
pub struct Made {
    /// There is one, or may be where the file system did not answer.
    pub exists: bool,
    /// The file, locked for the whole run: that is how `clean` knows that the run goes on.
    pub held: Option<File>,
}

/// Makes a file of that size, of holes. It is locked for as long as it is open here, where the file system has locks.
///
/// # Errors
/// [`Error::Path`], also if there is one of that name; then none is made.
pub fn create(path: &Path, size: Bytes) -> Result<File, Error> {
    let error = |error| Error::path("make", path, error);
    let made = File::options().write(true).create_new(true).mode(0o600).open(path).map_err(error)?;
    made.set_len(size.get()).map_err(|reason| {
        let _ = fs::remove_file(path);
        error(reason)
    })?;
    // Without locks `clean` refuses to touch files.
    let _ = made.try_lock();
    Ok(made)
}

/// Removes a file; one that is gone already is no error.
///
/// # Errors
/// [`Error::Path`].
pub fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::path("remove", path, error)),
        _ => Ok(()),
    }
}

/// The file system that a file would be on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// A number that tells it from others.
    pub file_system: u64,
    /// What is free; `None` if it has no limit of its own.
    pub free: Option<Bytes>,
}

/// The directory of a path.
pub(super) fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The room where a file of this name would be.
///
/// # Errors
/// [`Error::Path`] if there is no such directory.
pub fn room(path: &Path) -> Result<Room, Error> {
    let directory = directory(path);
    let error = |error| Error::path("look at", directory, error);
    let file_system = fs::metadata(directory).map_err(error)?.dev();
    let about = statvfs(directory).map_err(|errno| error(errno.into()))?;
    let free = Bytes(about.blocks_available().saturating_mul(about.fragment_size()));
    Ok(Room { file_system, free: (about.blocks() > 0).then_some(free) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_after_its_path_run_and_arm() {
        let name = file_name(Path::new("/mnt/nfs/io"), "0123456789abcdef", 2);
        assert_eq!(name, Path::new("/mnt/nfs/io.cephmark-0123456789abcdef-2"));
    }

    #[test]
    fn what_exists_is_never_taken_for_a_new_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("io");
        create(&path, Bytes(8192)).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), 8192);
        assert!(create(&path, Bytes(1)).unwrap_err().to_string().contains("file exists (EEXIST)"));
        remove(&path).unwrap();
        remove(&path).unwrap();
    }
}
