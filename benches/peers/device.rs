//! A loop device over a file in memory: the kernel's whole way of I/O, and no disk that would set the pace.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cephmark::units::Bytes;

use crate::error::Error;
use crate::program;

/// A file system in memory.
const MEMORY: &str = "/dev/shm";
/// Longer than attaching takes.
const LIMIT: Duration = Duration::from_secs(10);

/// A loop device. It is detached from the start, which the kernel carries out once nobody has it open.
#[derive(Debug)]
pub(crate) struct LoopDevice {
    path: PathBuf,
    /// Keeps it attached.
    _handle: File,
}

impl LoopDevice {
    /// A device of that size, every block of it in memory.
    ///
    /// # Errors
    /// [`Error::Device`], as without root.
    pub(crate) fn in_memory(size: Bytes) -> Result<Self, Error> {
        let attached = || {
            let file = tempfile::NamedTempFile::new_in(MEMORY)?;
            file.as_file().set_len(size.get())?;
            let path = losetup(&["--find", "--show"], file.path())?;
            let path = PathBuf::from(path.trim());
            let handle = File::open(&path)?;
            losetup(&["--detach"], &path)?;
            Ok(Self { path, _handle: handle })
        };
        attached().map_err(|error: Error| Error::Device(error.to_string()))
    }

    /// Such as `/dev/loop7`.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

fn losetup(arguments: &[&str], path: &Path) -> Result<String, Error> {
    program::run(Command::new("losetup").args(arguments).arg(path), LIMIT).map(|ended| ended.stdout)
}
