//! What killed runs left in the cluster: found by name and mark, removed one by one.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use serde_json::json;

use crate::ceph::{Cluster, Error, Pool, View, Watcher};
use crate::target::managed::{RUN_KEY, maker};
use crate::target::{LeftMapping, left_mappings};

/// A run opens and marks an image at once after it created it, and only then it shows that somebody uses it.
const BETWEEN_CREATE_AND_OPEN: Duration = Duration::from_secs(1);

/// An image that a run of cephmark made and did not remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Its pool.
    pub pool: String,
    /// Its namespace, if not the pool's own.
    pub namespace: Option<String>,
    /// Its name.
    pub image: String,
    /// The client that has it, or another image of its run, open: a run that is not over, or one killed less than 30 s
    /// ago.
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

/// The block devices of this host that runs mapped, and did not unmap, of images in one pool or in all. Blocks.
///
/// # Errors
/// Of asking for the cluster's id.
pub fn find_left_mappings(cluster: &Cluster, pool: Option<&str>) -> Result<Vec<LeftMapping>, Error> {
    let fsid = cluster.fsid()?;
    let mut left = left_mappings();
    left.retain(|mapping| {
        mapping.fsid.as_ref().is_none_or(|of| *of == fsid) && pool.is_none_or(|pool| pool == mapping.pool)
    });
    Ok(left)
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
    share_use(&mut found);
    Ok(found)
}

/// A run that is alive holds one image of each arm open all the time, and the others only during trials.
fn share_use(found: &mut [Leftover]) {
    let in_use =
        found.iter().filter_map(|leftover| Some((run_of(&leftover.image)?, leftover.in_use_by.clone()?)));
    let in_use: BTreeMap<String, String> = in_use.map(|(run, client)| (run.to_owned(), client)).collect();
    for leftover in found {
        let client = run_of(&leftover.image).and_then(|run| in_use.get(run));
        leftover.in_use_by = client.cloned();
    }
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
    for image in pool.images()? {
        let Some(run) = run_of(&image) else { continue };
        let mut look = unless_gone(look(pool, &image))?;
        if look.as_ref().is_some_and(|look| look.mark.is_none() && look.watcher.is_none()) {
            thread::sleep(BETWEEN_CREATE_AND_OPEN);
            look = unless_gone(self::look(pool, &image))?;
        }
        let Some(Look { mark, watcher }) = look else { continue };
        // A run that was killed before it set the mark leaves none, but another mark is another's image.
        if mark.is_none_or(|mark| mark == run) {
            found.push(Leftover {
                pool: pool.name().to_owned(),
                namespace: pool.namespace().map(str::to_owned),
                in_use_by: watcher.map(|watcher| format!("client.{} at {}", watcher.client, watcher.address)),
                image,
            });
        }
    }
    Ok(())
}

/// What an image tells of who made it and who uses it.
struct Look {
    mark: Option<String>,
    watcher: Option<Watcher>,
}

fn look(pool: &Pool, image: &str) -> Result<Look, Error> {
    let opened = pool.image(image, View::Read)?;
    let look = Look { mark: opened.metadata(RUN_KEY)?, watcher: opened.watchers()?.into_iter().next() };
    opened.close()?;
    Ok(look)
}

/// Nothing for an image that is gone: the run that made it has removed it meanwhile.
fn unless_gone<T>(outcome: Result<T, Error>) -> Result<Option<T>, Error> {
    match outcome {
        Err(error) if error.errno() == Some(Errno::ENOENT) => Ok(None),
        outcome => outcome.map(Some),
    }
}

/// The run that made an image, by its name: `cephmark-RUN-ARM-NUMBER`.
fn run_of(name: &str) -> Option<&str> {
    let (run, rest) = maker(name)?;
    let (arm, number) = rest.split_once('-')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (digits(arm) && digits(number)).then_some(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_of_a_run_that_has_another_one_open_is_in_use_too() {
        let leftover = |image: &str, in_use_by: Option<&str>| Leftover {
            pool: "rbd".to_owned(),
            namespace: None,
            image: image.to_owned(),
            in_use_by: in_use_by.map(str::to_owned),
        };
        let [alive, dead] = ["cephmark-0123456789abcdef-0-", "cephmark-fedcba9876543210-0-"];
        let images = [format!("{alive}0"), format!("{alive}1"), format!("{dead}0")];
        let mut found =
            [leftover(&images[0], Some("client.7")), leftover(&images[1], None), leftover(&images[2], None)];
        share_use(&mut found);
        let in_use: Vec<_> = found.iter().map(|leftover| leftover.in_use_by.as_deref()).collect();
        assert_eq!(in_use, [Some("client.7"), Some("client.7"), None]);
    }

    #[test]
    fn only_names_that_cephmark_gives_are_its_own() {
        assert_eq!(run_of("cephmark-0123456789abcdef-0-12"), Some("0123456789abcdef"));
        for foreign in
            ["cephmark-prod", "cephmark-0123456789abcdef-0", "cephmark-0123456789abcdeg-0-1", "vol1", ""]
        {
            assert_eq!(run_of(foreign), None, "{foreign}");
        }
    }
}
