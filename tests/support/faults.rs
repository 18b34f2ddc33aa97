//! Faults of a cluster, each undone when its guard goes.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cephmark::lab::{Cluster, Watcher};

use super::ceph::tool;
use super::cluster::KeptLab;

/// The lab of the tests that hurt one, which they do one after another. An OSD that is marked down six times within ten
/// minutes would shut down for good.
pub(crate) fn hurt() -> MutexGuard<'static, KeptLab> {
    static HURT: LazyLock<Mutex<KeptLab>> = LazyLock::new(|| {
        let dir = std::env::temp_dir().join(format!("cephmark-hurt-{}", std::process::id()));
        Mutex::new(KeptLab::start(&dir, &["--size", "1GiB", "--conf", "osd/osd_max_markdown_count=1000"]))
    });
    HURT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The only OSD of a lab, stopped for as long as this lives: connections stay, and no operation ends.
pub(crate) struct StoppedOsd<'a>(&'a Cluster);

impl<'a> StoppedOsd<'a> {
    pub(crate) fn of(lab: &'a Cluster) -> Self {
        lab.daemon("osd.0").and_then(|osd| osd.pause()).expect("the OSD runs");
        Self(lab)
    }
}

impl Drop for StoppedOsd<'_> {
    fn drop(&mut self) {
        self.0.daemon("osd.0").and_then(|osd| osd.resume()).expect("the OSD is there");
        // An OSD that was away for longer than its leases last stays "laggy", and answers nothing, until it peers anew.
        tool(self.0, "ceph", &["osd", "down", "osd.0"]);
        self.0.wait_until_ready(Duration::from_secs(60), &Watcher::silent()).expect("it recovers");
    }
}

/// The only monitor of a lab, stopped for as long as this lives.
pub(crate) struct StoppedMonitor<'a>(&'a Cluster);

impl<'a> StoppedMonitor<'a> {
    pub(crate) fn of(lab: &'a Cluster) -> Self {
        lab.daemon("mon.a").and_then(|mon| mon.pause()).expect("the monitor runs");
        Self(lab)
    }
}

impl Drop for StoppedMonitor<'_> {
    fn drop(&mut self) {
        self.0.daemon("mon.a").and_then(|mon| mon.resume()).expect("the monitor is there");
    }
}
