//! What keeps a comparison from being made.

use std::io;
use std::time::Duration;

/// What keeps a comparison from being made. A ratio that misses its goal is none: it is a result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// It is not there.
    #[error("can't start {program}: {source}; install it")]
    Start { program: String, source: io::Error },
    /// It did not do what it was told.
    #[error("{program} ended with {status}:\n{said}")]
    Failed { program: String, status: String, said: String },
    /// It did not come to an end.
    #[error(
        "{program} did not end within {limit:?} and was killed; see whether the cluster is well: `ceph -s`"
    )]
    Stuck { program: String, limit: Duration },
    /// Its figures are not what was agreed on.
    #[error("{program} reported no figures that can be compared: {why}")]
    Figures { program: String, why: String },
    /// No cluster to compare on.
    #[error("CEPH_CONF is not set; `make bench` starts a throwaway cluster, `--only null,loop` needs none")]
    NoCluster,
    /// No device to compare on.
    #[error("can't make a loop device in memory: {0}; run as root, or leave `loop` out of `--only`")]
    Device(String),
    /// A file of our own.
    #[error("can't write a file for the programs: {0}; set TMPDIR to a directory with room")]
    File(#[from] io::Error),
}
