//! What is checked on the cluster before anything is written: options, pools, images, room.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Error, caches};
use crate::ceph::{self, Cluster, Config, Features, Image, Role, View, within};
use crate::measure::{CpuMeter, CpuUsage};
use crate::plan::{Arm, ClusterSpec, ExistingImage, ManagedImages, MapClient, Plan, Subject};
use crate::target::{check_mappable, check_nbd, connect as connect_as, managed};
use crate::units::Bytes;

/// How long the host is watched doing nothing of ours.
const IDLE_WATCH: Duration = Duration::from_secs(1);

/// Whether any arm of the plan goes to a cluster.
#[must_use]
pub fn needs_cluster(plan: &Plan) -> bool {
    plan.arms.iter().any(|arm| !matches!(arm.subject, Subject::Kernel(_) | Subject::Null(_)))
}

/// Connects for set-up and clean-up.
///
/// # Errors
/// Of connecting.
pub async fn connect(spec: &ClusterSpec, cancel: &CancellationToken) -> Result<Cluster, ceph::Error> {
    connect_as(spec, Role::Admin, Vec::new(), cancel).await
}

/// Sets every option of every arm on a client that is never connected, which tells the wrong ones. Needs librados, but
/// no cluster.
///
/// # Errors
/// [`Error::Fault`] at the option's place in the profile.
pub fn options(plan: &Plan) -> Result<(), Error> {
    for arm in plan.arms.iter().filter(|arm| !arm.options.is_empty()) {
        let spec = &plan.cluster;
        let mut config = Config::bare(&spec.user, spec.timeout)?;
        for option in &arm.options {
            config.set(&option.name, &option.value).map_err(|error| match error {
                ceph::Error::UnknownOption { .. } | ceph::Error::BadValue { .. } => {
                    let unknown = matches!(error, ceph::Error::UnknownOption { .. });
                    let release = if unknown { caches::brought_by(&option.name) } else { String::new() };
                    Error::Fault(arm.option_fault(option, format!("{error}{release}")))
                }
                other => Error::Ceph(other),
            })?;
        }
    }
    Ok(())
}

/// Checks everything that the plan needs of the cluster; the returned lines are what the user should know.
///
/// # Errors
/// The first thing that is missing, in use or too full.
pub(super) async fn cluster(
    plan: &Plan,
    admin: &Cluster,
    cancel: &CancellationToken,
) -> Result<Vec<String>, Error> {
    let (plan, admin) = (plan.clone(), admin.clone());
    let limit = admin.timeout() * 4;
    // The inner result is of refusals, which are not Ceph's errors.
    within("checking the cluster", limit, cancel, move || Ok(check(&plan, &admin))).await?
}

fn check(plan: &Plan, admin: &Cluster) -> Result<Vec<String>, Error> {
    let mut notes = Vec::new();
    for arm in &plan.arms {
        match &arm.subject {
            Subject::Managed(managed) => {
                check_pools(admin, managed)?;
                check_client(arm, features_of_new(admin, managed)?, None)?;
            }
            Subject::Existing(existing) => check_existing(plan, arm, admin, existing, &mut notes)?,
            Subject::Kernel(_) | Subject::Null(_) => {}
        }
    }
    check_room(plan, admin)?;
    Ok(notes)
}

/// The client that is to map an arm's images must be there, and know their features.
fn check_client(arm: &Arm, features: Features, image: Option<&str>) -> Result<(), Error> {
    match arm.mapping.as_ref().map(|mapping| mapping.client) {
        Some(MapClient::Krbd) => Ok(check_mappable(features, image)?),
        Some(MapClient::Nbd) => Ok(check_nbd()?),
        None => Ok(()),
    }
}

/// The features that the images of an arm will have.
fn features_of_new(admin: &Cluster, managed: &ManagedImages) -> Result<Features, Error> {
    if let Some(features) = managed::features(managed)? {
        return Ok(features);
    }
    // A number, or names.
    let default = admin.option("rbd_default_features")?;
    Ok(default.parse().map_or_else(|_| default.parse(), |bits| Ok(Features::from_bits(bits)))?)
}

fn check_pools(admin: &Cluster, managed: &ManagedImages) -> Result<(), Error> {
    let pool = admin.pool(&managed.pool, optional(&managed.namespace))?;
    if !pool.has_namespace()? {
        return Err(Error::Refused(format!(
            "pool {} has no namespace {}; create it with `rbd namespace create {pool}`, or correct the profile",
            managed.pool, managed.namespace
        )));
    }
    if let Some(data_pool) = &managed.data_pool {
        admin.pool(data_pool, None)?;
    }
    Ok(())
}

fn check_existing(
    plan: &Plan,
    arm: &Arm,
    admin: &Cluster,
    existing: &ExistingImage,
    notes: &mut Vec<String>,
) -> Result<(), Error> {
    let image = open(admin, existing)?;
    let size = image.size()?;
    check_client(arm, image.info()?.features, Some(image.name()))?;
    for workload in &plan.workloads {
        workload.jobs(size, 0)?;
    }
    if plan.workloads.iter().any(|workload| workload.changes_data()) {
        refuse_if_in_use(&image)?;
    }
    let allocated = image.allocated(true)?;
    if allocated < size {
        notes.push(format!(
            "{}: only {} of {} of {} hold data; reads of the rest are answered without a disk",
            arm.name,
            allocated,
            size,
            image.name()
        ));
    }
    image.close()?;
    Ok(())
}

