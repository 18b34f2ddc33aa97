//! Images that cephmark makes: created alike for all arms, filled, marked with the run's id, removed at the end.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::librbd::ImageSet;
use crate::ceph::{self, Cluster, Features, Layout, within};
use crate::plan::ManagedImages;

/// The metadata key that holds the id of the run that made an image.
pub const RUN_KEY: &str = "cephmark_run";
/// What the name of every image made by cephmark begins with; the run's id follows.
pub const NAME_PREFIX: &str = "cephmark-";
/// Slower than this even a sick cluster does not remove or fill images; it bounds waiting, and is no expectation.
const SLOWEST_BYTES_PER_S: u64 = 1 << 20;

/// The names of an arm's images: `cephmark-RUN-ARM-NUMBER`.
#[must_use]
pub fn image_names(run: &str, arm: usize, images: u32) -> Vec<String> {
    (0..images).map(|number| format!("{NAME_PREFIX}{run}-{arm}-{number}")).collect()
}

/// Creates the images of an arm and marks them.
///
/// # Errors
/// Of creating or marking; images that exist by then are the caller's to remove.
pub async fn create(
    admin: &Cluster,
    managed: &ManagedImages,
    run: &str,
    names: &[String],
    cancel: &CancellationToken,
) -> Result<(), ceph::Error> {
    let layout = layout(managed)?;
    let limit = admin.timeout() * 2;
    for name in names {
        if cancel.is_cancelled() {
            return Err(ceph::Error::Interrupted { what: format!("creating image {name}") });
        }
        let (admin, managed, layout) = (admin.clone(), managed.clone(), layout.clone());
        let (run, image) = (run.to_owned(), name.clone());
        // Not interruptible: an image that appears after the clean-up would stay.
        within("creating an image", limit, &CancellationToken::new(), move || {
            let pool = admin.pool(&managed.pool, namespace(&managed))?;
            pool.create_image(&image, &layout)?;
            let opened = pool.image(&image, ceph::View::Write)?;
            opened.set_metadata(RUN_KEY, &run)?;
            opened.close()
        })
        .await?;
    }
    Ok(())
}

/// Removes one image; one that is gone already is no error.
///
/// # Errors
/// Of removing.
pub async fn remove(admin: &Cluster, managed: &ManagedImages, name: &str) -> Result<(), ceph::Error> {
    let limit = admin.timeout() * 2 + Duration::from_secs(managed.size.get() / SLOWEST_BYTES_PER_S);
    let (admin, managed, name) = (admin.clone(), managed.clone(), name.to_owned());
    within("removing an image", limit, &CancellationToken::new(), move || {
        let pool = admin.pool(&managed.pool, namespace(&managed))?;
        match pool.remove_image(&name) {
            Err(error) if error.errno() == Some(nix::errno::Errno::ENOENT) => Ok(()),
            outcome => outcome,
        }
    })
    .await
}

fn namespace(managed: &ManagedImages) -> Option<&str> {
    (!managed.namespace.is_empty()).then_some(managed.namespace.as_str())
}

fn layout(managed: &ManagedImages) -> Result<Layout, ceph::Error> {
    let features = managed.features.as_ref().map(|features| {
        let names: Vec<_> = features.iter().map(|feature| feature.name()).collect();
        names.join(",").parse::<Features>()
    });
    Ok(Layout {
        size: managed.size,
        object_size: managed.object_size,
        features: features.transpose()?,
        stripe_unit: managed.striping.map(|(unit, _)| unit),
        stripe_count: managed.striping.map(|(_, count)| u64::from(count)),
        data_pool: managed.data_pool.clone(),
    })
}

/// What the images of a managed arm are, for [`Clients::open`].
#[must_use]
pub fn image_set(managed: &ManagedImages, names: Vec<String>) -> ImageSet {
    ImageSet {
        pool: managed.pool.clone(),
        namespace: namespace(managed).map(str::to_owned),
        names,
        snapshot: None,
        writable: true,
    }
}
