//! Why a target could not be set up, or could not carry its load.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;

use crate::ceph;
use crate::exit::Exit;
use crate::lane::EngineError;
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
    /// A queue of the kernel's that is refused.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A file or device that can't be used.
    #[error("can't {what} {}: {}{remedy}", path.display(), words(source))]
    Path {
        /// What was tried.
        what: &'static str,
        /// The file or device.
        path: PathBuf,
        /// Why.
        source: io::Error,
        /// What to do about it, after a semicolon; empty if nothing is known.
        remedy: &'static str,
    },
    /// A file or device that is not what the profile takes it for.
    #[error("{}: {reason}", path.display())]
    Unfit {
        /// The file or device.
        path: PathBuf,
        /// Why, and what to do about it.
        reason: String,
    },
    /// A file or device that is not free to be overwritten.
    #[error("{} is not written: {by}", path.display())]
    InUse {
        /// The file or device.
        path: PathBuf,
        /// Who uses it.
        by: String,
    },
    /// A file system without direct I/O.
    #[error(
        "{}: its file system, {file_system}, takes no direct I/O; set `direct: false` for I/O through the page cache",
        path.display()
    )]
    NoDirect {
        /// The file.
        path: PathBuf,
        /// The type of its file system.
        file_system: String,
    },
    /// An attribute of a device's queue that can't be set.
    #[error("can't set {} to {value}: {reason}", file.display())]
    Queue {
        /// The attribute.
        file: PathBuf,
        /// What the profile wants.
        value: String,
        /// Why not.
        reason: String,
    },
    /// The kernel has no RBD client.
    #[error("this kernel has no RBD client: `modprobe rbd` on the host, or use `client: librbd`")]
    NoKrbd,
    /// The program for network block devices is not there.
    #[error("there is no rbd-nbd: install the package of that name, or use `client: librbd`")]
    NoNbd,
    /// A user's secret that can't be read.
    #[error(
        "can't read the key of {user} for the kernel: {reason}; see `cluster.user`, and `keyring` in ceph.conf"
    )]
    Secret {
        /// The user.
        user: String,
        /// Why.
        reason: String,
    },
    /// An image with features that the kernel lacks.
    #[error("the kernel can't map {image}: it lacks the feature {lacking}; {remedy}")]
    Unsupported {
        /// The image.
        image: String,
        /// The features, separated by commas.
        lacking: String,
        /// What to do about it.
        remedy: String,
    },
    /// An image that can't be mapped.
    #[error("can't map {image} by {client}: {reason}")]
    Map {
        /// The image.
        image: String,
        /// The client.
        client: &'static str,
        /// Why not, and what to do about it.
        reason: String,
    },
    /// A device that can't be unmapped.
    #[error("{} stays mapped: {reason}; `cephmark clean` unmaps it later", device.display())]
    Unmap {
        /// The device.
        device: PathBuf,
        /// Why.
        reason: String,
    },
    /// The page cache can't be dropped.
    #[error("can't drop the page cache ({}); run as root of this host, or leave out `run.drop_caches`", words(.0))]
    DropCaches(io::Error),
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
    /// The profile sweeps over a setting that does nothing under the policy that metadata sets.
    #[error(
        "a sweep over {option} shows nothing: it has no effect {reason}, which the metadata of {whose} sets; `{remedy}` removes \
         that"
    )]
    Idle {
        /// The option.
        option: String,
        /// Why it does nothing.
        reason: String,
        /// The pool or image that sets the policy.
        whose: String,
        /// The command that removes it.
        remedy: String,
    },
}

impl Error {
    /// A file or device on which `what` failed.
    pub(super) fn path(what: &'static str, path: &Path, source: io::Error) -> Self {
        let remedy = match source.raw_os_error().map(Errno::from_raw) {
            Some(Errno::EACCES | Errno::EPERM) => "; run as a user who may, such as root",
            Some(Errno::ENOENT) => "; correct `path` in the profile",
            Some(Errno::ENOSPC | Errno::EDQUOT) => "; make room, or lower `size`",
            _ => "",
        };
        Self::Path { what, path: path.to_owned(), source, remedy }
    }

    /// The exit code of a run that ends with it.
    #[must_use]
    pub const fn exit(&self) -> Exit {
        match self {
            Self::Ceph(error) => error.exit(),
            Self::Drive(DriveError::Stalled { .. }) | Self::LoadThreadStuck { .. } => Exit::Stuck,
            Self::Drive(_) | Self::LoadThreadDied => Exit::Trial,
            Self::Prepare(_) => Exit::Usage,
            _ => Exit::Setup,
        }
    }
}

/// "no such file or directory (ENOENT)".
fn words(error: &io::Error) -> String {
    let Some(errno) = error.raw_os_error().map(Errno::from_raw) else { return error.to_string() };
    let text = errno.desc();
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    first.into_iter().chain(letters).chain(format!(" ({errno:?})").chars()).collect()
}
