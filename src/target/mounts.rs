//! The file systems that are mounted, as the kernel lists them.

use std::io;
use std::path::{Path, PathBuf};

use super::sysfs::unescape;

/// A file system mounted at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    /// Number of its device, as sysfs writes it; one of no device for a file system that lies on several.
    pub(super) number: String,
    /// Where it is mounted.
    pub(super) place: PathBuf,
    /// Its type, such as `ext4` or `fuse.glusterfs`.
    pub(super) kind: String,
    /// What is mounted: a device, or what the file system calls its source.
    pub(super) source: String,
}

impl Mount {
    /// All of them, in the order in which they were mounted.
    ///
    /// # Errors
    /// Of reading `/proc/self/mountinfo`.
    pub(super) fn all() -> io::Result<Vec<Self>> {
        Ok(std::fs::read_to_string("/proc/self/mountinfo")?.lines().filter_map(Self::parse).collect())
    }

    fn parse(line: &str) -> Option<Self> {
        let (mount, about) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(2);
        let (number, place) = (mount.next()?, mount.nth(1)?);
        let mut about = about.split(' ');
        let (kind, source) = (about.next()?, about.next()?);
        Some(Self {
            number: number.to_owned(),
            place: unescape(place).into(),
            kind: kind.to_owned(),
            source: unescape(source),
        })
    }

    /// The one among `mounts` that a path without symbolic links lies on.
    pub(super) fn under<'a>(mounts: &'a [Self], path: &Path) -> Option<&'a Self> {
        // The last of equals lies on top.
        mounts
            .iter()
            .filter(|mount| path.starts_with(&mount.place))
            .max_by_key(|mount| mount.place.components().count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mounts() -> Vec<Mount> {
        let text = "\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
40 22 254:0 /srv/data /mnt/two\\040words rw,relatime shared:1 master:2 - ext4 /dev/vda rw
41 22 0:45 / /mnt/pool rw - btrfs /dev/vdc rw,space_cache
42 41 0:46 / /mnt/pool rw - nfs4 host:/export rw
";
        text.lines().filter_map(Mount::parse).collect()
    }

    #[test]
    fn a_mount_has_its_number_place_type_and_source() {
        let btrfs = Mount {
            number: "0:45".to_owned(),
            place: "/mnt/pool".into(),
            kind: "btrfs".to_owned(),
            source: "/dev/vdc".to_owned(),
        };
        assert_eq!(mounts()[2], btrfs);
        assert_eq!(mounts()[1].place, Path::new("/mnt/two words"), "optional fields and blanks");
    }

    #[test]
    fn a_path_lies_on_the_innermost_mount_and_of_those_on_the_last() {
        let kind = |path: &str| Mount::under(&mounts(), Path::new(path)).map(|mount| mount.kind.clone());
        assert_eq!(kind("/etc/fstab").as_deref(), Some("ext4"));
        assert_eq!(kind("/mnt/pool/file").as_deref(), Some("nfs4"));
        assert_eq!(kind("/mnt/poolside").as_deref(), Some("ext4"), "whole names count");
    }
}
