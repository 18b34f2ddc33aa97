//! Files that killed runs left behind, told from all others by name; those of runs that go on are locked.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::managed::maker;
use super::{Error, new_file};

/// A file that a run of cephmark made, beside the `path` of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftFile {
    /// Where it is.
    pub path: PathBuf,
    /// The run that made it goes on.
    pub in_use: bool,
}

impl LeftFile {
    fn at(path: PathBuf) -> Result<Self, Error> {
        match locked(&path) {
            Ok(_) => Ok(Self { path, in_use: false }),
            Err(TryLockError::WouldBlock) => Ok(Self { path, in_use: true }),
            Err(TryLockError::Error(error)) => Err(Error::path("lock", &path, error)),
        }
    }

    /// Removes it, unless somebody uses it by now.
    ///
    /// # Errors
    /// [`Error::Path`].
    pub fn remove(&self) -> Result<(), Error> {
        locked(&self.path).map_err(|error| Error::path("lock", &self.path, error.into()))?;
        new_file::remove(&self.path)
    }
}

fn locked(path: &Path) -> Result<File, TryLockError> {
    let file = File::options().write(true).open(path).map_err(TryLockError::Error)?;
    file.try_lock()?;
    Ok(file)
}

/// The files that runs made for a target with this `path`, in the order of their names.
///
/// # Errors
/// [`Error::Path`], also where the file system has no locks: then nobody can tell whose run goes on.
pub fn left_files(path: &Path) -> Result<Vec<LeftFile>, Error> {
    let directory = new_file::directory(path);
    let listed: io::Result<Vec<_>> = fs::read_dir(directory).and_then(Iterator::collect);
    let listed = listed.map_err(|error| Error::path("list", directory, error))?;
    let mut names: Vec<PathBuf> = listed.iter().map(|entry| path.with_file_name(entry.file_name())).collect();
    names.retain(|name| is_of(name, path));
    names.sort();
    names.into_iter().map(LeftFile::at).collect()
}

/// Whether a name is one that a run gives: `PATH.cephmark-RUN-ARM`.
fn is_of(name: &Path, path: &Path) -> bool {
    let rest = name.as_os_str().as_encoded_bytes().strip_prefix(path.as_os_str().as_encoded_bytes());
    let made = rest.and_then(|rest| str::from_utf8(rest).ok()?.strip_prefix('.'));
    made.and_then(maker).is_some_and(|(_, arm)| arm.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    #[test]
    fn only_files_that_runs_made_for_this_path_are_found_and_locked_ones_are_in_use() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("io");
        let made = |run: &str| new_file::create(&new_file::file_name(&path, run, 0), Bytes(4096)).unwrap();
        let alive = made("0123456789abcdef");
        drop(made("fedcba9876543210"));
        for foreign in
            ["io", "io.cephmark-prod", "io.cephmark-0123456789abcdef", "io2.cephmark-0123456789abcdef-0"]
        {
            fs::write(directory.path().join(foreign), "").unwrap();
        }
        let found = left_files(&path).unwrap();
        let in_use: Vec<bool> = found.iter().map(|file| file.in_use).collect();
        assert_eq!(in_use, [true, false], "{found:?}");
        assert!(found[0].remove().unwrap_err().to_string().starts_with("can't lock"));
        found[1].remove().unwrap();
        drop(alive);
        assert_eq!(left_files(&path).unwrap(), [LeftFile { in_use: false, ..found[0].clone() }]);
    }
}
