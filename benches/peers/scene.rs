//! What all programs find alike: a directory, a device, a cluster's configuration, and images.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cephmark::units::Bytes;
use tempfile::TempDir;

use crate::device::LoopDevice;
use crate::error::Error;
use crate::program;

/// Settings that every client of librbd has here, whoever starts it. Reads that may copy up take the lock, without which
/// the object map is not used.
const SETTINGS: &str = "\n[client]\nrbd_cache = false\nrbd_clone_copy_on_read = true\n";
/// Longer than creating or removing an image takes.
const IMAGE_LIMIT: Duration = Duration::from_secs(60);

/// A directory for files, and where there are, a device and a cluster with two images; all is gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Scene {
    directory: TempDir,
    cluster: Option<Cluster>,
    device: Option<LoopDevice>,
    /// The images made so far.
    images: Vec<&'static str>,
}

#[derive(Debug)]
struct Cluster {
    conf: PathBuf,
    pool: String,
}

impl Scene {
    /// The image without an object.
    pub(crate) const EMPTY: &str = "cephmark-peers-empty";
    /// The image full of data.
    pub(crate) const FULL: &str = "cephmark-peers-full";
    /// Size of what has no data: blocks enough for fio's map of what it has done not to be full at once.
    pub(crate) const EMPTY_SIZE: Bytes = Bytes(64 << 30);
    const FULL_SIZE: Bytes = Bytes(256 << 20);

    /// A place without a cluster.
    ///
    /// # Errors
    /// [`Error::File`] if there can be no directory.
    pub(crate) fn bare() -> Result<Self, Error> {
        let directory = tempfile::Builder::new().prefix("cephmark-peers-").tempdir()?;
        Ok(Self { directory, cluster: None, device: None, images: Vec::new() })
    }

    /// Makes the images on the cluster that `CEPH_CONF` names.
    ///
    /// # Errors
    /// [`Error::NoCluster`]; [`Error`] if the images can't be made.
    pub(crate) fn on_cluster(pool: &str) -> Result<Self, Error> {
        let mut scene = Self::bare()?;
        let original = env::var_os("CEPH_CONF").ok_or(Error::NoCluster)?;
        let conf = scene.path("ceph.conf");
        fs::write(&conf, fs::read_to_string(original)? + SETTINGS)?;
        scene.cluster = Some(Cluster { conf, pool: pool.to_owned() });
        for (image, size) in [(Self::EMPTY, Self::EMPTY_SIZE), (Self::FULL, Self::FULL_SIZE)] {
            scene.make(image, size)?;
        }
        Ok(scene)
    }

    /// Makes the device.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub(crate) fn add_device(&mut self) -> Result<(), Error> {
        self.device = Some(LoopDevice::in_memory(Self::FULL_SIZE)?);
        Ok(())
    }

    /// The device's path.
    pub(crate) fn device(&self) -> &Path {
        self.device.as_ref().map_or(Path::new(""), LoopDevice::path)
    }

    /// A file of this name in the directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The pool of the images.
    pub(crate) fn pool(&self) -> &str {
        self.cluster.as_ref().map_or("rbd", |cluster| &cluster.pool)
    }

    /// Makes a command use the cluster, and the directory.
    pub(crate) fn lead<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let conf = self.cluster.as_ref().map_or(Path::new(""), |cluster| &cluster.conf);
        command.current_dir(self.directory.path()).env("CEPH_CONF", conf)
    }

    fn make(&mut self, image: &'static str, size: Bytes) -> Result<(), Error> {
        // One that a killed harness left.
        let _ = self.rbd(&["rm", "--no-progress", image]);
        let size = format!("{}B", size.get());
        let features = "layering,exclusive-lock,object-map,fast-diff,deep-flatten";
        self.rbd(&["create", "--size", &size, "--image-feature", features, image])?;
        self.images.push(image);
        Ok(())
    }

    fn rbd(&self, arguments: &[&str]) -> Result<(), Error> {
        let mut command = Command::new("rbd");
        command.args(["--pool", self.pool()]).args(arguments);
        program::run(self.lead(&mut command), IMAGE_LIMIT).map(drop)
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        for image in &self.images {
            if let Err(error) = self.rbd(&["rm", "--no-progress", image]) {
                eprintln!("peers: image {image} stays: {error}");
            }
        }
    }
}
