//! Open files and block devices of an arm, for its load threads.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use tokio_util::sync::CancellationToken;

use super::device::Device;
use super::queue::QueueSettings;
use super::{Error, FileSet};
use crate::ceph::within;
use crate::lane::{Aio, KernelFile, Uring};
use crate::plan::{Engine, Sharing};

/// Open files or block devices of one arm, with what load threads use of them.
#[derive(Debug)]
pub struct Files {
    /// The handles, by load thread.
    handles: Vec<Arc<[KernelFile]>>,
    /// The first; all are alike.
    set: FileSet,
    conditions: BTreeMap<String, String>,
    limit: Duration,
    /// Keep others from the devices.
    _claims: Vec<File>,
    /// Last: given back once nothing is open any more.
    _queues: Vec<QueueSettings>,
}

/// Whether a queue to the kernel may be used at all.
///
/// # Errors
/// [`Error::Engine`] with what forbids it.
pub fn check_engine(engine: Engine) -> Result<(), Error> {
    match engine {
        Engine::IoUring => Uring::check(),
        Engine::LinuxAio => Aio::check(),
    }?;
    Ok(())
}

impl Files {
    /// Opens everything for `threads` load threads, sets the queues' attributes, and lets the page cache forget the files.
    /// Devices to be written are claimed, so that nobody else uses them meanwhile.
    ///
    /// # Errors
    /// Of any of this; [`Error::Ceph`] with a deadline that passed.
    pub async fn open(
        sets: &[FileSet],
        threads: usize,
        handles: Sharing,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Result<Self, Error> {
        let sets = sets.to_vec();
        within("opening files", limit, cancel, move || Ok(open(&sets, threads, handles, limit))).await?
    }

    /// Which queue hands I/O to the kernel.
    #[must_use]
    pub const fn engine(&self) -> Engine {
        self.set.access.engine
    }

    /// The files that a load thread uses.
    #[must_use]
    pub fn files_of(&self, thread: usize) -> Arc<[KernelFile]> {
        Arc::clone(&self.handles[thread])
    }

    /// What is in effect.
    #[must_use]
    pub const fn conditions(&self) -> &BTreeMap<String, String> {
        &self.conditions
    }

    /// Whether a write is durable once it is acknowledged; `None` where only the file system knows.
    #[must_use]
    pub fn durable_on_ack(&self) -> Option<bool> {
        match (self.set.access.direct, self.conditions.get("write_cache")) {
            (false, _) => Some(false),
            (true, Some(cache)) if self.set.is_device => Some(cache == "write through"),
            (true, _) => None,
        }
    }

    /// Makes durable what the kernel holds; nothing to do for what is only read.
    ///
    /// # Errors
    /// [`Error::Path`] if it fails; [`Error::Ceph`] with a deadline that passed.
    pub async fn flush(&self, limit: Duration) -> Result<(), Error> {
        if !self.set.writable {
            return Ok(());
        }
        let files = self.files_of(0);
        within("flushing a file", limit, &CancellationToken::new(), move || {
            let flush = |KernelFile { file, name, .. }: &KernelFile| {
                file.sync_all().map_err(|error| Error::path("flush", Path::new(name), error))
            };
            Ok(files.iter().try_for_each(flush))
        })
        .await?
    }

    /// Closes everything. Lanes that still hold files must be gone.
    ///
    /// # Errors
    /// [`Error::Ceph`] with a deadline that passed: file systems may have much to write by then.
    pub async fn close(self) -> Result<(), Error> {
        let limit = self.limit;
        Ok(within("closing files", limit, &CancellationToken::new(), move || {
            drop(self);
            Ok(())
        })
        .await?)
    }
}

fn open(sets: &[FileSet], threads: usize, handles: Sharing, limit: Duration) -> Result<Files, Error> {
    let (mut claims, mut queues) = (Vec::new(), Vec::new());
    for set in sets.iter().filter(|set| set.is_device) {
        let device = Device::at(&set.path)?;
        if set.writable {
            claims.push(device.claim()?);
        }
        queues.push(QueueSettings::set(&device.queue(), &set.access.queue)?);
    }
    let handle = |set: &FileSet| {
        let (name, is_device) = (set.path.display().to_string(), set.is_device);
        Ok::<_, Error>(KernelFile { file: set.open()?, name, is_device })
    };
    let distinct = if handles == Sharing::PerJob { threads } else { 1 };
    let opened = (0..distinct).map(|_| sets.iter().map(handle).collect());
    let opened = opened.collect::<Result<Vec<Arc<[KernelFile]>>, _>>()?;
    for (set, KernelFile { file, .. }) in sets.iter().zip(opened[0].iter()) {
        // As fio does: what the page cache holds from before is not read again.
        let flushed = if set.writable { file.sync_all() } else { Ok(()) };
        flushed.map_err(|error| Error::path("flush", &set.path, error))?;
        let _ = posix_fadvise(file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
    }
    let (set, conditions) = (sets[0].clone(), sets[0].conditions());
    let handles = (0..threads).map(|thread| Arc::clone(&opened[thread % distinct])).collect();
    Ok(Files { handles, set, conditions, limit, _claims: claims, _queues: queues })
}
