//! What can be told of a comparison's fairness before it runs: what `check` prints beside the plan.

use std::collections::BTreeMap;

use tokio_util::sync::CancellationToken;

use super::{Error, fairness};
use crate::ceph::{Cluster, within};
use crate::plan::{Arm, KernelPath, MapClient, Plan, Subject};
use crate::target::FileSet;
use crate::units::Bytes;

/// Requests that a queue of the kernel's client takes if `queue_depth` does not say otherwise.
const KRBD_QUEUE_DEPTH: &str = "128";

/// What the user should know of the arms' paths: limits that a load is above, and what is not alike. Without `admin` no
/// arm may go to a cluster.
///
/// # Errors
/// Of looking at files, devices and the cluster's options.
pub async fn look(
    plan: &Plan,
    admin: Option<&Cluster>,
    cancel: &CancellationToken,
) -> Result<Vec<String>, Error> {
    let (limit, plan, admin) = (plan.cluster.timeout, plan.clone(), admin.cloned());
    // The inner result is of refusals, which are not Ceph's errors.
    within("looking at the arms", limit, cancel, move || Ok(outlook(&plan, admin.as_ref()))).await?
}

fn outlook(plan: &Plan, admin: Option<&Cluster>) -> Result<Vec<String>, Error> {
    let (mut said, mut arms) = (Vec::new(), Vec::new());
    for arm in &plan.arms {
        let (size, conditions) = match &arm.subject {
            Subject::Kernel(path) => of_path(path)?,
            _ if arm.mapping.is_some() => (arm.image_size().unwrap_or(Bytes(u64::MAX)), of_mapping(arm)),
            // No limit depends on the size of an image.
            _ => (arm.image_size().unwrap_or(Bytes(u64::MAX)), BTreeMap::new()),
        };
        let in_effect = |name: &str| {
            let own =
                arm.options.iter().find(|option| option.name == name).map(|option| option.value.clone());
            own.or_else(|| conditions.get(name).cloned()).or_else(|| option(arm, admin, name))
        };
        for workload in &plan.workloads {
            let limits = fairness::limits(arm, &workload.jobs(size, 0)?, plan.run.drop_caches, &in_effect);
            said.extend(
                limits.iter().map(|limit| format!("{} {}: {}", arm.name, workload.title, limit.text)),
            );
        }
        arms.push((arm.name.as_str(), fairness::alike(arm, plan.run.drop_caches, &in_effect)));
    }
    said.extend(fairness::unlike(&arms));
    Ok(said)
}

/// Size of a file or device, and what will be in effect for it: a trial sets the queue's attributes.
fn of_path(path: &KernelPath) -> Result<(Bytes, BTreeMap<String, String>), Error> {
    let files = FileSet::new(path, path.path.clone());
    let mut conditions = files.conditions();
    conditions.extend(path.access.queue.iter().cloned());
    Ok((path.size().map_or_else(|| files.size(), Ok)?, conditions))
}

/// What will be in effect for devices that are not mapped yet.
fn of_mapping(arm: &Arm) -> BTreeMap<String, String> {
    let Some(mapping) = &arm.mapping else { return BTreeMap::new() };
    let mut conditions = BTreeMap::new();
    if mapping.client == MapClient::Krbd {
        let depth = mapping.option("queue_depth").unwrap_or(KRBD_QUEUE_DEPTH);
        let queues = std::thread::available_parallelism().map_or(1, |count| count.get());
        conditions.insert("nr_requests".to_owned(), depth.to_owned());
        conditions.insert("hardware_queues".to_owned(), queues.to_string());
        conditions.insert("write_cache".to_owned(), "write through".to_owned());
    }
    conditions.extend(mapping.access.queue.iter().cloned());
    conditions
}

/// An option as a client without any of its own would have it.
fn option(arm: &Arm, admin: Option<&Cluster>, name: &str) -> Option<String> {
    match arm.subject {
        Subject::Managed(_) | Subject::Existing(_) if arm.mapping.is_none() => admin?.option(name).ok(),
        _ => None,
    }
}