/// Nobody else may have an image open that is going to be overwritten.
///
/// # Errors
/// [`Error::Refused`] with who has it.
pub(super) fn refuse_if_in_use(image: &Image) -> Result<(), Error> {
    if let Some(watcher) = image.watchers()?.first() {
        return Err(Error::Refused(format!(
            "{} is open elsewhere: client.{} at {} watches it; stop that client, or name another image",
            image.name(),
            watcher.client,
            watcher.address
        )));
    }
    if let Some(owner) = image.lock_owners()?.first() {
        return Err(Error::Refused(format!(
            "{} is locked by {} at {}; stop that client or remove its lock (`rbd lock ls`), or name another image",
            image.name(),
            owner.client,
            owner.address
        )));
    }
    Ok(())
}

/// What the plan fills must fit below the quota of each pool and below the cluster's nearfull line.
fn check_room(plan: &Plan, admin: &Cluster) -> Result<(), Error> {
    let mut raw = 0.0;
    for (name, needed) in &plan.needs.space {
        let usage = admin.pool(name, None)?.usage()?;
        if let Some(quota) = usage.quota
            && usage.stored.get().saturating_add(needed.get()) > quota.get()
        {
            return Err(Error::Refused(format!(
                "pool {name}: the images need {needed}, but its quota of {quota} leaves {}; raise it with `ceph osd pool \
                 set-quota {name} max_bytes N`, or lower `size`",
                Bytes(quota.get().saturating_sub(usage.stored.get())).rounded()
            )));
        }
        raw += needed.get() as f64 * usage.amplification;
    }
    if raw == 0.0 {
        return Ok(());
    }
    let cluster = admin.usage()?;
    let limit = cluster.total.get() as f64 * cluster.nearfull_ratio;
    if cluster.used.get() as f64 + raw > limit {
        return Err(Error::Refused(format!(
            "the images need {} with their copies, but only {} are left until the cluster is nearfull ({:.0} % of {}); lower \
             `size` or `images`, or add OSDs",
            Bytes(raw as u64).rounded(),
            Bytes((limit - cluster.used.get() as f64).max(0.0) as u64).rounded(),
            cluster.nearfull_ratio * 100.0,
            cluster.total.rounded(),
        )));
    }
    Ok(())
}

fn optional(namespace: &str) -> Option<&str> {
    (!namespace.is_empty()).then_some(namespace)
}

/// The size of an image that exists.
///
/// # Errors
/// Of opening it.
pub(super) async fn size_of(
    admin: &Cluster,
    existing: &ExistingImage,
    cancel: &CancellationToken,
) -> Result<Bytes, Error> {
    with_existing(admin, existing, cancel, |image| Ok(image.size()?)).await
}

/// Nobody else may have an image open that a trial is about to overwrite.
///
/// # Errors
/// [`Error::Refused`] with who has it; of opening it.
pub(super) async fn refuse_if_open_elsewhere(
    admin: &Cluster,
    existing: &ExistingImage,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    with_existing(admin, existing, cancel, refuse_if_in_use).await
}

/// A read-only handle, which is no watcher itself.
fn open(admin: &Cluster, existing: &ExistingImage) -> Result<Image, ceph::Error> {
    let pool = admin.pool(&existing.pool, optional(&existing.namespace))?;
    let view = existing.snapshot.as_deref().map_or(View::Read, View::Snapshot);
    pool.image(&existing.image, view)
}

/// Looks at an image that exists.
async fn with_existing<T: Send + 'static>(
    admin: &Cluster,
    existing: &ExistingImage,
    cancel: &CancellationToken,
    look: impl FnOnce(&Image) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let (limit, admin, existing) = (admin.timeout() * 2, admin.clone(), existing.clone());
    let looked = within("looking at the image", limit, cancel, move || {
        let image = open(&admin, &existing)?;
        let looked = look(&image);
        image.close()?;
        Ok(looked)
    });
    looked.await?
}

/// What the host's processors do while cephmark does nothing; none where Ceph daemons run on this host as well, for
/// then the host's busy time is theirs, or where a signal came.
pub(super) async fn idle_baseline(cancel: &CancellationToken) -> Option<CpuUsage> {
    if ceph_runs_here() {
        return None;
    }
    let meter = CpuMeter::start();
    tokio::select! {
        () = tokio::time::sleep(IDLE_WATCH) => Some(meter.read()),
        () = cancel.cancelled() => None,
    }
}

fn ceph_runs_here() -> bool {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.into_iter().any(|process| {
        let name = std::fs::read_to_string(process.path().join("comm")).unwrap_or_default();
        matches!(name.trim_end(), "ceph-osd" | "ceph-mon" | "ceph-mds")
    })
}
