//! Why a run could not begin or could not go on.

use std::time::Duration;

use crate::exit::Exit;
use crate::result::{DirectoryError, SaveError};
use crate::{ceph, plan, target};

/// Why a run could not begin or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The profile asks for something that can't be.
    #[error(transparent)]
    Fault(#[from] plan::Fault),
    /// Ceph refused or did not answer.
    #[error(transparent)]
    Ceph(#[from] ceph::Error),
    /// A target could not be set up or could not carry its load.
    #[error(transparent)]
    Target(#[from] target::Error),
    /// It would be unsafe.
    #[error("{0}")]
    Refused(String),
    /// The cluster is not as it should be for a trial to be believed, and did not become so.
    #[error(
        "the cluster was not clean for {} s: {obstacles}; see `ceph -s`, and run again once it is", waited.as_secs()
    )]
    NotClean {
        /// How long it was waited for.
        waited: Duration,
        /// What is the matter with it.
        obstacles: String,
    },
    /// The monitors do not answer any more.
    #[error("the monitors have not answered for {} s: {cause}; see that they run and are a quorum", waited.as_secs())]
    Silent {
        /// How long they were waited for.
        waited: Duration,
        /// What the last question to them came to.
        cause: ceph::Error,
    },
    /// The cluster is stuck, and this is what the client waits for.
    #[error("{cause}; {waiting}")]
    Hangs {
        /// How it shows.
        cause: Box<Error>,
        /// The requests in flight.
        waiting: String,
    },
    /// The results have no place to go.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The result could not be written.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// The system can't deliver signals or run timers.
    #[error("can't set up the run: {0}")]
    System(#[from] std::io::Error),
    /// A signal ended it.
    #[error("interrupted")]
    Interrupted,
    /// A signal ended it, and I/O in flight did not end in time.
    #[error("interrupted, and what was in flight was given up: {0}")]
    GaveUp(target::Error),
}

impl Error {
    /// A part of the run that panicked, which is a bug of ours.
    #[must_use]
    pub fn from_join(error: tokio::task::JoinError) -> Self {
        Self::System(std::io::Error::other(error))
    }

    /// The exit code of a run that ends with it.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Fault(_) | Self::Directory(_) => Exit::Usage,
            Self::Ceph(error) => error.exit(),
            Self::Target(error) => error.exit(),
            Self::Hangs { cause, .. } => cause.exit(),
            Self::Refused(_) | Self::Save(_) | Self::System(_) => Exit::Setup,
            Self::NotClean { .. } => Exit::Trial,
            Self::Silent { .. } => Exit::Stuck,
            Self::Interrupted | Self::GaveUp(_) => Exit::Interrupted,
        }
    }
}
