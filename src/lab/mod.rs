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
mod home;
mod host;
mod keys;
mod ports;
mod process;
mod program;
mod ready;
mod spec;

use std::fs;
use std::net::SocketAddr;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::Duration;

use boot::Boot;
pub use cluster::Cluster;
pub use daemon::{Daemon, DaemonName, State};
pub use error::{Error, Tail};
use home::Home;
use ports::Ports;
use program::{GoOn, Program};
pub use ready::Lack;
pub use spec::{LabSpec, ObjectStore, Setting};

/// Who is told of progress, and says when to stop.
pub struct Watcher<'a> {
    say: &'a (dyn Fn(&str) + Sync),
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> Watcher<'a> {
    /// `say` gets a line for each step; `stop` is asked every few milliseconds, from several threads.
    #[must_use]
    pub const fn new(say: &'a (dyn Fn(&str) + Sync), stop: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self { say, stop }
    }

    /// Hears nothing and never stops.
    #[must_use]
    pub const fn silent() -> Watcher<'static> {
        Watcher { say: &|_| {}, stop: &|| false }
    }

    fn say(&self, line: &str) {
        (self.say)(line);
    }

    fn stopped(&self) -> bool {
        (self.stop)()
    }
}

/// A lab that is taken down when this is dropped, if this started it.
#[derive(Debug)]
pub struct Lab {
    cluster: Cluster,
    ours: bool,
}

impl Lab {
    /// Starts a lab and waits until it is ready. Whatever fails, nothing is left behind.
    ///
    /// # Errors
    /// All of [`Error`] but [`Error::None`].
    pub fn up(spec: &LabSpec, watcher: &Watcher<'_>) -> Result<Self, Error> {
        spec.check()?;
        Program::check_installed(&daemon::programs(spec))?;
        host::check_room(spec)?;
        let ports = Ports::claim(spec)?;
        let monitor = SocketAddr::new(spec.address, ports.monitor());
        let (home, record) = Home::create(spec, &random_uuid()?, monitor)?;
        let lab = Self { cluster: Cluster { home, record }, ours: true };
        lab.home.furnish()?;
        Boot::new(spec, &lab.home, &lab.record, watcher).run(&ports)?;
        Ok(lab)
    }

    /// Takes the lab that is in the directory, and leaves it there in the end; starts one if there is none.
    ///
    /// # Errors
    /// As for [`Self::up`]; a lab that is there and does not get ready.
    pub fn join_or_up(spec: &LabSpec, watcher: &Watcher<'_>) -> Result<Self, Error> {
        let Some(cluster) = Cluster::find(&spec.dir)? else { return Self::up(spec, watcher) };
        watcher.say(&format!("using the lab in {}", cluster.dir().display()));
        cluster.wait_until_ready(spec.timeout, watcher)?;
        Ok(Self { cluster, ours: false })
    }

    /// Lets the lab live on after this.
    #[must_use]
    pub fn keep(mut self) -> Cluster {
        self.ours = false;
        self.cluster.clone()
    }

    /// Takes it down now if this started it, where an error can be told.
    ///
    /// # Errors
    /// Those of [`Cluster::down`].
    pub fn end(mut self) -> Result<(), Error> {
        if std::mem::take(&mut self.ours) { self.cluster.down() } else { Ok(()) }
    }
}

impl Deref for Lab {
    type Target = Cluster;

    fn deref(&self) -> &Cluster {
        &self.cluster
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if !self.ours {
            return;
        }
        if let Err(error) = self.cluster.down() {
            eprintln!("lab: {error}; then `cephmark lab down --dir {}`", self.dir().display());
        }
    }
}

/// Where a lab is if nobody says: `cephmark-lab-UID` in `$TMPDIR`, or in `/tmp`.
#[must_use]
pub fn default_dir() -> PathBuf {
    std::env::temp_dir().join(format!("cephmark-lab-{}", nix::unistd::geteuid()))
}

/// Asks the monitor. A command whose caller was killed ends by itself.
fn ceph(home: &Home, arguments: &[&str], go_on: GoOn<'_>) -> Result<String, Error> {
    let conf = home.conf();
    let common = ["-c", &conf.to_string_lossy(), "--connect-timeout", "60", "--rados_mon_op_timeout=60"];
    Program::Ceph.run(&[&common, arguments].concat(), go_on)
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
