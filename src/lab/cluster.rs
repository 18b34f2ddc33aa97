//! A lab that exists: found by its directory, asked, and taken down.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::daemon::{Daemon, DaemonName, State};
use super::home::{Home, Record};
use super::program::Program;
use super::ready::{ClusterStatus, Lack};
use super::{Error, Watcher, process};

/// How long SIGKILL may take; a process that is in the kernel's hands ends only when that lets it.
const KILL_PATIENCE: Duration = Duration::from_secs(20);
/// How long a monitor may take to say how the cluster is.
const ANSWER_PATIENCE: Duration = Duration::from_secs(10);

/// A lab on disk. Dropping it changes nothing: for a lab that goes with its owner see [`Lab`](super::Lab).
#[derive(Clone, Debug)]
pub struct Cluster {
    pub(super) home: Home,
    pub(super) record: Record,
}

impl Cluster {
    /// The lab in a directory, whatever state it is in.
    ///
    /// # Errors
    /// There is none, there is something else, or it is another user's.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        Self::find(dir)?.ok_or_else(|| Error::None(dir.to_owned()))
    }

    /// The lab in a directory, if there is one.
    ///
    /// # Errors
    /// There is something else, or the lab is another user's.
    pub fn find(dir: &Path) -> Result<Option<Self>, Error> {
        Ok(Home::find(dir)?.map(|(home, record)| Self { home, record }))
    }

    /// Its directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.home.dir()
    }

    /// Its `ceph.conf`, which names the key of client.admin too.
    #[must_use]
    pub fn conf(&self) -> PathBuf {
        self.home.conf()
    }

    /// The monitor's address for the v2 protocol.
    #[must_use]
    pub fn monitor(&self) -> SocketAddr {
        self.record.monitor
    }

    /// The cluster's id.
    #[must_use]
    pub fn fsid(&self) -> &str {
        &self.record.fsid
    }

    /// A handle on one daemon, such as `osd.0` or `mon.a`.
    ///
    /// # Errors
    /// The lab has no such daemon.
    pub fn daemon(&self, name: &str) -> Result<Daemon<'_>, Error> {
        let wanted = name.parse().ok().filter(|wanted| self.names().contains(wanted));
        let name = wanted.ok_or_else(|| Error::NoDaemon {
            wanted: name.to_owned(),
            there: self.names().iter().map(DaemonName::to_string).collect(),
        })?;
        Ok(Daemon::new(&self.home, name))
    }

    /// All daemons, dead or alive, in the order in which they start.
    #[must_use]
    pub fn daemons(&self) -> Vec<Daemon<'_>> {
        self.names().into_iter().map(|name| Daemon::new(&self.home, name)).collect()
    }

    /// What it lacks to be ready; none if I/O can go on.
    #[must_use]
    pub fn lack(&self) -> Option<Lack> {
        if Daemon::new(&self.home, DaemonName::mon()).state() == State::Dead {
            return Some(Lack::Monitor);
        }
        let until = Instant::now() + ANSWER_PATIENCE;
        let go_on = || if Instant::now() < until { Ok(()) } else { Err(Error::Interrupted) };
        let answer = super::command(Program::Ceph, &self.home, &["status", "-f", "json"], &go_on).ok();
        match answer.and_then(|text| serde_json::from_str::<ClusterStatus>(&text).ok()) {
            Some(status) => status.lack(&self.record),
            None => Some(Lack::Monitor),
        }
    }

    /// Waits until it is ready (again).
    ///
    /// # Errors
    /// The time is over, or the watcher stopped it.
    pub fn wait_until_ready(&self, timeout: Duration, watcher: &Watcher<'_>) -> Result<(), Error> {
        let began = Instant::now();
        while let Some(lack) = self.lack() {
            if watcher.stopped() {
                return Err(Error::Interrupted);
            }
            if began.elapsed() > timeout {
                return Err(super::not_ready(&self.home, timeout, &lack));
            }
            thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    /// Ends its daemons and removes its files; foreign files in its directory stay. Can be repeated after a failure.
    ///
    /// # Errors
    /// A process hangs in the kernel, or a file cannot be removed.
    pub fn down(&self) -> Result<(), Error> {
        let until = Instant::now() + KILL_PATIENCE;
        // A daemon that is just going to the background appears under a new number: look until none is left.
        while let Some(last) = self.kill_all() {
            if Instant::now() > until {
                return Err(Error::Unkillable { process: last.role.to_string(), pid: last.pid.as_raw() });
            }
            thread::sleep(Duration::from_millis(10));
        }
        self.home.remove(&self.record)
    }

    fn kill_all(&self) -> Option<process::Process> {
        let conf = self.home.conf();
        let processes = process::all(&conf);
        for process in &processes {
            process.signal(Signal::SIGKILL, &conf);
        }
        processes.into_iter().next()
    }

    fn names(&self) -> Vec<DaemonName> {
        DaemonName::all(self.record.osds, self.record.mds)
    }
}
