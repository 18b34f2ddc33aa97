//! A block device as the kernel shows it in sysfs: what it is, and who uses it.
//!
//! A device is free to be overwritten only if neither it nor a partition of it is mounted (anywhere below, bind mounts
//! and subvolumes too), used as swap, or part of another device: a device-mapper target such as an LVM volume, an MD
//! array, a loop device. What this process can't see, such as mounts of another namespace, the last check finds: the
//! kernel lets only one user claim a device.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::stat::{major, minor};

use super::Error;
use super::mounts::Mount;
use super::sysfs::{attribute, loop_devices, swaps};
use crate::units::Bytes;

/// A block device.
#[derive(Clone, Debug)]
pub struct Device {
    path: PathBuf,
    /// Its directory in sysfs; for a partition one within that of its disk.
    sys: PathBuf,
}

/// What begins the data of devices that belong to something, used right now or not.
const SIGNATURES: [(&[u8], &str, &str); 2] = [
    (b"LABELONE", "it is a physical volume of LVM", "pvremove"),
    (b"bluestore block device", "it holds the data of an OSD", "ceph-volume lvm zap"),
];

impl Device {
    /// The device at `path`.
    ///
    /// # Errors
    /// [`Error::Path`] if there is none.
    pub fn at(path: &Path) -> Result<Self, Error> {
        let about = fs::metadata(path).map_err(|error| Error::path("look at", path, error))?;
        if !about.file_type().is_block_device() {
            return Err(Error::Unfit {
                path: path.to_owned(),
                reason: "it is no block device; a file goes under `file`".to_owned(),
            });
        }
        Self::by_number(path, about.rdev()).map_err(|error| Error::path("look at", path, error))
    }

    /// The device that a file lies on; `None` where its file system has none of its own, as on a network.
    #[must_use]
    pub fn below(path: &Path) -> Option<Self> {
        Self::by_number(path, fs::metadata(path).ok()?.dev()).ok()
    }

    fn by_number(path: &Path, number: u64) -> io::Result<Self> {
        let sys = format!("/sys/dev/block/{}:{}", major(number), minor(number));
        Ok(Self { path: path.to_owned(), sys: fs::canonicalize(sys)? })
    }

    /// Its size.
    #[must_use]
    pub fn size(&self) -> Bytes {
        let sectors: u64 = attribute(&self.sys.join("size")).and_then(|text| text.parse().ok()).unwrap_or(0);
        Bytes(sectors * 512)
    }

    /// What direct I/O has to be a multiple of.
    #[must_use]
    pub fn logical_block(&self) -> Bytes {
        let size = attribute(&self.queue().join("logical_block_size"));
        Bytes(size.and_then(|text| text.parse().ok()).unwrap_or(512))
    }

    /// The directory of its queue's attributes; a partition has its disk's.
    #[must_use]
    pub fn queue(&self) -> PathBuf {
        self.disk().join("queue")
    }

    fn disk(&self) -> &Path {
        match self.sys.parent() {
            Some(disk) if self.sys.join("partition").exists() => disk,
            _ => &self.sys,
        }
    }

    /// Claims it, after a look at who else uses it. It stays claimed for as long as the file is open.
    ///
    /// # Errors
    /// [`Error::InUse`] with who uses it, [`Error::Path`] if it can't be opened.
    pub fn claim(&self) -> Result<File, Error> {
        let in_use = |by: String| Error::InUse { path: self.path.clone(), by };
        if let Some(by) = self.user().map_err(|error| Error::path("look at", &self.path, error))? {
            return Err(in_use(by));
        }
        let claimed = File::options().read(true).write(true).custom_flags(libc::O_EXCL).open(&self.path);
        let mut claimed = claimed.map_err(|error| match error.raw_os_error().map(Errno::from_raw) {
            Some(Errno::EBUSY) => in_use(
                "the kernel says so; see `fuser -vm`, `lsblk` and mounts of containers on this host"
                    .to_owned(),
            ),
            _ => Error::path("open", &self.path, error),
        })?;
        let mut begin = Vec::new();
        let read = claimed.by_ref().take(4 * 512).read_to_end(&mut begin);
        read.map_err(|error| Error::path("read", &self.path, error))?;
        let path = self.path.display();
        let found =
            SIGNATURES.iter().find(|(mark, ..)| begin.chunks(512).any(|sector| sector.starts_with(mark)));
        match found {
            Some((_, owner, tool)) => {
                Err(in_use(format!("{owner}; `{tool} {path}` if it is not needed any more")))
            }
            None => Ok(claimed),
        }
    }

