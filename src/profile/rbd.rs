//! RBD images as a target.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// RBD images: made and removed by cephmark (`size`), or one that exists (`image`).
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rbd {
    /// Pool of the images; `rbd` by default.
    pub pool: Option<String>,
    /// Namespace within the pool.
    pub namespace: Option<String>,
    /// An existing image or snapshot, `[POOL/[NAMESPACE/]]IMAGE[@SNAPSHOT]`: never created, resized or removed.
    pub image: Option<String>,
    /// Size of each image that cephmark makes.
    pub size: Option<Bytes>,
    /// How many images an arm has; the load is spread over all of them.
    pub images: u32,
    /// Size of the RADOS objects an image is made of; a power of two from 4KiB to 32MiB. Ceph's default is 4MiB.
    pub object_size: Option<Bytes>,
    /// Image features, the same for all arms; without it the cluster's `rbd_default_features`.
    pub features: Option<Vec<Feature>>,
    /// Bytes put into one object before the next, with `stripe_count`.
    pub stripe_unit: Option<Bytes>,
    /// Objects written in turn, with `stripe_unit`.
    pub stripe_count: Option<u32>,
    /// Pool of the data, where it is another than that of the image's metadata.
    pub data_pool: Option<String>,
    /// Which client does the I/O.
    pub client: RbdClient,
}

impl Default for Rbd {
    fn default() -> Self {
        Self {
            pool: None,
            namespace: None,
            image: None,
            size: None,
            images: 1,
            object_size: None,
            features: None,
            stripe_unit: None,
            stripe_count: None,
            data_pool: None,
            client: RbdClient::default(),
        }
    }
}

/// A client of RBD.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RbdClient {
    /// The userspace library.
    #[default]
    Librbd,
    /// The kernel's client.
    Krbd,
    /// The kernel's nbd driver over librbd.
    Nbd,
}

/// A feature of an image, in the `rbd` tool's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// Clones of snapshots.
    Layering,
    /// Striping over several objects.
    Striping,
    /// One writer at a time.
    ExclusiveLock,
    /// A map of the objects that exist; needs exclusive-lock.
    ObjectMap,
    /// Fast calculation of differences; needs object-map.
    FastDiff,
    /// Flattening of snapshots too.
    DeepFlatten,
    /// A journal of all writes; needs exclusive-lock.
    Journaling,
}

impl Feature {
    /// Its name as the `rbd` tool writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Layering => "layering",
            Self::Striping => "striping",
            Self::ExclusiveLock => "exclusive-lock",
            Self::ObjectMap => "object-map",
            Self::FastDiff => "fast-diff",
            Self::DeepFlatten => "deep-flatten",
            Self::Journaling => "journaling",
        }
    }
}
