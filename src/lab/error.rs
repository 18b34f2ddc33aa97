//! What can go wrong with a lab, each with its remedy.

use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::exit::Exit;
use crate::units::Bytes;

/// Why a lab could not be started, found or taken down.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Numbers that no cluster can have.
    #[error("no lab can have {0}")]
    Spec(String),
    /// Programs that are not in `PATH`, and the packages that hold them.
    #[error("not installed: {}; install {packages} (on Debian: `apt-get install {packages}`)", .programs.join(", "))]
    Missing {
        /// The programs.
        programs: Vec<&'static str>,
        /// Debian's names of the packages, a blank between them.
        packages: String,
    },
    /// The directory holds a lab already.
    #[error(
        "a lab is already in {0}: take it down with `cephmark lab down --dir {0}`, or name another --dir"
    )]
    InUse(PathBuf),
    /// The directory holds something else.
    #[error("{0} is not empty and is no lab, so nothing in it is touched: name another --dir")]
    Foreign(PathBuf),
    /// No lab there.
    #[error("no lab in {0}: start one with `cephmark lab up --dir {0}`")]
    None(PathBuf),
    /// The directory is somebody else's.
    #[error("{dir} belongs to user {owner}: run as that user, or name another --dir")]
    Owner {
        /// The directory.
        dir: PathBuf,
        /// Numeric id of the user.
        owner: u32,
    },
    /// `ceph.conf` has no way to write such a path.
    #[error(
        "{0:?} has characters that ceph.conf cannot hold: name a --dir of letters, digits and `/._+@%=-`"
    )]
    Unwritable(PathBuf),
    /// Not an address of this host.
    #[error("{address} cannot be used: {source}; take an address of this host (see `ip address`)")]
    Address {
        /// The address asked for.
        address: IpAddr,
        /// What the kernel says.
        source: io::Error,
    },
    /// One of the ports asked for is taken.
    #[error("port {port} of {address} is in use: leave out --port, or name a range of {count} free ports")]
    Port {
        /// The port.
        port: u16,
        /// Its address.
        address: IpAddr,
        /// Ports that the lab needs in a row.
        count: u16,
    },
    /// No range of ports is free.
    #[error(
        "no {count} free ports in a row in {first}-{last} of {address}: take down labs that are not needed, or \
         name a free range with --port"
    )]
    NoPorts {
        /// The address.
        address: IpAddr,
        /// Ports that the lab needs in a row.
        count: u16,
        /// First port that was tried.
        first: u16,
        /// Last port that was tried.
        last: u16,
    },
    /// The OSDs would not fit.
    #[error("{osds} OSDs of {size} need {needed} of {what}, of which {free} are free: {remedy}")]
    Room {
        /// How many OSDs.
        osds: u32,
        /// Capacity of each.
        size: Bytes,
        /// Capacity of all with some air.
        needed: Bytes,
        /// `memory`, or the path of a disk.
        what: String,
        /// What there is.
        free: Bytes,
        /// What to do.
        remedy: &'static str,
    },
    /// A program failed.
    #[error("`{command}` {how}{output}")]
    Program {
        /// The command line, without secrets.
        command: String,
        /// How it ended.
        how: String,
        /// The last lines it printed.
        output: Tail,
    },
    /// A daemon did not start, or ended while it was needed.
    #[error("{daemon} {how}; its log ends with:{log}")]
    Daemon {
        /// Its name, such as `osd.0`.
        daemon: String,
        /// What happened.
        how: String,
        /// The last lines of its log.
        log: Tail,
    },
    /// The time is over.
    #[error("the lab was not ready after {} s: {lacks}; the log of {daemon} ends with:{log}", .waited.as_secs())]
    NotReady {
        /// How long it was waited for.
        waited: Duration,
        /// What is missing.
        lacks: String,
        /// The daemon to look at first.
        daemon: String,
        /// The last lines of its log.
        log: Tail,
    },
    /// A daemon that the lab does not have.
    #[error("the lab has no {wanted}: it has {}", .there.join(", "))]
    NoDaemon {
        /// The name asked for.
        wanted: String,
        /// The names there are.
        there: Vec<String>,
    },
    /// A process that even SIGKILL does not end.
    #[error(
        "{process} (process {pid}) does not end: it hangs in the kernel; try `cephmark lab down` again later"
    )]
    Unkillable {
        /// What it is.
        process: String,
        /// Its number.
        pid: i32,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The operating system refused.
    #[error("cannot {what} {path}: {source}")]
    Io {
        /// A verb.
        what: &'static str,
        /// What it was done to.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl Error {
    /// The exit code it ends in.
    #[must_use]
    pub const fn exit(&self) -> Exit {
        match self {
            Self::Spec(_) | Self::Unwritable(_) | Self::NoDaemon { .. } => Exit::Usage,
            Self::Interrupted => Exit::Interrupted,
            _ => Exit::Setup,
        }
    }

    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}

/// The last lines of a log, set under a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail(Vec<String>);

impl Tail {
    const LINES: usize = 12;

    pub(super) fn of(text: &str) -> Self {
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        Self(lines[lines.len().saturating_sub(Self::LINES)..].iter().map(|line| (*line).to_owned()).collect())
    }
}

impl Tail {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::fmt::Display for Tail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            return f.write_str(" (nothing)");
        }
        self.0.iter().try_for_each(|line| write!(f, "\n    {line}"))
    }
}
