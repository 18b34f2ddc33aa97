//! A lab with an owner: it is gone when its owner is, also by a panic or an early return.

use std::net::SocketAddr;
use std::ops::Deref;

use super::boot::Boot;
use super::home::Home;
use super::ports::Ports;
use super::program::Program;
use super::{Cluster, Error, LabSpec, Watcher, daemon, host, random_uuid};
use crate::console;

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
            console::say(format_args!(
                "lab: {error}; then `cephmark lab down --dir {}`",
                self.dir().display()
            ));
        }
    }
}
