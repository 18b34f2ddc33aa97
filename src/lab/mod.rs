//! A throwaway real Ceph cluster on this host, from the installed daemons: for `cephmark lab`, for `run --lab`, and for
//! the tests.
//!
//! `spec` says what is wanted; `boot` makes it: a `home` with `conf` and `keys`, `ports` of its own, and one `daemon`
//! after the other until all is `ready`. What exists is a `cluster`; the one that goes with its owner is a [`Lab`].
//! Nothing here uses a library of Ceph's: only its programs, so a lab also tells whether they work.

mod boot;
mod cluster;
mod conf;
mod daemon;
mod error;
mod guard;
mod home;
mod host;
mod keys;
mod ports;
mod process;
mod program;
mod ready;
mod spec;
mod watcher;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use cluster::Cluster;
pub use daemon::{Daemon, DaemonName, State};
pub use error::{Error, Tail};
pub use guard::Lab;
pub use ready::Lack;
pub use spec::{LabSpec, ObjectStore, Setting};
pub use watcher::Watcher;

use home::Home;
use program::{GoOn, Program};

/// Where a lab is if nobody says: `cephmark-lab-UID` in `$TMPDIR`, or in `/tmp`.
#[must_use]
pub fn default_dir() -> PathBuf {
    std::env::temp_dir().join(format!("cephmark-lab-{}", nix::unistd::geteuid()))
}

/// Runs `ceph` or `rbd` as client.admin of the lab.
fn command(program: Program, home: &Home, arguments: &[&str], go_on: GoOn<'_>) -> Result<String, Error> {
    let conf = home.conf();
    program.run(&[&["-c", &conf.to_string_lossy(), process::COMMAND_MARK], arguments].concat(), go_on)
}

fn not_ready(home: &Home, waited: Duration, lack: &Lack) -> Error {
    let daemon = Daemon::new(home, lack.culprit());
    let log = daemon.log_tail();
    Error::NotReady { waited, lacks: lack.to_string(), daemon: daemon.name().to_string(), log }
}

fn random_uuid() -> Result<String, Error> {
    let path = Path::new("/proc/sys/kernel/random/uuid");
    let text = fs::read_to_string(path).map_err(Error::io("read", path))?;
    Ok(text.trim().to_owned())
}
