//! The directory of a run, proven writable before any I/O.

use std::io;
use std::path::{Path, PathBuf};

use super::{FILE_NAME, Timestamp};

/// Where results go unless the user says otherwise.
const DEFAULT_PARENT: &str = "results";

/// A directory that can take a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultDirectory {
    path: PathBuf,
    /// Those that did not exist before, the innermost first.
    made: Vec<PathBuf>,
}

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
        let missing = path.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists());
        let directory = Self { made: missing.map(Path::to_owned).collect(), path };
        if let Err(source) = try_out(&directory.path) {
            directory.remove_made();
            return Err(DirectoryError::NotWritable { path: directory.path, source });
        }
        if directory.path.join(FILE_NAME).exists() {
            return Err(DirectoryError::Taken { path: directory.path });
        }
        Ok(directory)
    }

    /// The directory of an interrupted run, to go on in.
    ///
    /// # Errors
    /// [`DirectoryError::NotWritable`].
    pub fn reopen(path: &Path) -> Result<Self, DirectoryError> {
        let path = path.to_owned();
        match try_out(&path) {
            Ok(()) => Ok(Self { path, made: Vec::new() }),
            Err(source) => Err(DirectoryError::NotWritable { path, source }),
        }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes back what was made for a run that has nothing to show.
    pub fn discard(&self) {
        // There may be none yet, and an error would say no more than that something is left.
        let _ = std::fs::remove_file(self.path.join(FILE_NAME));
        self.remove_made();
    }

    fn remove_made(&self) {
        // One that holds other things by now is not removed, nor are those around it.
        let _ = self.made.iter().try_for_each(std::fs::remove_dir);
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
    fn what_was_made_for_a_run_that_has_nothing_to_show_is_taken_back_and_nothing_else() {
        let parent = tempfile::tempdir().expect("there is room in /tmp");
        let prepare =
            |name: &str| ResultDirectory::prepare(Some(&parent.path().join(name)), "", Timestamp::now());
        let directory = prepare("a/b/c").expect("it can be created");
        ResultFile::new(serde_json::Value::Null, Timestamp::now())
            .save(directory.path())
            .expect("it was tried out");
        std::fs::create_dir(parent.path().join("a/other")).expect("a directory");
        directory.discard();
        assert!(!parent.path().join("a/b").exists() && parent.path().join("a/other").exists());
        std::fs::create_dir(parent.path().join("mine")).expect("a directory");
        prepare("mine").expect("it is empty").discard();
        assert!(parent.path().join("mine").exists());
    }

    #[test]
    fn a_path_that_can_not_be_written_is_an_error_with_a_remedy() {
        let error = ResultDirectory::prepare(Some(Path::new("/proc/results")), "name", Timestamp::now());
        let text = error.expect_err("/proc takes no directories").to_string();
        assert!(text.starts_with("can't write results to /proc/results: "), "{text}");
        assert!(text.ends_with("--out"), "{text}");
    }
}
