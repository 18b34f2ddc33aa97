//! Why a command failed.

use crate::cli::report::ReportError;
use crate::exit::Exit;
use crate::result::LoadError;
use crate::{ceph, compare, lab, profile, run, tune};

/// Why a command failed: one line for people, and the exit code for scripts.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// What is wrong, and what to do about it.
    pub message: String,
}

macro_rules! failures {
    ($($error:ty => $exit:expr;)*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                let exit: fn(&$error) -> Exit = $exit;
                Self { exit: exit(&error), message: error.to_string() }
            }
        }
    )*};
}

failures! {
    profile::Error => |_| Exit::Usage;
    profile::Fault => |_| Exit::Usage;
    ceph::Error => ceph::Error::exit;
    run::Error => run::Error::exit;
    tune::Error => tune::Error::exit;
    lab::Error => lab::Error::exit;
    ReportError => ReportError::exit;
    LoadError => |_| Exit::Usage;
    compare::Error => |_| Exit::Usage;
}
