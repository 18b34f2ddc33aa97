//! A lab as the safe layer and Ceph's own tools see it: connections, pools, images for a test.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use cephmark::ceph::{Cluster, Config, Image, Layout, Pool, Role, View};
use cephmark::lab;
use cephmark::units::Bytes;

/// The pool that every lab of the tests has.
pub(crate) const POOL: &str = "rbd";

pub(crate) fn config(lab: &lab::Cluster, role: Role) -> Config {
    Config::new(Some(&lab.conf()), "client.admin", Duration::from_secs(30), role).expect("a lab's ceph.conf")
}

pub(crate) fn connect(lab: &lab::Cluster, role: Role) -> Cluster {
    config(lab, role).connect().expect("a lab that runs")
}

pub(crate) fn pool(lab: &lab::Cluster, role: Role) -> Pool {
    connect(lab, role).pool(POOL, None).expect("the pool of the lab")
}

/// Runs a tool of Ceph's own, and returns what it prints.
#[track_caller]
pub(crate) fn tool(lab: &lab::Cluster, program: &str, arguments: &[&str]) -> String {
    let output = command(lab, program).args(arguments).output().expect("Ceph's tools are installed");
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// A tool of Ceph's own, told which cluster.
pub(crate) fn command(lab: &lab::Cluster, program: &str) -> Command {
    let mut command = Command::new(program);
    command.arg("-c").arg(lab.conf());
    command
}

/// A name that nothing else of this run of the tests has.
pub(crate) fn fresh_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A pool of a test's own, for what concerns whole pools.
pub(crate) struct TestPool<'a> {
    lab: &'a lab::Cluster,
    pub(crate) name: String,
}

impl<'a> TestPool<'a> {
    pub(crate) fn new(lab: &'a lab::Cluster) -> Self {
        let name = fresh_name();
        tool(lab, "ceph", &["osd", "pool", "create", &name, "1"]);
        tool(lab, "rbd", &["pool", "init", &name]);
        Self { lab, name }
    }
}

impl Drop for TestPool<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let remove = ["osd", "pool", "rm", &self.name, &self.name, "--yes-i-really-really-mean-it"];
            tool(self.lab, "ceph", &remove);
        }
    }
}

/// An image that is removed when the test is over.
pub(crate) struct Scratch {
    pool: Pool,
    pub(crate) name: String,
}

impl Scratch {
    pub(crate) fn new(pool: &Pool, layout: &Layout) -> Self {
        Self::named(pool, |name| pool.create_image(name, layout).expect("a new image"))
    }

    /// An image that something else creates under the name that it is given.
    pub(crate) fn named(pool: &Pool, create: impl FnOnce(&str)) -> Self {
        let name = fresh_name();
        create(&name);
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
