//! RBD images as block devices of this host: mapped for a trial, used like any other device, unmapped after it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::connect::{connect_blocking, options_of};
use super::effective::{self, Effective};
use super::files::Files;
use super::krbd::{self, Krbd};
use super::nbd::{self, Nbd};
use super::{Error, FileSet, ImageSet};
use crate::ceph::{self, Cluster, ImageInfo, Role, View, within};
use crate::plan::{Arm, ClientOption, ClusterSpec, MapClient, Mapping};

/// The images of an arm, and how they are mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedSet {
    /// The images.
    pub images: ImageSet,
    /// How they become block devices.
    pub mapping: Mapping,
    /// What the mappings are known by, also after this process: `cephmark-RUN-PROCESS`.
    pub mark: String,
}

impl MappedSet {
    /// One of the images, as the `rbd` tool takes it.
    pub(super) fn full_name(&self, image: &str) -> String {
        let ImageSet { pool, namespace, snapshot, .. } = &self.images;
        full_name(pool, namespace.as_deref().unwrap_or_default(), image, snapshot.as_deref())
    }
}

/// The images of an arm, mapped and open.
#[derive(Debug)]
pub struct Mapped {
    // Before the devices, which can't be unmapped while they are open.
    files: Files,
    devices: Vec<Device>,
    conditions: BTreeMap<String, String>,
    effective: Vec<Effective>,
    limit: Duration,
}

/// One mapping.
#[derive(Debug)]
enum Device {
    Krbd(Krbd),
    Nbd(Nbd),
}

impl Mapped {
    /// Maps every image, and opens the devices for `threads` load threads.
    ///
    /// # Errors
    /// Of mapping and opening; what was mapped by then is unmapped.
    pub async fn open(
        spec: &ClusterSpec,
        arm: &Arm,
        set: &MappedSet,
        threads: usize,
        cancel: &CancellationToken,
    ) -> Result<Self, Error> {
        if cancel.is_cancelled() {
            return Err(ceph::Error::Interrupted { what: "mapping images".to_owned() }.into());
        }
        let limit = spec.timeout * 2 * u32::try_from(set.images.names.len() + 1).unwrap_or(u32::MAX);
        let (cluster, wanted, options) = (spec.clone(), set.clone(), arm.options.clone());
        // Not interruptible: a device that appears after the clean-up would stay.
        let never = CancellationToken::new();
        let mapped =
            within("mapping images", limit, &never, move || Ok(map_all(&cluster, &wanted, &options)));
        let MappedImages { devices, info, effective } = mapped.await??;
        let sets: Vec<_> = devices.iter().map(|device| device.file_set(set)).collect();
        let files = Files::open(&sets, threads, arm.handles, spec.timeout, cancel).await?;
        let conditions = conditions(set, &devices, &info, &files);
        Ok(Self { files, devices, conditions, effective, limit })
    }

    /// The open devices.
    #[must_use]
    pub const fn files(&self) -> &Files {
        &self.files
    }

    /// What is in effect.
    #[must_use]
    pub const fn conditions(&self) -> &BTreeMap<String, String> {
        &self.conditions
    }

    /// The options in effect of librbd behind the devices; none where the kernel's client is.
    #[must_use]
    pub fn effective(&self) -> &[Effective] {
        &self.effective
    }

    /// Closes and unmaps everything. Lanes that still hold files must be gone.
    ///
    /// # Errors
    /// [`Error::Unmap`] of the first device that stays; the others are unmapped all the same.
    pub async fn close(self) -> Result<(), Error> {
        let Self { files, devices, limit, .. } = self;
        let closed = files.close().await;
        let unmapped = within("unmapping images", limit, &CancellationToken::new(), move || {
            let mut outcome = Ok(());
            for device in devices {
                outcome = outcome.and(device.unmap());
            }
            Ok(outcome)
        })
        .await;
        closed.and(unmapped?)
    }
}

