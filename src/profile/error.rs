//! What is wrong with a profile, and where.

use std::fmt;

use super::path::Path;

/// Why a profile can't be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file can't be read.
    #[error("{file}: cannot be read: {source}")]
    Read {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// Something is wrong at a place.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Something wrong in a profile: `file.yaml:12:5: workloads.a.iodepth: must be at least 1`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Fault {
    /// Where.
    pub place: Place,
    /// Which key; the top of the profile for the text as such.
    pub path: Path,
    /// What is wrong, and what to do about it.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::File { file, line, column } => write!(f, "{file}:{line}:{column}: ")?,
            Place::Set(text) => write!(f, "--set {text}: ")?,
        }
        if self.path != Path::root() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

/// Where a key of a profile was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the file.
    File {
        /// Its path as the user gave it.
        file: String,
        /// Line, counted from 1.
        line: usize,
        /// Column, counted from 1.
        column: usize,
    },
    /// On the command line: the argument of `--set`.
    Set(String),
}
