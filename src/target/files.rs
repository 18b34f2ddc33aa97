//! Files and block devices through the kernel: opened as the profile asks, and what is in effect for them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use nix::sys::stat::{major, minor};
use tokio_util::sync::CancellationToken;

use super::Error;
use super::device::Device;
use super::direct;
use super::new_file;
use super::queue::{self, QueueSettings};
use crate::ceph::within;
use crate::lane::{Aio, KernelFile, Uring};
use crate::plan::{Access, Engine, KernelPath, PathKind, Sharing};
use crate::units::Bytes;

/// A file or block device, and how it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSet {
    /// Where it is.
    pub path: PathBuf,
    /// It is a block device.
    pub is_device: bool,
    /// How the kernel does its I/O.
    pub access: Access,
    /// Open it to be written.
    pub writable: bool,
}

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

impl FileSet {
    /// What an arm uses, of which `path` is the file itself; to be read.
    #[must_use]
    pub fn new(subject: &KernelPath, path: PathBuf) -> Self {
        let is_device = subject.kind == PathKind::Device;
        Self { path, is_device, access: subject.access.clone(), writable: false }
    }

    /// Its size.
    ///
    /// # Errors
    /// [`Error::Path`] if it can't be opened, [`Error::Unfit`] if it is something else.
    pub fn size(&self) -> Result<Bytes, Error> {
        if self.is_device {
            return Ok(Device::at(&self.path)?.size());
        }
        let about = fs::metadata(&self.path).map_err(|error| Error::path("look at", &self.path, error))?;
        if about.is_file() {
            return Ok(Bytes(about.len()));
        }
        let reason =
            "it is no regular file; a device goes under `block`, and with `size` cephmark makes a file"
                .to_owned();
        Err(Error::Unfit { path: self.path.clone(), reason })
    }

    /// What the blocks of direct I/O have to be multiples of; 1 byte through the page cache.
    ///
    /// # Errors
    /// As for [`Self::size`]; [`Error::NoDirect`] if the file system has no direct I/O.
    pub fn alignment(&self) -> Result<Bytes, Error> {
        if !self.access.direct {
            return Ok(Bytes(1));
        }
        let file = self.open()?;
        match self.is_device {
            true => Ok(Device::at(&self.path)?.logical_block()),
            false => Ok(direct::alignment(&file)),
        }
    }

    /// What is in effect for it, as far as the kernel tells; of a file that is not made yet what its directory tells.
    #[must_use]
    pub fn conditions(&self) -> BTreeMap<String, String> {
        let place = if self.path.exists() { &self.path } else { new_file::directory(&self.path) };
        let device = if self.is_device { Device::at(place).ok() } else { Device::below(place) };
        let mut conditions = device.map(|device| queue::recorded(&device.queue())).unwrap_or_default();
        if !self.is_device {
            let unset = read_ahead(place).filter(|_| !conditions.contains_key("read_ahead_kb"));
            conditions.extend(unset.map(|kib| ("read_ahead_kb".to_owned(), kib)));
            conditions.insert("file_system".to_owned(), file_system(place));
        }
        conditions.insert("engine".to_owned(), self.access.engine.name().to_owned());
        conditions.insert("direct".to_owned(), self.access.direct.to_string());
        conditions
    }

    fn open(&self) -> Result<File, Error> {
        let flags = if self.access.direct { libc::O_DIRECT } else { 0 };
        let opened = File::options().read(true).write(self.writable).custom_flags(flags).open(&self.path);
        opened.map_err(|error| match error.raw_os_error().map(Errno::from_raw) {
            Some(Errno::EINVAL) if self.access.direct => {
                Error::NoDirect { path: self.path.clone(), file_system: file_system(&self.path) }
            }
            _ => Error::path("open", &self.path, error),
        })
    }
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

/// What a file system without a device of its own reads ahead, as on a network.
fn read_ahead(path: &Path) -> Option<String> {
    let number = fs::metadata(path).ok()?.dev();
    let about = format!("/sys/class/bdi/{}:{}/read_ahead_kb", major(number), minor(number));
    Some(fs::read_to_string(about).ok()?.trim_end().to_owned())
}

/// The type of the file system that a path lies on, such as `ext4` or `fuse.glusterfs`.
fn file_system(path: &Path) -> String {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mount = |line: &str| {
        let (mount, about) = line.split_once(" - ")?;
        let place = mount.split(' ').nth(4)?.replace("\\040", " ");
        path.starts_with(&place)
            .then(|| (place.len(), about.split(' ').next().unwrap_or_default().to_owned()))
    };
    // The last of equals lies on top.
    let mount = mounts.lines().filter_map(mount).max_by_key(|(length, _)| *length);
    mount.map_or_else(|| "unknown".to_owned(), |(_, kind)| kind)
}
