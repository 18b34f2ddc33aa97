//! Images that cephmark makes: created alike for all arms, filled, marked with the run's id, removed at the end.

use std::time::Duration;

use nix::errno::Errno;
use tokio_util::sync::CancellationToken;

use super::ImageSet;
use crate::ceph::{self, Cluster, Features, Image, Layout, Pool, within};
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

/// The run that made what has this name, which `cephmark-RUN-` begins, and the rest of the name. A run's id is 16
/// hexadecimal digits.
#[must_use]
pub fn maker(name: &str) -> Option<(&str, &str)> {
    let (run, rest) = name.strip_prefix(NAME_PREFIX)?.split_once('-')?;
    let is_run = run.len() == 16 && run.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_run.then_some((run, rest))
}

/// What was made of an arm's images.
#[derive(Debug, Default)]
pub struct Made {
    /// How many of them there are, or may be where the cluster did not answer.
    pub count: usize,
    /// The first, held open for the whole run: its watch is how `clean` knows that the run is alive, also while no client
    /// of a trial has any image open.
    pub held: Option<Image>,
}

/// Creates the images of an arm and marks them; `made` tells how far it came.
///
/// # Errors
/// Of creating or marking; what was made by then is the caller's to remove.
pub async fn create(
    admin: &Cluster,
    managed: &ManagedImages,
    run: &str,
    names: &[String],
    made: &mut Made,
    cancel: &CancellationToken,
) -> Result<(), ceph::Error> {
    let layout = layout(managed)?;
    let limit = admin.timeout() * 2;
    for name in names {
        if cancel.is_cancelled() {
            return Err(ceph::Error::Interrupted { what: format!("creating image {name}") });
        }
        let (admin, managed, layout) = (admin.clone(), managed.clone(), layout.clone());
        let (run, image, first) = (run.to_owned(), name.clone(), made.count == 0);
        // Not interruptible: an image that appears after the clean-up would stay.
        let never = CancellationToken::new();
        let created = within("creating an image", limit, &never, move || {
            let pool = admin.pool(&managed.pool, namespace(&managed))?;
            pool.create_image(&image, &layout)?;
            // The inner result is of an image that exists.
            Ok(mark(&pool, &image, &run)
                .and_then(|image| if first { Ok(Some(image)) } else { image.close().map(|()| None) }))
        });
        let created = created.await;
        made.count += usize::from(!created.as_ref().is_err_and(is_refusal));
        made.held = created??.or(made.held.take());
    }
    Ok(())
}

/// Whether the cluster said no, so that nothing was made.
fn is_refusal(error: &ceph::Error) -> bool {
    error.errno().is_some_and(|errno| errno != Errno::ETIMEDOUT)
}

fn mark(pool: &Pool, image: &str, run: &str) -> Result<Image, ceph::Error> {
    let opened = pool.image(image, ceph::View::Write)?;
    opened.set_metadata(RUN_KEY, run)?;
    Ok(opened)
}

/// Removes one image, which is closed before if it is the one that is held; one that is gone already is no error.
///
/// # Errors
/// Of closing or removing.
pub async fn remove(
    admin: &Cluster,
    managed: &ManagedImages,
    name: &str,
    held: Option<Image>,
) -> Result<(), ceph::Error> {
    let limit = admin.timeout() * 2 + Duration::from_secs(managed.size.get() / SLOWEST_BYTES_PER_S);
    let (admin, managed, name) = (admin.clone(), managed.clone(), name.to_owned());
    within("removing an image", limit, &CancellationToken::new(), move || {
        held.map_or(Ok(()), Image::close)?;
        let pool = admin.pool(&managed.pool, namespace(&managed))?;
        match pool.remove_image(&name) {
            Err(error) if error.errno() == Some(Errno::ENOENT) => Ok(()),
            outcome => outcome,
        }
    })
    .await
}

/// Where the images are: the pool, or the pool and its namespace.
#[must_use]
pub fn place(managed: &ManagedImages) -> String {
    let ManagedImages { pool, namespace, .. } = managed;
    if namespace.is_empty() { pool.clone() } else { format!("{pool}/{namespace}") }
}

fn namespace(managed: &ManagedImages) -> Option<&str> {
    (!managed.namespace.is_empty()).then_some(managed.namespace.as_str())
}

/// The features that the profile wants of the images; `None` leaves them to the cluster.
///
/// # Errors
/// [`ceph::Error`] for a feature that this librbd does not know.
pub fn features(managed: &ManagedImages) -> Result<Option<Features>, ceph::Error> {
    let Some(features) = &managed.features else { return Ok(None) };
    let names: Vec<_> = features.iter().map(|feature| feature.name()).collect();
    names.join(",").parse().map(Some)
}

fn layout(managed: &ManagedImages) -> Result<Layout, ceph::Error> {
    Ok(Layout {
        size: managed.size,
        object_size: managed.object_size,
        features: features(managed)?,
        stripe_unit: managed.striping.map(|(unit, _)| unit),
        stripe_count: managed.striping.map(|(_, count)| u64::from(count)),
        data_pool: managed.data_pool.clone(),
    })
}

/// What the images of a managed arm are.
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
