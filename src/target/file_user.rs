//! Who else uses a file that is about to be overwritten: a loop device, the kernel as swap, a process that has it open.
#![expect(unsafe_code, reason = "asks for a lease, which nix has no call for")]

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::errno::Errno;

use super::Error;
use super::file_set::file_system;
use super::sysfs::{attribute, loop_devices, swaps};

/// File systems whose servers grant leases: that they don't tells nothing about other users of a file.
const LEASED_BY_A_SERVER: [&str; 3] = ["nfs", "cifs", "smb"];

/// Checks that nobody else uses a file whose data is going to be lost. This process must not have it open.
///
/// # Errors
/// [`Error::InUse`] with who uses it, [`Error::Path`] if it can't be looked at.
pub fn refuse_if_used(path: &Path) -> Result<(), Error> {
    match user(path).map_err(|error| Error::path("look at", path, error))? {
        Some(by) => Err(Error::InUse { path: path.to_owned(), by }),
        None => Ok(()),
    }
}

/// Who uses it, in words.
fn user(path: &Path) -> io::Result<Option<String>> {
    let about = fs::metadata(path)?;
    let is_it = |other: &Path| fs::metadata(other).is_ok_and(|other| same(&about, &other));
    if let Some((name, _)) = loop_devices().find(|(_, backing)| is_it(Path::new(backing))) {
        return Ok(Some(format!(
            "loop device {name} is built on it; `umount` what is mounted of /dev/{name}, and `losetup --detach \
             /dev/{name}` first"
        )));
    }
    if let Some(swap) = swaps().into_iter().find(|swap| is_it(Path::new(swap))) {
        return Ok(Some(format!("it is used as swap; `swapoff {swap}` first")));
    }
    if !is_open_elsewhere(path)? {
        return Ok(None);
    }
    if let Some(process) = process(&about) {
        return Ok(Some(format!("{process} has it open; end that first")));
    }
    let kind = file_system(path);
    let known = !LEASED_BY_A_SERVER.iter().any(|server| kind.starts_with(server));
    Ok(known.then(|| format!("another process has it open; find it with `fuser -v {}`", path.display())))
}

fn same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Whether anybody else has a file open: only the sole opener of a file is given a lease to write it. Of file systems
/// without leases, and to whom may not ask, nobody.
///
/// Implements: `fcntl(F_SETLEASE)`.
fn is_open_elsewhere(path: &Path) -> io::Result<bool> {
    // Whoever has a lease would make a plain open wait.
    let opened = File::options().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(path);
    let file = match opened {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
        opened => opened?,
    };
    // SAFETY: the descriptor is open for as long as `file` lives, and the command takes an integer.
    let leased = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_WRLCK) };
    // Closing the file gives the lease back.
    Ok(Errno::result(leased) == Err(Errno::EAGAIN))
}

/// The process that has a file open, as far as this user may see.
fn process(file: &Metadata) -> Option<String> {
    let has_it_open = |process: &Path| {
        let files = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        files.filter_map(|entry| fs::metadata(entry.path()).ok()).any(|other| same(file, &other))
    };
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let number: u32 = entry.file_name().to_str()?.parse().ok()?;
        let is_it = number != std::process::id() && has_it_open(&entry.path());
        is_it.then(|| {
            let name = attribute(&entry.path().join("comm")).unwrap_or_default();
            format!("process {number} ({name})")
        })
    })
}
