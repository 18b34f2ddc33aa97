//! The program as a user runs it, on a profile.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// The program that cargo built with this harness.
const CEPHMARK: &str = env!("CARGO_BIN_EXE_cephmark");

/// What keeps an answer from being had. A wrong answer is none of these.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// No cluster.
    #[error("CEPH_CONF is not set; `make claims` starts a throwaway cluster")]
    NoCluster,
    /// The program failed.
    #[error("cephmark {command} ended with {status}:\n{said}")]
    Failed { command: &'static str, status: ExitStatus, said: String },
    /// What it wrote can't be read.
    #[error("cephmark {command} left no result: {why}")]
    Result { command: &'static str, why: String },
    /// A file of our own.
    #[error("can't write a file for the program: {0}; set TMPDIR to a directory with room")]
    File(#[from] io::Error),
}

/// Runs `cephmark COMMAND` on a profile, in a directory that is gone afterwards; `load` takes from its results what matters.
///
/// # Errors
/// [`Error`] if it does not run to its end.
pub(crate) fn run<T, E: ToString>(
    command: &'static str,
    profile: &str,
    load: impl FnOnce(&Path) -> Result<T, E>,
) -> Result<T, Error> {
    std::env::var_os("CEPH_CONF").ok_or(Error::NoCluster)?;
    let directory = tempfile::Builder::new().prefix("cephmark-claims-").tempdir()?;
    fs::write(directory.path().join("profile.yaml"), profile)?;
    let ended = Command::new(CEPHMARK)
        .current_dir(directory.path())
        .args([command, "profile.yaml", "--out", "out"])
        .stdin(Stdio::null())
        .output()?;
    if !ended.status.success() {
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        return Err(Error::Failed { command, status: ended.status, said });
    }
    load(&directory.path().join("out")).map_err(|error| Error::Result { command, why: error.to_string() })
}
