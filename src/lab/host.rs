//! Whether this host has room for the OSDs of a lab. Asked before, since a memstore that fills the memory takes
//! strangers with it.

use std::fs;
use std::path::Path;

use nix::sys::statvfs::statvfs;

use super::{Error, LabSpec, ObjectStore};
use crate::units::Bytes;

/// For the monitor's store, logs and the daemons themselves.
const AIR: u64 = 512 << 20;

/// Refuses a lab that would not fit.
pub(super) fn check_room(spec: &LabSpec) -> Result<(), Error> {
    let needed = Bytes(spec.size.get().saturating_mul(spec.osds.into()).saturating_add(AIR));
    let (what, free, remedy) = match spec.objectstore {
        ObjectStore::MemStore => {
            ("memory".to_owned(), memory_free(), "take a smaller --size, or --objectstore bluestore")
        }
        ObjectStore::BlueStore => {
            let disk = existing(&spec.dir);
            (
                format!("the disk of {}", disk.display()),
                disk_free(disk),
                "take a smaller --size, or another --dir",
            )
        }
    };
    match free {
        Some(free) if free < needed => {
            Err(Error::Room { osds: spec.osds, size: spec.size, needed, what, free: round(free), remedy })
        }
        _ => Ok(()),
    }
}

/// What the host and our control group leave; none where neither says.
fn memory_free() -> Option<Bytes> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok();
    let host = meminfo.as_deref().and_then(available);
    [host, group_free()].into_iter().flatten().min()
}

fn available(meminfo: &str) -> Option<Bytes> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(Bytes(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10))
}

/// In a container the group's limit may be far below the host's memory. Its files are at the root of the mount there.
fn group_free() -> Option<Bytes> {
    let number = |file: &str| {
        fs::read_to_string(Path::new("/sys/fs/cgroup").join(file)).ok()?.trim().parse::<u64>().ok()
    };
    let pair = |limit, used| Some(Bytes(number(limit)?.saturating_sub(number(used)?)));
    pair("memory.max", "memory.current")
        .or_else(|| pair("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"))
}

fn disk_free(path: &Path) -> Option<Bytes> {
    let stat = statvfs(path).ok()?;
    Some(Bytes(stat.blocks_available().saturating_mul(stat.fragment_size())))
}

/// The directory itself, or the nearest above it that exists.
fn existing(dir: &Path) -> &Path {
    dir.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."))
}

fn round(bytes: Bytes) -> Bytes {
    Bytes(bytes.get() >> 20 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lab_larger_than_the_host_is_refused_with_a_remedy() {
        for (objectstore, what) in
            [(ObjectStore::MemStore, "of memory"), (ObjectStore::BlueStore, "the disk of /")]
        {
            let spec = LabSpec { objectstore, size: Bytes(1 << 60), ..LabSpec::new("/absent/lab") };
            let text = check_room(&spec).unwrap_err().to_string();
            assert!(text.contains(what) && text.contains("smaller --size"), "{text}");
        }
    }

    #[test]
    fn available_memory_is_read_from_meminfo() {
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:   2048 kB\n"), Some(Bytes(2 << 20)));
        assert_eq!(available("MemTotal: 9 kB\n"), None);
    }
}
