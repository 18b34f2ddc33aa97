//! Why a tuning ended before it found anything out.

use std::io;
use std::path::PathBuf;

use crate::exit::Exit;
use crate::result::DirectoryError;
use crate::run;

/// Why a tuning ended before it found anything out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A run that it consists of.
    #[error(transparent)]
    Run(#[from] run::Error),
    /// What it found can't be written.
    #[error("can't write {}: {source}; make room, or choose another directory with -o", path.display())]
    Save {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl From<DirectoryError> for Error {
    fn from(error: DirectoryError) -> Self {
        Self::Run(error.into())
    }
}

impl Error {
    /// The exit code of a tuning that ends with it.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Run(error) => error.exit(),
            Self::Save { .. } => Exit::Setup,
        }
    }
}