    /// Who uses it, in words.
    fn user(&self) -> io::Result<Option<String>> {
        if attribute(&self.sys.join("ro")).as_deref() == Some("1") {
            return Ok(Some("it is read-only".to_owned()));
        }
        let family = self.family();
        for sys in &family {
            let holder =
                fs::read_dir(sys.join("holders")).ok().and_then(|mut holders| holders.next()).transpose()?;
            if let Some(holder) = holder {
                let name = holder.file_name();
                let alias = attribute(&holder.path().join("dm/name"))
                    .map_or_else(String::new, |name| format!(" ({name})"));
                return Ok(Some(format!("{}{alias} is built on {}", name.display(), name_of(sys))));
            }
        }
        let numbers: Vec<String> = family.iter().filter_map(|sys| attribute(&sys.join("dev"))).collect();
        let is_member =
            |path: &str| number_of(Path::new(path)).is_some_and(|number| numbers.contains(&number));
        let mounts = Mount::all()?;
        if let Some(Mount { source, place, .. }) = mounted(&mounts, &numbers, is_member) {
            let place = place.display();
            return Ok(Some(format!("{source} is mounted on {place}; `umount {place}` first")));
        }
        if let Some(swap) = swaps().into_iter().find(|path| is_member(path)) {
            return Ok(Some(format!("{swap} is used as swap; `swapoff {swap}` first")));
        }
        let mut loops = loop_devices();
        Ok(loops
            .find(|(_, path)| is_member(path))
            .map(|(name, path)| format!("loop device {name} is built on {path}")))
    }

    /// It, its partitions, and for a partition its disk: whoever uses one of them as a whole uses this one.
    fn family(&self) -> Vec<PathBuf> {
        let inside = fs::read_dir(&self.sys).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut family: Vec<PathBuf> = inside.filter(|path| path.join("partition").exists()).collect();
        family.push(self.sys.clone());
        if self.disk() != self.sys {
            family.push(self.disk().to_owned());
        }
        family
    }
}

/// The first of `mounts` that lies on one of these devices. File systems that lie on several devices have none of their
/// numbers, and name one of them as their source.
fn mounted<'a>(
    mounts: &'a [Mount],
    numbers: &[String],
    is_member: impl Fn(&str) -> bool,
) -> Option<&'a Mount> {
    mounts.iter().find(|mount| {
        numbers.contains(&mount.number) || mount.source.starts_with('/') && is_member(&mount.source)
    })
}

/// The number of the device at a path, as sysfs writes it.
fn number_of(path: &Path) -> Option<String> {
    let about = fs::metadata(path).ok().filter(|about| about.file_type().is_block_device())?;
    Some(format!("{}:{}", major(about.rdev()), minor(about.rdev())))
}

fn name_of(sys: &Path) -> String {
    sys.file_name().unwrap_or_default().display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_is_found_by_number_or_by_source() {
        let mount = |number: &str, place: &str, source: &str| Mount {
            number: number.to_owned(),
            place: place.into(),
            kind: "btrfs".to_owned(),
            source: source.to_owned(),
        };
        let mounts = [mount("254:0", "/", "/dev/vda"), mount("0:45", "/mnt/pool", "/dev/vdc")];
        let place = |number: &str, source: &str| {
            mounted(&mounts, &[number.to_owned()], |path| path == source).map(|mount| mount.place.clone())
        };
        assert_eq!(place("254:0", ""), Some("/".into()));
        assert_eq!(place("254:32", "/dev/vdc"), Some("/mnt/pool".into()), "a file system of several devices");
        assert_eq!(place("254:16", "/dev/vdb"), None);
    }
}
