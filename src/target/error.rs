//! Why a target could not be set up, or could not carry its load.

use std::time::Duration;

use crate::ceph;
use crate::exit::Exit;
use crate::load::{DriveError, ThreadError};

/// Why a target could not be set up, or could not carry its load.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Ceph refused or did not answer.
    #[error(transparent)]
    Ceph(#[from] ceph::Error),
    /// A load thread can't go on.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// A load thread can't run where it should.
    #[error(transparent)]
    Prepare(#[from] ThreadError),
    /// The system gave no thread.
    #[error("can't start a load thread: {0}; lower `numjobs`, or raise the limit of processes (`ulimit -u`)")]
    Thread(std::io::Error),
    /// A load thread is stuck within a call of the client.
    #[error("a load thread did not come back within {limit:?}: the client is stuck, see `ceph -s`")]
    LoadThreadStuck {
        /// How long it was waited for.
        limit: Duration,
    },
    /// A load thread ended by itself, which is a bug of ours.
    #[error("a load thread died; its last words are above, please report them")]
    LoadThreadDied,
    /// The profile asked for a setting that is not in effect.
    #[error(
        "{option} is {value} by the metadata of {whose}, which beats the profile's {wanted}; `{remedy}` removes it"
    )]
    Overridden {
        /// The option.
        option: String,
        /// Its value in effect.
        value: String,
        /// What the profile asked for.
        wanted: String,
        /// The pool or image that overrides it.
        whose: String,
        /// The command that removes the override.
        remedy: String,
    },
}

impl Error {
    /// The exit code of a run that ends with it.
    #[must_use]
    pub const fn exit(&self) -> Exit {
        match self {
            Self::Ceph(error) => error.exit(),
            Self::Drive(DriveError::Stalled { .. }) | Self::LoadThreadStuck { .. } => Exit::Stuck,
            Self::Drive(_) | Self::LoadThreadDied => Exit::Trial,
            Self::Prepare(_) => Exit::Usage,
            Self::Thread(_) | Self::Overridden { .. } => Exit::Setup,
        }
    }
}
