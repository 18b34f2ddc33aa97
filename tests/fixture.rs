//! The cluster that the tests run against.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use cephmark::ceph::{Cluster, Config, Image, Layout, Pool, Role, View};
use cephmark::units::Bytes;

use crate::support::cluster;

/// The pool that every test uses.
pub(crate) const POOL: &str = "rbd";

static CLUSTER: RwLock<()> = RwLock::new(());

/// Held by a test that needs a cluster in order.
pub(crate) fn calm() -> RwLockReadGuard<'static, ()> {
    CLUSTER.read().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Held by a test that breaks the cluster for a while.
pub(crate) fn alone() -> RwLockWriteGuard<'static, ()> {
    CLUSTER.write().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The cluster's ceph.conf.
pub(crate) fn conf() -> PathBuf {
    cluster::shared().conf()
}

pub(crate) fn config(role: Role) -> Config {
    Config::new(Some(&conf()), "client.admin", Duration::from_secs(30), role)
        .expect("a lab cluster's ceph.conf")
}

pub(crate) fn connect(role: Role) -> Cluster {
    config(role).connect().expect("a lab cluster that runs")
}

pub(crate) fn pool(role: Role) -> Pool {
    connect(role).pool(POOL, None).expect("the pool of the lab cluster")
}

/// A name that no other image of this run has.
fn image_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// An image that is removed when the test is over.
pub(crate) struct Scratch {
    pool: Pool,
    pub(crate) name: String,
}

impl Scratch {
    pub(crate) fn new(pool: &Pool, layout: &Layout) -> Self {
        let name = image_name();
        pool.create_image(&name, layout).expect("a new image");
        Self { pool: pool.clone(), name }
    }

    pub(crate) fn of_size(pool: &Pool, size: u64) -> Self {
        Self::new(pool, &Layout { size: Bytes(size), ..Layout::default() })
    }

    pub(crate) fn open(&self, view: View<'_>) -> Image {
        self.pool.image(&self.name, view).expect("the image that was created")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let removed = self.pool.remove_image(&self.name);
        assert!(std::thread::panicking() || removed.is_ok(), "{removed:?}");
    }
}

/// Runs a tool of Ceph's own, and returns what it prints.
pub(crate) fn tool(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .arg("-c")
        .arg(conf())
        .args(arguments)
        .output()
        .expect("Ceph's tools are installed");
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Stops the OSD for as long as this lives.
pub(crate) struct StoppedOsd(nix::unistd::Pid);

impl StoppedOsd {
    pub(crate) fn stop(number: u32) -> Self {
        let file = conf().with_file_name("run").join(format!("osd.{number}.pid"));
        let text = std::fs::read_to_string(&file).expect("the OSD's pid file");
        let pid = nix::unistd::Pid::from_raw(text.trim().parse().expect("a pid"));
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGSTOP).expect("the OSD runs");
        Self(pid)
    }
}

impl Drop for StoppedOsd {
    fn drop(&mut self) {
        let _ = nix::sys::signal::kill(self.0, nix::sys::signal::Signal::SIGCONT);
    }
}
