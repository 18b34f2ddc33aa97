//! The packages that a guest is made of: downloaded once, unpacked, never installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A directory with the packages' files, as they would lie below the root.
pub(crate) struct Packages(PathBuf);

impl Packages {
    /// Downloads them unless an earlier run of the tests has.
    pub(crate) fn get() -> Self {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guest-packages");
        if !dir.exists() {
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/guest-packages.sh");
            let output = Command::new(script).arg(&dir).output().expect("the script runs");
            let words = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "no packages for the guest: {words}");
        }
        Self(dir)
    }

    /// The compressed kernel.
    pub(crate) fn kernel(&self) -> PathBuf {
        let mut files = entries(&self.0.join("boot")).into_iter();
        files.find(|path| name(path).starts_with("vmlinuz-")).expect("a kernel")
    }

    /// The directory with the kernel's modules.
    pub(crate) fn modules(&self) -> PathBuf {
        entries(&self.0.join("lib/modules")).pop().expect("its modules")
    }

    /// A static program that is a shell and its tools.
    pub(crate) fn busybox(&self) -> PathBuf {
        self.0.join("bin/busybox")
    }

    /// The program that drives an image through librbd as a network block device.
    pub(crate) fn rbd_nbd(&self) -> PathBuf {
        self.0.join("usr/bin/rbd-nbd")
    }

    /// The directories of its libraries.
    pub(crate) fn libraries(&self) -> [PathBuf; 2] {
        ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"].map(|place| self.0.join(place))
    }
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
