//! Images mapped by the kernel's client, each for as long as its guard is held.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;

use super::bus::{self, Bus, Entry};
use super::key::{self, KernelKey};
use super::line::{self, Line};
use crate::ceph::{self, Cluster, Features, finish_within};
use crate::console::say;
use crate::target::{Error, MappedSet};

/// How long others, such as a udev that looks for file systems, may keep a device open that is to be unmapped.
const BUSY_PATIENCE: Duration = Duration::from_secs(10);
/// How long unmapping may take; the kernel has to end its watch with the cluster.
const UNMAP_LIMIT: Duration = Duration::from_secs(30);
/// The same for a process that ends at once.
const LAST_LIMIT: Duration = Duration::from_secs(2);
/// How long the node of a new device may take to appear.
const NODE_PATIENCE: Duration = Duration::from_secs(10);

/// Every mapping that this process made and has not undone.
static MAPPED: Mutex<Vec<(Bus, u32)>> = Mutex::new(Vec::new());

/// An image mapped by the kernel's client; unmapped when this is dropped.
#[derive(Debug)]
pub(in crate::target) struct Krbd {
    id: u32,
    /// How the kernel's connections are protected, in the words of librbd's option.
    pub(in crate::target) messenger_mode: String,
}

impl Krbd {
    /// Its block device.
    pub(in crate::target) fn device(&self) -> PathBuf {
        bus::device(self.id)
    }

    /// Unmaps it; everything that has it open must be closed. Blocks for as long as the kernel takes.
    ///
    /// # Errors
    /// [`Error::Unmap`].
    pub(in crate::target) fn unmap(self) -> Result<(), Error> {
        self.remove()
    }

    fn remove(&self) -> Result<(), Error> {
        let mut all = mapped();
        let Some(index) = all.iter().position(|(_, id)| *id == self.id) else { return Ok(()) };
        let (bus, id) = all.remove(index);
        drop(all);
        let removed = finish_within("unmapping an image", UNMAP_LIMIT, move || Ok(remove(&bus, id, false)));
        let error = |reason: String| Error::Unmap { device: self.device(), reason };
        match removed {
            Ok(removed) => removed.map_err(|reason| error(reason.to_string())),
            Err(stuck) => Err(error(stuck.to_string())),
        }
    }
}

impl Drop for Krbd {
    fn drop(&mut self) {
        if let Err(error) = self.remove() {
            say(error);
        }
    }
}

/// Unmaps all that is mapped, open or not: for a process that ends without dropping what it holds.
pub(in crate::target) fn unmap_all() {
    let all: Vec<_> = mapped().drain(..).collect();
    if !all.is_empty() {
        // What the kernel can't end now is left to `cephmark clean`.
        let _ = finish_within("unmapping", LAST_LIMIT, move || {
            all.iter().for_each(|(bus, id)| drop(remove(bus, *id, true)));
            Ok(())
        });
    }
}

fn mapped() -> MutexGuard<'static, Vec<(Bus, u32)>> {
    MAPPED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All mappings of this host, whoever made them; a kernel without the module has none.
pub(in crate::target) fn mappings() -> Vec<Entry> {
    Bus::there().map(|bus| bus.entries()).unwrap_or_default()
}

/// Unmaps a device that another process left.
///
/// # Errors
/// [`Error::Unmap`].
pub(in crate::target) fn unmap(id: u32) -> Result<(), Error> {
    let error = |reason: io::Error| Error::Unmap { device: bus::device(id), reason: reason.to_string() };
    remove(&Bus::of_kernel()?, id, false).map_err(error)
}

/// Unmaps, and waits for others to close the device.
fn remove(bus: &Bus, id: u32, force: bool) -> io::Result<()> {
    let until = Instant::now() + BUSY_PATIENCE;
    loop {
        match bus.remove(id, force) {
            Err(error) if errno(&error) == Some(Errno::EBUSY) && Instant::now() < until => {
                thread::sleep(Duration::from_millis(20));
            }
            Err(error) if errno(&error) == Some(Errno::ENOENT) => return Ok(()),
            outcome => return outcome,
        }
    }
}

