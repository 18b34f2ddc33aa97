//! What killed runs left in the cluster: found by name and mark, removed one by one.

use nix::errno::Errno;
use serde_json::json;

use crate::ceph::{Cluster, Error, Pool, View};
use crate::target::managed::{NAME_PREFIX, RUN_KEY};

/// An image that a run of cephmark made and did not remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Its pool.
    pub pool: String,
    /// Its namespace, if not the pool's own.
    pub namespace: Option<String>,
    /// Its name.
    pub image: String,
    /// The client that has it open, if any does: a run that is not over, or one killed less than 30 s ago.
    pub in_use_by: Option<String>,
}

impl std::fmt::Display for Leftover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{}/{namespace}/{}", self.pool, self.image),
            None => write!(f, "{}/{}", self.pool, self.image),
        }
    }
}

/// Looks through one pool, or through all that RBD uses. Blocks.
///
/// # Errors
/// Of listing or opening.
pub fn find_leftovers(cluster: &Cluster, pool: Option<&str>) -> Result<Vec<Leftover>, Error> {
    let pools = match pool {
        Some(pool) => vec![pool.to_owned()],
        None => rbd_pools(cluster)?,
    };
    let mut found = Vec::new();
    for name in pools {
        let pool = cluster.pool(&name, None)?;
        let mut places = vec![pool.clone()];
        for namespace in pool.namespaces()? {
            places.push(cluster.pool(&name, Some(&namespace))?);
        }
        for place in places {
            leftovers_in(&place, &mut found)?;
        }
    }
    Ok(found)
}

/// Removes one. Blocks for as long as its data takes.
///
/// # Errors
/// Of removing, as of an image that is in use.
pub fn remove_leftover(cluster: &Cluster, leftover: &Leftover) -> Result<(), Error> {
    cluster.pool(&leftover.pool, leftover.namespace.as_deref())?.remove_image(&leftover.image)
}

fn rbd_pools(cluster: &Cluster) -> Result<Vec<String>, Error> {
    let reply =
        cluster.mon_command(&json!({"prefix": "osd pool ls", "detail": "detail", "format": "json"}))?;
    let pools = reply.as_array().into_iter().flatten();
    let for_rbd = pools.filter(|pool| pool["application_metadata"].get("rbd").is_some());
    Ok(for_rbd.filter_map(|pool| pool["pool_name"].as_str().map(str::to_owned)).collect())
}

fn leftovers_in(pool: &Pool, found: &mut Vec<Leftover>) -> Result<(), Error> {
    for image in pool.images()?.into_iter().filter(|name| made_by_us(name)) {
        // Removed between listing and opening: by the run that made it.
        let opened = match pool.image(&image, View::Read) {
            Err(error) if error.errno() == Some(Errno::ENOENT) => continue,
            opened => opened?,
        };
        // A run that was killed before it set the mark leaves none, but another mark is another's image.
        let marked = opened.metadata(RUN_KEY)?.is_none_or(|run| image.contains(&run));
        let watcher = opened.watchers()?.into_iter().next();
        opened.close()?;
        if marked {
            found.push(Leftover {
                pool: pool.name().to_owned(),
                namespace: pool.namespace().map(str::to_owned),
                image,
                in_use_by: watcher.map(|watcher| format!("client.{} at {}", watcher.client, watcher.address)),
            });
        }
    }
    Ok(())
}

/// `cephmark-RUN-ARM-NUMBER`, the run being 16 hexadecimal digits.
fn made_by_us(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(NAME_PREFIX) else { return false };
    let parts: Vec<&str> = rest.split('-').collect();
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_run = |text: &str| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    matches!(parts[..], [run, arm, number] if is_run(run) && digits(arm) && digits(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_cephmark_gives_are_its_own() {
        assert!(made_by_us("cephmark-0123456789abcdef-0-12"));
        for foreign in
            ["cephmark-prod", "cephmark-0123456789abcdef-0", "cephmark-0123456789abcdeg-0-1", "vol1", ""]
        {
            assert!(!made_by_us(foreign), "{foreign}");
        }
    }
}
