//! What is checked of the clients' caches before anything is written, now that it can be asked what the profile leaves
//! open: the values that `ceph.conf` and the monitors give, and what this host's librbd can do.

use std::path::Path;

use super::Error;
use crate::ceph::Cluster;
use crate::plan::{Arm, Plan, knobs};

/// The plugin of the persistent write-back cache, and the file that it is in, below `plugin_dir`.
const PLUGIN: (&str, &str) = ("pwl_cache", "librbd/libceph_librbd_pwl_cache.so");

/// Checks the cache options of all arms, with the values that a connected client has of those that no arm sets. The
/// returned lines are what the user should know and was not told by the plan.
///
/// # Errors
/// [`Error::Fault`] as [`Plan::check_caches`]; [`Error::Refused`] for a persistent cache that this librbd does not have.
pub(super) fn check(plan: &Plan, admin: &Cluster) -> Result<Vec<String>, Error> {
    let client = |name: &str| admin.option(name).ok();
    let warnings = plan.check_caches(&client)?;
    plan.arms.iter().filter(|arm| arm.is_librbd()).try_for_each(|arm| persistent(arm, &client))?;
    let new = warnings.iter().filter(|warning| !plan.warnings.contains(warning));
    Ok(new.map(ToString::to_string).collect())
}

fn persistent(arm: &Arm, client: knobs::Values<'_>) -> Result<(), Error> {
    let value = |name: &str| {
        let own = arm.option(name).map(|option| option.value.clone());
        own.or_else(|| client(name)).unwrap_or_default()
    };
    let asked = value("rbd_persistent_cache_mode") != "disabled" || value("rbd_plugins").contains(PLUGIN.0);
    let file = Path::new(&value("plugin_dir")).join(PLUGIN.1);
    if !asked || file.exists() {
        return Ok(());
    }
    let message = format!(
        "this build of librbd has no pwl plugin ({} is missing), so there is no persistent cache; leave it disabled, or use a \
         build that has it",
        file.display()
    );
    let names = ["rbd_persistent_cache_mode", "rbd_plugins"];
    let said = match names.iter().find_map(|name| arm.option(name)) {
        Some(option) => arm.option_fault(option, message).to_string(),
        None => format!("{}: {message}; ceph.conf or the monitors ask for it", arm.name),
    };
    Err(Error::Refused(said))
}

/// Which release brought an option that this host's client does not know; empty where that is not known.
pub(super) fn brought_by(option: &str) -> String {
    knobs::known(option).map_or_else(String::new, |knob| {
        format!("; Ceph {} brought it, and the client libraries of this host are older", knob.since)
    })
}