impl Device {
    fn path(&self) -> PathBuf {
        match self {
            Self::Krbd(krbd) => krbd.device(),
            Self::Nbd(nbd) => nbd.device().to_owned(),
        }
    }

    fn file_set(&self, set: &MappedSet) -> FileSet {
        FileSet {
            path: self.path(),
            is_device: true,
            access: set.mapping.access.clone(),
            writable: set.images.writable,
        }
    }

    fn unmap(self) -> Result<(), Error> {
        match self {
            Self::Krbd(krbd) => krbd.unmap(),
            Self::Nbd(nbd) => nbd.unmap(),
        }
    }
}

/// What mapping gave.
struct MappedImages {
    devices: Vec<Device>,
    /// What the first image looks like; all of an arm's are alike.
    info: ImageInfo,
    effective: Vec<Effective>,
}

/// Maps every image; what there is to ask for goes over a connection that is gone before the load begins. For `rbd-nbd` it
/// has the arm's options, so that what is in effect for it is in effect there.
fn map_all(spec: &ClusterSpec, set: &MappedSet, options: &[ClientOption]) -> Result<MappedImages, Error> {
    let client = set.mapping.client;
    let role = if client == MapClient::Krbd { Role::Admin } else { Role::Load };
    let cluster = connect_blocking(spec, role, &options_of(options))?;
    let (info, effective) = look(&cluster, set, options)?;
    let mut devices = Vec::new();
    for image in &set.images.names {
        devices.push(match client {
            MapClient::Krbd => {
                krbd::check_mappable(info.features, Some(&set.full_name(image)))?;
                Device::Krbd(krbd::map(&cluster, set, image)?)
            }
            MapClient::Nbd => Device::Nbd(nbd::map(&cluster, spec, set, options, image)?),
        });
    }
    cluster.close()?;
    Ok(MappedImages { devices, info, effective })
}

/// What the first image looks like, and librbd's options in effect for it.
fn look(
    cluster: &Cluster,
    set: &MappedSet,
    options: &[ClientOption],
) -> Result<(ImageInfo, Vec<Effective>), ceph::Error> {
    let pool = cluster.pool(&set.images.pool, set.images.namespace.as_deref())?;
    let view = set.images.snapshot.as_deref().map_or(View::Read, View::Snapshot);
    let image = pool.image(&set.images.names[0], view)?;
    let asked: Vec<String> = options.iter().map(|option| option.name.clone()).collect();
    let effective = match set.mapping.client {
        MapClient::Krbd => Vec::new(),
        MapClient::Nbd => effective::read(cluster, std::slice::from_ref(&image), &asked)?,
    };
    let info = image.info()?;
    image.close()?;
    Ok((info, effective))
}

/// Unmaps all that this process has mapped, open or not: for a process that ends without dropping what it holds.
pub fn unmap_all() {
    nbd::unmap_all();
    krbd::unmap_all();
}

/// An image as the `rbd` tool takes it.
pub(super) fn full_name(pool: &str, namespace: &str, image: &str, snapshot: Option<&str>) -> String {
    let namespace = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
    format!("{pool}/{namespace}{image}{}", snapshot.map_or_else(String::new, |name| format!("@{name}")))
}

fn conditions(
    set: &MappedSet,
    devices: &[Device],
    info: &ImageInfo,
    files: &Files,
) -> BTreeMap<String, String> {
    let mut conditions = files.conditions().clone();
    conditions.extend(super::medium::image_conditions(info));
    if !set.mapping.options.is_empty() {
        conditions.insert("map_options".to_owned(), set.mapping.options.join(","));
    }
    if let Some(Device::Krbd(krbd)) = devices.first() {
        conditions.insert("messenger_mode".to_owned(), krbd.messenger_mode.clone());
        let policy = match set.mapping.option("read_from_replica") {
            None | Some("no") => "default",
            Some(other) => other,
        };
        conditions.insert("read_from_replica".to_owned(), policy.to_owned());
    }
    conditions
}
