//! Real block devices for tests: loop devices, which take root.
//!
//! Each is detached from the start, which the kernel carries out once nobody has it open: when its handle here is
//! dropped, or when the process ends however it ends.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A loop device over a file of its own.
pub(crate) struct LoopDevice {
    path: PathBuf,
    /// Keeps it attached.
    _handle: File,
}

impl LoopDevice {
    /// A device of that many bytes over a file that is in memory.
    pub(crate) fn in_memory(bytes: u64) -> Self {
        Self::in_directory(Path::new("/dev/shm"), bytes)
    }

    /// As [`Self::in_memory`], with logical blocks of that size.
    pub(crate) fn of_sectors(bytes: u64, sector: u32) -> Self {
        Self::attach(backing(Path::new("/dev/shm"), bytes).path(), &["--sector-size", &sector.to_string()])
    }

    /// A device of that many bytes over a file in a directory.
    pub(crate) fn in_directory(directory: &Path, bytes: u64) -> Self {
        Self::attach(backing(directory, bytes).path(), &[])
    }

    /// A device over another.
    pub(crate) fn over(path: &Path) -> Self {
        Self::attach(path, &[])
    }

    fn attach(backing: &Path, options: &[&str]) -> Self {
        let backing = backing.display().to_string();
        let path = tool("losetup", &[&["--find", "--show", "--partscan"], options, &[&backing]].concat());
        let path = PathBuf::from(path.trim());
        let handle = File::open(&path).expect("the new device");
        tool("losetup", &["--detach", &path.display().to_string()]);
        Self { path, _handle: handle }
    }

    /// Such as `/dev/loop7`.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// A file of holes, gone when dropped.
fn backing(directory: &Path, bytes: u64) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new_in(directory).expect("a file");
    file.as_file().set_len(bytes).expect("room");
    file
}

/// A new file system, mounted for as long as this is there.
pub(crate) struct Mounted {
    device: Option<LoopDevice>,
    directory: tempfile::TempDir,
}

impl Mounted {
    /// An ext4 of that many bytes on a loop device.
    pub(crate) fn ext4(bytes: u64) -> Self {
        let device = LoopDevice::in_memory(bytes);
        let path = device.path().display().to_string();
        tool("mkfs.ext4", &["-q", &path]);
        let mut mounted = Self::mount(&[&path]);
        mounted.device = Some(device);
        mounted
    }

    /// A tmpfs of that many bytes.
    pub(crate) fn tmpfs(bytes: u64) -> Self {
        Self::mount(&["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"])
    }

    /// A ramfs, which has no direct I/O.
    pub(crate) fn ramfs() -> Self {
        Self::mount(&["-t", "ramfs", "ramfs"])
    }

    fn mount(arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let at = directory.path().display().to_string();
        tool("mount", &[arguments, &[&at]].concat());
        Self { device: None, directory }
    }

    /// The device that it is on.
    pub(crate) fn device(&self) -> &Path {
        self.device.as_ref().expect("it is on a device").path()
    }

    /// Where it is mounted.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        tool("umount", &["--lazy", &self.directory.path().display().to_string()]);
    }
}

/// Runs a tool of the system that must succeed; what it prints.
pub(crate) fn tool(name: &str, arguments: &[&str]) -> String {
    let output =
        Command::new(name).args(arguments).output().unwrap_or_else(|error| panic!("{name}: {error}"));
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {arguments:?} (needs root): {words}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
