//! How to make a setting the cluster's, in commands and lines to copy. Nothing here runs them.

use serde::{Deserialize, Serialize};

use crate::plan::{Arm, Subject};

/// Options of librbd that only a connection has: no pool and no image overrides them.
const OF_CONNECTIONS: [&str; 1] = ["rbd_op_threads"];

/// Ways to use a setting; each of them is enough.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advice {
    /// For `ceph.conf` on the client's host.
    pub ceph_conf: Vec<String>,
    /// For the monitors' configuration, which all clients of the cluster get.
    pub ceph_config: Vec<String>,
    /// For the images of a pool; without what no pool overrides.
    pub pool: Vec<String>,
    /// For one image; without what no image overrides.
    pub image: Vec<String>,
}

impl Advice {
    /// For the options of an arm.
    #[must_use]
    pub fn of(arm: &Arm) -> Self {
        let options = || arm.options.iter().map(|option| (option.name.as_str(), option.value.as_str()));
        let of_images =
            || options().filter(|(name, _)| name.starts_with("rbd_") && !OF_CONNECTIONS.contains(name));
        let ceph_conf = std::iter::once("[client]".to_owned());
        let Some((pool, image)) = places(arm) else { return Self::default() };
        Self {
            ceph_conf: ceph_conf.chain(options().map(|(name, value)| format!("{name} = {value}"))).collect(),
            ceph_config: options()
                .map(|(name, value)| format!("ceph config set client {name} {value}"))
                .collect(),
            pool: of_images()
                .map(|(name, value)| format!("rbd config pool set {pool} {name} {value}"))
                .collect(),
            image: of_images()
                .map(|(name, value)| format!("rbd config image set {image} {name} {value}"))
                .collect(),
        }
    }
}

/// The pool, and an image: the tuned one, or any one where cephmark made its own.
fn places(arm: &Arm) -> Option<(&str, String)> {
    let (pool, namespace, image) = match &arm.subject {
        Subject::Managed(managed) => (&managed.pool, &managed.namespace, "IMAGE"),
        Subject::Existing(existing) => (&existing.pool, &existing.namespace, existing.image.as_str()),
        Subject::Kernel(_) | Subject::Null(_) => return None,
    };
    let place = if namespace.is_empty() { pool.clone() } else { format!("{pool}/{namespace}") };
    Some((pool, format!("{place}/{image}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Tuning;
    use crate::profile::Profile;

    fn advice(target: &str, space: &str) -> Advice {
        let yaml = format!(
            "version: 1\nname: x\ntargets: {{t: {target}}}\nworkloads: {{w: {{rw: randread}}}}\n\
             tune: {{space: {space}, budget: 2h}}\n"
        );
        let loaded = Profile::parse("x.yaml", &yaml, &[]).expect("a profile");
        Advice::of(&Tuning::new(&loaded).expect("a tuning").plan.arms[1])
    }

    #[test]
    fn each_way_is_whole_and_in_plain_bytes() {
        let advice = advice(
            "{rbd: {pool: vms, namespace: ns, size: 1GiB}}",
            "{rbd_cache_policy: [writeback], rbd cache size: [64MiB], rbd_cache_max_dirty: ['50%']}",
        );
        let conf = [
            "[client]",
            "rbd_cache_policy = writeback",
            "rbd_cache_size = 67108864",
            "rbd_cache_max_dirty = 33554432",
        ];
        assert_eq!(advice.ceph_conf, conf);
        assert_eq!(advice.ceph_config[1], "ceph config set client rbd_cache_size 67108864");
        assert_eq!(advice.pool[0], "rbd config pool set vms rbd_cache_policy writeback");
        assert_eq!(advice.image[2], "rbd config image set vms/ns/IMAGE rbd_cache_max_dirty 33554432");
    }

    #[test]
    fn what_only_a_connection_has_is_not_set_on_pools_and_images() {
        let advice = advice(
            "{rbd: {image: rbd/vol1}}",
            "{rbd_op_threads: [4], librados_thread_count: [8], rbd_cache: [false]}",
        );
        assert_eq!(advice.ceph_config.len(), 3);
        assert_eq!(advice.pool, ["rbd config pool set rbd rbd_cache false"]);
        assert_eq!(advice.image, ["rbd config image set rbd/vol1 rbd_cache false"]);
    }
}
