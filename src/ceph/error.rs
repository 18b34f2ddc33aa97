//! What can go wrong between us and a cluster, in words, with what to do next.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use ceph_sys::LoadError;
use nix::errno::Errno;

use crate::exit::Exit;

/// A call into Ceph that did not give what was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Ceph's client library is missing or too old.
    #[error(transparent)]
    Library(#[from] &'static LoadError),
    /// A C function failed.
    #[error("can't {what}: {}{remedy}", words(*errno))]
    Failed {
        /// What was tried, with the names of everything involved: "open image rbd/vol1".
        what: String,
        /// Why it failed.
        errno: Errno,
        /// What to do about it, after a semicolon; empty if nothing is known.
        remedy: String,
    },
    /// A monitor refused a command.
    #[error("the monitor refused `{command}`: {status} ({errno:?}){remedy}")]
    Command {
        /// The command's prefix.
        command: String,
        /// Why.
        errno: Errno,
        /// Why, in the monitor's words.
        status: String,
        /// What to do about it, after a semicolon; empty if nothing is known.
        remedy: String,
    },
    /// Ceph has no such option.
    #[error("there is no Ceph option `{option}`{}", meant(nearest.as_deref()))]
    UnknownOption {
        /// The option as it was given.
        option: String,
        /// A name that may have been meant.
        nearest: Option<String>,
    },
    /// Ceph does not take this value for the option.
    #[error(
        "Ceph refuses `{value}` as a value of {option}; `ceph config help {option}` tells its type and range"
    )]
    BadValue {
        /// The option.
        option: String,
        /// The value as it was given.
        value: String,
    },
    /// RBD has no such feature.
    #[error("there is no RBD feature `{feature}`{}", meant(nearest.as_deref()))]
    UnknownFeature {
        /// The feature as it was given.
        feature: String,
        /// A name that may have been meant.
        nearest: Option<String>,
    },
    /// A text that C can't take.
    #[error("{what} must not contain a NUL byte")]
    Nul {
        /// What the text is.
        what: &'static str,
    },
    /// A reply that is not what every known release sends.
    #[error("can't read the reply to `{command}`: {reason}")]
    Reply {
        /// The command.
        command: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The client's own admin socket does not answer.
    #[error("admin socket {}, `{command}`: {source}", path.display())]
    AdminSocket {
        /// Its path.
        path: PathBuf,
        /// The command.
        command: String,
        /// Why.
        source: io::Error,
    },
    /// A call did not return within its deadline; its thread was left behind.
    #[error("{what}: no answer within {limit:?}; the cluster or the network is stuck, see `ceph -s`")]
    Stuck {
        /// What was being done.
        what: String,
        /// The deadline.
        limit: Duration,
    },
    /// A signal came before the call returned; its thread was left behind.
    #[error("{what}: interrupted")]
    Interrupted {
        /// What was being done.
        what: String,
    },
    /// The system gave no thread, directory or the like for the call.
    #[error("{what}: {source}")]
    System {
        /// What was being done.
        what: String,
        /// Why it can't.
        source: io::Error,
    },
}

/// Remedies that hold for every call; a caller's own come first.
const REMEDIES: [(Errno, &str); 6] = [
    (Errno::EACCES, "the monitor does not accept this user and key; see `ceph auth get <user>`"),
    (Errno::EPERM, "the user's capabilities do not allow it; see `ceph auth get <user>`"),
    (Errno::ETIMEDOUT, "the cluster did not answer in time; check that its daemons run and can be reached"),
    (Errno::ESHUTDOWN, "the cluster blocklisted this client; see `ceph osd blocklist ls`"),
    (Errno::ENOSPC, "the cluster or the pool is full; see `ceph df`"),
    (Errno::EDQUOT, "the pool's quota is reached; see `ceph osd pool get-quota <pool>`"),
];

impl Error {
    /// A failed C function: what was tried ("open image rbd/vol1"), and remedies of its own by errno.
    pub(super) fn failed(what: impl Into<String>, errno: Errno, own: &[(Errno, &str)]) -> Self {
        Self::Failed { what: what.into(), errno, remedy: remedy(errno, own) }
    }

    pub(super) fn command(command: &str, errno: Errno, status: String) -> Self {
        if errno == Errno::ETIMEDOUT {
            return Self::failed(format!("get an answer to `{command}` from the monitors"), errno, &[]);
        }
        let status = if status.is_empty() { words(errno) } else { status };
        Self::Command { command: command.to_owned(), errno, status, remedy: remedy(errno, &[]) }
    }

    /// The errno, where a C function or a monitor gave one.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        match self {
            Self::Failed { errno, .. } | Self::Command { errno, .. } => Some(*errno),
            _ => None,
        }
    }

    /// The exit code of a command that ends with this error.
    #[must_use]
    pub const fn exit(&self) -> Exit {
        match self {
            Self::UnknownOption { .. }
            | Self::BadValue { .. }
            | Self::UnknownFeature { .. }
            | Self::Nul { .. } => Exit::Usage,
            Self::Stuck { .. } => Exit::Stuck,
            Self::Interrupted { .. } => Exit::Interrupted,
            _ => Exit::Setup,
        }
    }
}

fn remedy(errno: Errno, own: &[(Errno, &str)]) -> String {
    let known = own.iter().chain(&REMEDIES).find(|(wanted, _)| *wanted == errno);
    known.map(|(_, text)| format!("; {text}")).unwrap_or_default()
}

/// "no such file or directory (ENOENT)".
fn words(errno: Errno) -> String {
    let text = errno.desc();
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    first.into_iter().chain(letters).chain(format!(" ({errno:?})").chars()).collect()
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_call_tells_what_why_and_what_to_do() {
        let error = Error::failed("open image rbd/a", Errno::EPERM, &[]);
        assert_eq!(
            error.to_string(),
            "can't open image rbd/a: operation not permitted (EPERM); the user's capabilities do not allow it; see \
             `ceph auth get <user>`"
        );
        assert_eq!(error.exit(), Exit::Setup);
    }

    #[test]
    fn a_remedy_of_the_caller_comes_before_the_common_one() {
        let error = Error::failed("connect", Errno::ETIMEDOUT, &[(Errno::ETIMEDOUT, "start a monitor")]);
        assert_eq!(error.to_string(), "can't connect: connection timed out (ETIMEDOUT); start a monitor");
    }

    #[test]
    fn an_errno_nobody_foresaw_still_reads_well() {
        let error = Error::failed("stat", Errno::EXDEV, &[]);
        assert_eq!(error.to_string(), "can't stat: cross-device link (EXDEV)");
    }
}
