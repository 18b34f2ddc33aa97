//! The kernel's RBD client in sysfs: what it can, what it has mapped, and how it is told to map and unmap.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::ceph::Features;
use crate::target::Error;
use crate::target::mapped::full_name;
use crate::target::sysfs::attribute;

/// Where the kernel's client is.
#[derive(Clone, Debug)]
pub(super) struct Bus(PathBuf);

/// A mapping of this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::target) struct Entry {
    /// Its number, as in `/dev/rbd0`.
    pub(in crate::target) id: u32,
    /// The pool.
    pub(in crate::target) pool: String,
    /// The namespace within it; empty for the default one.
    pub(in crate::target) namespace: String,
    /// The image.
    pub(in crate::target) image: String,
    /// The snapshot, if it is one that is mapped.
    pub(in crate::target) snapshot: Option<String>,
    /// The cluster's id.
    pub(in crate::target) fsid: Option<String>,
    /// What it was mapped with; only root may read it.
    config: String,
}

impl Bus {
    /// The client of this host's kernel; its module is loaded if it is there.
    ///
    /// # Errors
    /// [`Error::NoKrbd`] if the kernel has none.
    pub(super) fn of_kernel() -> Result<Self, Error> {
        if Self::there().is_none() {
            // As the `rbd` tool does; whether it succeeded shows below.
            let quiet = || Stdio::null();
            let _ =
                Command::new("modprobe").arg("rbd").stdin(quiet()).stdout(quiet()).stderr(quiet()).status();
        }
        Self::there().ok_or(Error::NoKrbd)
    }

    /// The same, as far as it is loaded.
    pub(super) fn there() -> Option<Self> {
        let path = Path::new("/sys/bus/rbd");
        path.exists().then(|| Self(path.to_owned()))
    }

    /// The image features that the kernel knows; `None` where it does not tell, before 4.11.
    pub(super) fn supported(&self) -> Option<Features> {
        let text = attribute(&self.0.join("supported_features"))?;
        u64::from_str_radix(text.trim_start_matches("0x"), 16).ok().map(Features::from_bits)
    }

    /// All mappings of this host.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let devices = fs::read_dir(self.0.join("devices")).into_iter().flatten().flatten();
        devices.filter_map(|device| entry(&device.path())).collect()
    }

    /// Maps what a line says. Blocks until it is mapped, or the line's `mount_timeout` passes.
    pub(super) fn add(&self, line: &str) -> io::Result<()> {
        self.tell("add", line)
    }

    /// Unmaps; by `force` also while it is open, failing what is under way.
    pub(super) fn remove(&self, id: u32, force: bool) -> io::Result<()> {
        self.tell("remove", &format!("{id}{}", if force { " force" } else { "" }))
    }

    /// Where all mappings share one major number, the files for that must be used.
    fn tell(&self, verb: &str, line: &str) -> io::Result<()> {
        let single = self.0.join(format!("{verb}_single_major"));
        fs::write(if single.exists() { single } else { self.0.join(verb) }, line)
    }
}

impl Entry {
    /// Its block device.
    pub(in crate::target) fn device(&self) -> PathBuf {
        device(self.id)
    }

    /// The name of the key that it was mapped with.
    pub(in crate::target) fn key(&self) -> Option<&str> {
        let options = self.config.split_whitespace().nth(1)?;
        options.split(',').find_map(|option| option.strip_prefix("key="))
    }

    /// The image as the `rbd` tool takes it.
    pub(in crate::target) fn full_name(&self) -> String {
        full_name(&self.pool, &self.namespace, &self.image, self.snapshot.as_deref())
    }
}

/// The block device of a mapping.
pub(super) fn device(id: u32) -> PathBuf {
    PathBuf::from(format!("/dev/rbd{id}"))
}

fn entry(device: &Path) -> Option<Entry> {
    let read = |name: &str| attribute(&device.join(name));
    let snapshot = read("current_snap").filter(|name| name != "-");
    Some(Entry {
        id: device.file_name()?.to_str()?.parse().ok()?,
        pool: read("pool")?,
        namespace: read("pool_ns").unwrap_or_default(),
        image: read("name")?,
        snapshot,
        fsid: read("cluster_fsid"),
        config: read("config_info").unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plain files stand for sysfs.
    fn bus(single_major: bool) -> (tempfile::TempDir, Bus) {
        let root = tempfile::tempdir().unwrap();
        let device = root.path().join("devices/3");
        fs::create_dir_all(&device).unwrap();
        for (name, text) in [
            ("pool", "rbd"),
            ("pool_ns", ""),
            ("name", "vol1"),
            ("current_snap", "-"),
            ("config_info", "10.0.0.1:3300 name=admin,key=cephmark-x rbd vol1 -"),
        ] {
            fs::write(device.join(name), format!("{text}\n")).unwrap();
        }
        fs::write(root.path().join("supported_features"), "0x1bf\n").unwrap();
        for verb in ["add", "remove"] {
            fs::write(root.path().join(verb), "").unwrap();
            if single_major {
                fs::write(root.path().join(format!("{verb}_single_major")), "").unwrap();
            }
        }
        let bus = Bus(root.path().to_owned());
        (root, bus)
    }

    #[test]
    fn a_mapping_tells_what_it_maps_and_by_which_key() {
        let (_root, bus) = bus(true);
        let [entry] = &bus.entries()[..] else { panic!("one mapping") };
        assert_eq!((entry.id, entry.pool.as_str(), entry.image.as_str()), (3, "rbd", "vol1"));
        assert_eq!((entry.full_name().as_str(), entry.key()), ("rbd/vol1", Some("cephmark-x")));
    }

    #[test]
    fn a_name_that_looks_like_a_key_is_none() {
        let (root, bus) = bus(true);
        fs::write(root.path().join("devices/3/config_info"), "10.0.0.1:3300 name=admin rbd key=cephmark-x -")
            .unwrap();
        assert_eq!(bus.entries()[0].key(), None);
    }

    #[test]
    fn features_that_the_kernel_lacks_are_seen() {
        let (_root, bus) = bus(true);
        let supported = bus.supported().unwrap();
        assert!(supported.contains("layering,exclusive-lock,object-map".parse().unwrap()));
        assert!(!supported.contains("journaling".parse().unwrap()));
    }

    #[test]
    fn the_files_of_a_single_major_number_are_used_where_there_are_any() {
        for (single, file) in [(true, "remove_single_major"), (false, "remove")] {
            let (root, bus) = bus(single);
            bus.remove(3, true).unwrap();
            assert_eq!(fs::read_to_string(root.path().join(file)).unwrap(), "3 force");
        }
    }
}
