//! The directory of a run, proven writable before any I/O.

use std::io;
use std::path::{Path, PathBuf};

use super::{FILE_NAME, Timestamp};

/// Where results go unless the user says otherwise.
const DEFAULT_PARENT: &str = "results";

/// A directory that can take a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultDirectory(PathBuf);

/// A directory that can't take a result.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// It can't be created or written.
    #[error("can't write results to {}: {source}; choose another directory with --out", path.display())]
    NotWritable {
        /// The directory.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It holds the result of another run.
    #[error("{} already holds a {FILE_NAME}; choose another directory with --out, or move that file away",
        path.display())]
    Taken {
        /// The directory.
        path: PathBuf,
    },
}

impl ResultDirectory {
    /// Creates and tries out `out`, or `results/<name>-<UTC time>` without one. Call it before any I/O: a run must not
    /// find at its end that it has nowhere to write.
    ///
    /// # Errors
    /// [`DirectoryError`] if it can't be written or holds the result of another run.
    pub fn prepare(out: Option<&Path>, name: &str, started: Timestamp) -> Result<Self, DirectoryError> {
        let path = match out {
            Some(out) => out.to_owned(),
            None => Path::new(DEFAULT_PARENT).join(format!("{name}-{}", started.compact())),
        };
        try_out(&path).map_err(|source| DirectoryError::NotWritable { path: path.clone(), source })?;
        if path.join(FILE_NAME).exists() {
            return Err(DirectoryError::Taken { path });
        }
        Ok(Self(path))
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

fn try_out(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)?;
    tempfile::NamedTempFile::new_in(path)?.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::ResultFile;

    #[test]
    fn a_directory_is_created_and_an_earlier_result_in_it_is_never_overwritten() {
        let parent = tempfile::tempdir().expect("there is room in /tmp");
        let out = parent.path().join("new/run");
        let prepare = || ResultDirectory::prepare(Some(&out), "name", Timestamp::now());
        let directory = prepare().expect("it can be created");
        prepare().expect("an empty directory may be used again");
        let result = ResultFile::new(serde_json::Value::Null, Timestamp::now());
        result.save(directory.path()).expect("it was tried out");
        assert!(
            prepare().expect_err("it holds a result").to_string().contains("already holds a result.json")
        );
    }

    #[test]
    fn a_path_that_can_not_be_written_is_an_error_with_a_remedy() {
        let error = ResultDirectory::prepare(Some(Path::new("/proc/results")), "name", Timestamp::now());
        let text = error.expect_err("/proc takes no directories").to_string();
        assert!(text.starts_with("can't write results to /proc/results: "), "{text}");
        assert!(text.ends_with("--out"), "{text}");
    }
}
