//! What an arm's I/O goes to: named for the whole run, and open for a trial.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::effective::{self, Effective};
use super::files::Files;
use super::librbd::Clients;
use super::mapped::{Mapped, MappedSet};
use super::{Error, FileSet, ImageSet};
use crate::ceph::ImageInfo;
use crate::plan::{Arm, ClusterSpec};
use crate::units::Bytes;

/// What an arm's I/O goes to, by its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Medium {
    /// RBD images through librbd.
    Images(ImageSet),
    /// RBD images as block devices that cephmark maps.
    Mapped(MappedSet),
    /// A file or block device through the kernel.
    Files(FileSet),
    /// Nothing.
    Null,
}

/// What an arm's I/O goes to, open.
#[derive(Debug)]
pub enum Opened {
    /// RBD images through librbd.
    Images(Clients),
    /// RBD images as block devices that cephmark maps.
    Mapped(Mapped),
    /// A file or block device through the kernel.
    Files(Files),
    /// Nothing.
    Null,
}

impl Medium {
    /// Says whether it is to be opened to be written.
    pub const fn set_writable(&mut self, writable: bool) {
        match self {
            Self::Images(images) => images.writable = writable,
            Self::Mapped(mapped) => mapped.images.writable = writable,
            Self::Files(files) => files.writable = writable,
            Self::Null => {}
        }
    }

    /// The RBD images, if that is what it is.
    #[must_use]
    pub const fn images(&self) -> Option<&ImageSet> {
        match self {
            Self::Images(images) => Some(images),
            Self::Mapped(mapped) => Some(&mapped.images),
            Self::Files(_) | Self::Null => None,
        }
    }

    /// Opens it for `threads` load threads, with the arm's options.
    ///
    /// # Errors
    /// Of connecting and opening; of the first call that does not return within the cluster's timeout.
    pub async fn open(
        &self,
        cluster: &ClusterSpec,
        arm: &Arm,
        threads: usize,
        cancel: &CancellationToken,
    ) -> Result<Opened, Error> {
        Ok(match self {
            Self::Images(images) => {
                Opened::Images(Clients::open(cluster, arm, images, threads, cancel).await?)
            }
            Self::Mapped(mapped) => {
                Opened::Mapped(Mapped::open(cluster, arm, mapped, threads, cancel).await?)
            }
            Self::Files(files) => {
                let sets = std::slice::from_ref(files);
                Opened::Files(Files::open(sets, threads, arm.handles, cluster.timeout, cancel).await?)
            }
            Self::Null => Opened::Null,
        })
    }
}

impl Opened {
    /// What the kernel does the I/O of, if it does it.
    #[must_use]
    pub const fn files(&self) -> Option<&Files> {
        match self {
            Self::Files(files) => Some(files),
            Self::Mapped(mapped) => Some(mapped.files()),
            Self::Images(_) | Self::Null => None,
        }
    }

    /// Ceph options in effect.
    ///
    /// # Errors
    /// Of reading them back.
    pub async fn effective(&self, arm: &Arm, cancel: &CancellationToken) -> Result<Vec<Effective>, Error> {
        match self {
            Self::Images(clients) => Ok(clients.effective(arm, cancel).await?),
            Self::Mapped(mapped) => Ok(mapped.effective().to_vec()),
            Self::Files(_) | Self::Null => Ok(Vec::new()),
        }
    }

    /// What else is in effect that a fair comparison wants alike.
    ///
    /// # Errors
    /// Of asking.
    pub async fn conditions(&self, cancel: &CancellationToken) -> Result<BTreeMap<String, String>, Error> {
        match self {
            Self::Images(clients) => Ok(image_conditions(&clients.look(cancel).await?).into()),
            Self::Mapped(mapped) => Ok(mapped.conditions().clone()),
            Self::Files(files) => Ok(files.conditions().clone()),
            Self::Null => Ok(BTreeMap::new()),
        }
    }

    /// Whether a write is durable once it is acknowledged; `None` where it is not known.
    #[must_use]
    pub fn durable_on_ack(&self, effective: &[Effective]) -> Option<bool> {
        let option = |name: &str| {
            effective.iter().find(|option| option.name == name).map(|option| option.value.clone())
        };
        match self {
            // Its device would flush at any rate; whether there is something to flush is known to its options alone.
            Self::Mapped(mapped) if !mapped.effective().is_empty() => {
                Some(effective::librbd_holds(&option) == Bytes(0))
            }
            Self::Images(_) => Some(effective::librbd_holds(&option) == Bytes(0)),
            Self::Mapped(mapped) => mapped.files().durable_on_ack(),
            Self::Files(files) => files.durable_on_ack(),
            Self::Null => Some(true),
        }
    }

    /// Makes durable what clients and the kernel hold.
    ///
    /// # Errors
    /// Of the flush; [`crate::ceph::Error::Stuck`] after `limit`.
    pub async fn flush(&self, limit: Duration) -> Result<(), Error> {
        match self {
            Self::Images(clients) => Ok(clients.flush(limit).await?),
            Self::Mapped(mapped) => mapped.files().flush(limit).await,
            Self::Files(files) => files.flush(limit).await,
            Self::Null => Ok(()),
        }
    }

    /// The clients' performance counters.
    ///
    /// # Errors
    /// If a client does not answer.
    pub async fn counters(&self) -> Result<BTreeMap<String, Value>, Error> {
        match self {
            Self::Images(clients) => Ok(clients.counters().await?),
            Self::Mapped(_) | Self::Files(_) | Self::Null => Ok(BTreeMap::new()),
        }
    }

    /// Closes and disconnects. Lanes that still hold handles must be gone.
    ///
    /// # Errors
    /// Of closing.
    pub async fn close(self) -> Result<(), Error> {
        match self {
            Self::Images(clients) => Ok(clients.close().await?),
            Self::Mapped(mapped) => mapped.close().await,
            Self::Files(files) => files.close().await,
            Self::Null => Ok(()),
        }
    }
}

/// What of an image a fair comparison wants alike.
pub(super) fn image_conditions(info: &ImageInfo) -> [(String, String); 4] {
    let found = [
        ("image_size", info.size.to_string()),
        ("object_size", info.object_size.to_string()),
        ("features", info.features.to_string()),
        ("stripe", format!("{}x{}", info.stripe_unit, info.stripe_count)),
    ];
    found.map(|(name, value)| (name.to_owned(), value))
}
