//! RBD images through librbd: connections with the arm's options, images opened over them, what is in effect.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::ImageSet;
use super::connect::{connect, options_of};
use super::effective::{self, Effective};
use crate::ceph::{self, Cluster, Image, ImageInfo, Role, within};
use crate::plan::{Arm, ClusterSpec, Sharing};

/// The clients of one arm: its connections, and for each load thread the images that it uses.
#[derive(Debug)]
pub struct Clients {
    clusters: Vec<Cluster>,
    images: Vec<Arc<[Image]>>,
    writable: bool,
    limit: Duration,
}

impl Clients {
    /// Connects and opens everything for `threads` load threads. The first flush of each image ends librbd's writing
    /// through, so that caches work from the first I/O on.
    ///
    /// # Errors
    /// Of any of the calls; of the first that does not return within the cluster's timeout.
    pub async fn open(
        spec: &ClusterSpec,
        arm: &Arm,
        set: &ImageSet,
        threads: usize,
        cancel: &CancellationToken,
    ) -> Result<Self, ceph::Error> {
        let connections = if arm.connections == Sharing::PerJob { threads } else { 1 };
        let handles = if arm.handles == Sharing::PerJob { threads } else { 1 };
        let limit = opening_limit(spec.timeout, set.names.len());
        let mut clusters = Vec::new();
        for _ in 0..connections {
            clusters.push(connect(spec, Role::Load, options_of(&arm.options), cancel).await?);
        }
        let mut images = Vec::new();
        for handle in 0..handles {
            let (cluster, set) = (clusters[handle % connections].clone(), set.clone());
            images.push(within("opening images", limit, cancel, move || open_images(&cluster, &set)).await?);
        }
        let images = (0..threads).map(|thread| Arc::clone(&images[thread % handles])).collect();
        Ok(Self { clusters, images, writable: set.writable, limit })
    }

    /// The images that a load thread uses.
    #[must_use]
    pub fn images_of(&self, thread: usize) -> Arc<[Image]> {
        Arc::clone(&self.images[thread])
    }

    /// The first image, from which what all have in common is read.
    #[must_use]
    pub fn first_image(&self) -> &Image {
        &self.images[0][0]
    }

    /// The first connection.
    #[must_use]
    pub fn first_cluster(&self) -> &Cluster {
        &self.clusters[0]
    }

    /// The options in effect: those of the first image, and what other images have otherwise.
    ///
    /// # Errors
    /// Of reading them back.
    pub async fn effective(
        &self,
        arm: &Arm,
        cancel: &CancellationToken,
    ) -> Result<Vec<Effective>, ceph::Error> {
        let (cluster, images) = (self.first_cluster().clone(), Arc::clone(&self.images[0]));
        let asked: Vec<String> = arm.options.iter().map(|option| option.name.clone()).collect();
        within("reading options back", self.limit, cancel, move || effective::read(&cluster, &images, &asked))
            .await
    }

    /// What the first image looks like; all of an arm's images are alike.
    ///
    /// # Errors
    /// Of asking.
    pub async fn look(&self, cancel: &CancellationToken) -> Result<ImageInfo, ceph::Error> {
        let image = self.first_image().clone();
        within("looking at the image", self.limit, cancel, move || image.info()).await
    }

    /// Makes durable what the clients still hold; nothing to do for images that are only read. Not interruptible: data
    /// that was acknowledged is at stake.
    ///
    /// # Errors
    /// Of the flush; [`ceph::Error::Stuck`] after `limit`.
    pub async fn flush(&self, limit: Duration) -> Result<(), ceph::Error> {
        if !self.writable {
            return Ok(());
        }
        let images = self.distinct_images();
        within("flushing the client's cache", limit, &CancellationToken::new(), move || {
            images.iter().try_for_each(Image::flush)
        })
        .await
    }

    /// Drops what the clients have cached, after writing back what is dirty.
    ///
    /// # Errors
    /// Of any image; [`ceph::Error::Stuck`] after `limit`.
    pub async fn invalidate(&self, limit: Duration) -> Result<(), ceph::Error> {
        let images = self.distinct_images();
        within("invalidating the client's cache", limit, &CancellationToken::new(), move || {
            images.iter().try_for_each(Image::invalidate_cache)
        })
        .await
    }

    /// Performance counters by logger, of all connections: only those of images, of their caches and of the
    /// connection's operations.
    ///
    /// # Errors
    /// If the client's own admin socket does not answer.
    pub async fn counters(&self) -> Result<BTreeMap<String, Value>, ceph::Error> {
        let mut found = BTreeMap::new();
        for (number, cluster) in self.clusters.iter().enumerate() {
            let Some(socket) = cluster.admin_socket().cloned() else { continue };
            let never = CancellationToken::new();
            let dump = within("reading performance counters", self.limit, &never, move || socket.perf_dump());
            let Value::Object(loggers) = dump.await? else { continue };
            for (logger, values) in loggers {
                if ["librbd-", "objectcacher-librbd-", "objecter"].iter().any(|kind| logger.starts_with(kind))
                {
                    let name = if number == 0 { logger } else { format!("{logger}#{number}") };
                    found.insert(name, values);
                }
            }
        }
        Ok(found)
    }

    /// The operations that the first connection waits for, in words, for the report of a hang.
    pub async fn requests_in_flight(&self) -> Option<String> {
        let socket = self.first_cluster().admin_socket().cloned()?;
        let limit = Duration::from_secs(2);
        let never = CancellationToken::new();
        let reply = within("asking for requests", limit, &never, move || socket.requests_in_flight());
        let reply = reply.await.ok()?;
        let ops = reply.get("ops")?.as_array()?;
        let oldest = ops.first()?;
        let osd = oldest.get("osd").map_or_else(|| "?".to_owned(), ToString::to_string);
        Some(format!("{} operations wait, the first on osd.{osd}", ops.len()))
    }

    fn distinct_images(&self) -> Vec<Image> {
        let mut seen: Vec<&Arc<[Image]>> = Vec::new();
        for images in &self.images {
            if !seen.iter().any(|known| Arc::ptr_eq(known, images)) {
                seen.push(images);
            }
        }
        seen.into_iter().flat_map(|images| images.iter().cloned()).collect()
    }

    /// Closes every image and disconnects. Lanes that still hold images must be gone.
    ///
    /// # Errors
    /// Of the first call that fails; the others are made all the same.
    pub async fn close(self) -> Result<(), ceph::Error> {
        let distinct = self.distinct_images();
        let Self { clusters, images, limit, .. } = self;
        drop(images);
        within("closing images", limit, &CancellationToken::new(), move || {
            let mut outcome = Ok(());
            for image in distinct {
                outcome = outcome.and(image.close());
            }
            for cluster in clusters {
                outcome = outcome.and(cluster.close());
            }
            outcome
        })
        .await
    }
}

/// Opening takes a few round trips an image.
fn opening_limit(timeout: Duration, images: usize) -> Duration {
    timeout + Duration::from_millis(100) * u32::try_from(images).unwrap_or(u32::MAX)
}

fn open_images(cluster: &Cluster, set: &ImageSet) -> Result<Arc<[Image]>, ceph::Error> {
    let pool = cluster.pool(&set.pool, set.namespace.as_deref())?;
    let mut images = Vec::with_capacity(set.names.len());
    for name in &set.names {
        let image = pool.image(name, set.view())?;
        if set.writable {
            image.flush()?;
        }
        images.push(image);
    }
    Ok(images.into())
}