/// Maps one of an arm's images. Blocks until it is mapped, or the monitors did not answer within the connection's timeout.
///
/// # Errors
/// [`Error::Map`], [`Error::Secret`], [`Error::NoKrbd`]; of asking the cluster.
pub(in crate::target) fn map(cluster: &Cluster, set: &MappedSet, image: &str) -> Result<Krbd, Error> {
    let bus = Bus::of_kernel()?;
    let MappedSet { images, mapping, mark } = set;
    let error = |reason: String| Error::Map { image: set.full_name(image), client: "krbd", reason };
    let like_librbd = line::mode_like_librbd(&cluster.option("ms_client_mode")?);
    let (ms_mode, monitors) = reachable(cluster, mapping.option("ms_mode"), like_librbd)?;
    let secret = key::secret(cluster)?;
    let key = secret.as_ref().map(|secret| KernelKey::add(mark, secret)).transpose();
    // Held until the kernel has read it.
    let key = key.map_err(|reason| error(format!("the kernel takes no key from this process: {reason}")))?;
    let line = Line {
        monitors: &monitors,
        user: cluster.user().strip_prefix("client.").unwrap_or(cluster.user()),
        key: key.is_some().then_some(mark.as_str()),
        ms_mode,
        timeout: cluster.timeout(),
        mapping,
        pool: &images.pool,
        namespace: images.namespace.as_deref(),
        image,
        snapshot: images.snapshot.as_deref(),
        writable: images.writable,
    };
    let before: Vec<u32> = bus.entries().iter().map(|entry| entry.id).collect();
    bus.add(&line.text()).map_err(|reason| error(why(&reason, &monitors)))?;
    let is_ours = |entry: &Entry| {
        !before.contains(&entry.id)
            && entry.key() == line.key
            && (&entry.pool, entry.image.as_str()) == (&images.pool, image)
            && (entry.namespace.as_str(), entry.snapshot.as_deref())
                == (images.namespace.as_deref().unwrap_or_default(), images.snapshot.as_deref())
    };
    let found = bus.entries().into_iter().find(is_ours);
    let id = found.ok_or_else(|| error("it does not appear in sysfs; see `dmesg`".to_owned()))?.id;
    mapped().push((bus, id));
    let krbd = Krbd { id, messenger_mode: line::mode_in_words_of_librbd(ms_mode).to_owned() };
    wait_for(&krbd.device()).map_err(error)?;
    Ok(krbd)
}

/// The messenger's mode, and the monitors' addresses that speak it. Without one asked for it is like librbd's, or that
/// of monitors that speak only the old protocol.
fn reachable<'a>(
    cluster: &Cluster,
    asked: Option<&'a str>,
    like_librbd: &'a str,
) -> Result<(&'a str, Vec<String>), ceph::Error> {
    let mode = asked.unwrap_or(like_librbd);
    let monitors = cluster.monitor_addresses(if mode == "legacy" { "v1" } else { "v2" })?;
    if monitors.is_empty() && asked.is_none() {
        return Ok(("legacy", cluster.monitor_addresses("v1")?));
    }
    Ok((mode, monitors))
}

/// The node is the work of devtmpfs or udev, neither of which the mapping waits for.
fn wait_for(device: &Path) -> Result<(), String> {
    let until = Instant::now() + NODE_PATIENCE;
    while !device.exists() {
        if Instant::now() > until {
            let device = device.display();
            return Err(format!("{device} does not appear; a container needs the /dev of its host"));
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

fn errno(error: &io::Error) -> Option<Errno> {
    error.raw_os_error().map(Errno::from_raw)
}

/// Why the kernel did not map, and what to do about it.
fn why(error: &io::Error, monitors: &[String]) -> String {
    let remedy = match errno(error) {
        Some(Errno::EACCES | Errno::EPERM) => {
            "only root of this host may map; see also `ceph auth get <user>`"
        }
        Some(Errno::EROFS) => {
            "sysfs can't be written, as in a container that is not privileged, or a snapshot needs `ro`"
        }
        Some(Errno::EINVAL) => {
            "it does not take one of `map_options`, see `dmesg`; before Linux 5.11 there is only `ms_mode=legacy`"
        }
        Some(Errno::ENXIO) => "it lacks a feature of the image; see `dmesg`",
        Some(Errno::ENOENT) => "there is no such image or snapshot; see `rbd ls` and `rbd snap ls`",
        Some(Errno::ETIMEDOUT | Errno::EIO) => {
            return format!(
                "{error}; the kernel got no answer from the monitors at {}, see `dmesg`",
                monitors.join(",")
            );
        }
        _ => "see `dmesg`",
    };
    format!("{error}; {remedy}")
}

/// Refuses what the kernel can't map, before anything is written. `image` is the image's name as `rbd` takes it, or
/// `None` for images that are to be made.
///
/// # Errors
/// [`Error::NoKrbd`], [`Error::Unsupported`] with the features that the kernel lacks, [`Error::Map`] where it takes no
/// keys.
pub fn check_mappable(features: Features, image: Option<&str>) -> Result<(), Error> {
    let bus = Bus::of_kernel()?;
    if let Some(lacking) = bus.supported().map(|supported| features.without(supported))
        && lacking != Features::default()
    {
        let remedy = match image {
            Some(image) => format!("`rbd feature disable {image} {}`", lacking.to_string().replace(',', " ")),
            None => "take it out of `features`".to_owned(),
        };
        return Err(Error::Unsupported {
            image: image.unwrap_or("new images").to_owned(),
            lacking: lacking.to_string(),
            remedy,
        });
    }
    key::may_add().map_err(|errno| Error::Map {
        image: image.unwrap_or("new images").to_owned(),
        client: "krbd",
        reason: format!("the kernel takes no keys from this process ({errno}); run as root, in a container a privileged one"),
    })
}
