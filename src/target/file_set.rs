//! A file or block device that an arm's I/O goes to: its size, how it is opened, and what is in effect for it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::stat::{major, minor};

use super::device::Device;
use super::mounts::Mount;
use super::sysfs::attribute;
use super::{Error, direct, new_file, queue};
use crate::plan::{Access, KernelPath, PathKind};
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

    /// Opens it as the profile asks.
    ///
    /// # Errors
    /// [`Error::Path`]; [`Error::NoDirect`] if the file system has no direct I/O.
    pub(super) fn open(&self) -> Result<File, Error> {
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

/// What a file system without a device of its own reads ahead, as on a network.
fn read_ahead(path: &Path) -> Option<String> {
    let number = fs::metadata(path).ok()?.dev();
    let about = format!("/sys/class/bdi/{}:{}/read_ahead_kb", major(number), minor(number));
    attribute(Path::new(&about))
}

/// The type of the file system that a path lies on, such as `ext4` or `fuse.glusterfs`.
pub(super) fn file_system(path: &Path) -> String {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mounts = Mount::all().unwrap_or_default();
    Mount::under(&mounts, &path).map_or_else(|| "unknown".to_owned(), |mount| mount.kind.clone())
}
