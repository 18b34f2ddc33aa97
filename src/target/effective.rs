//! The options of a librbd client as they are in effect, and who set them.

use serde_json::Value;

use super::{Error, ImageSet};
use crate::ceph::{self, AdminSocket, Cluster, Image, Source};
use crate::plan::{Arm, knobs};
use crate::units::Bytes;

/// An option in effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    /// Its name, with underscores.
    pub name: String,
    /// Its value, as Ceph prints it.
    pub value: String,
    /// Who set it.
    pub origin: Origin,
    /// The image that it is of, where that is not the first one and has it otherwise.
    pub image: Option<String>,
}

/// Who set an option, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody.
    Default,
    /// The profile, `ceph.conf`, the environment or the monitors.
    Client,
    /// The pool's metadata.
    Pool,
    /// The image's metadata.
    Image,
}

/// Options that no image can override, and that move the figures all the same.
const CONNECTION_OPTIONS: [&str; 6] = [
    "librados_thread_count",
    "ms_async_op_threads",
    "ms_client_mode",
    "objecter_inflight_ops",
    "objecter_inflight_op_bytes",
    "rbd_op_threads",
];

/// What is in effect for open images, of which there is at least one, and their connection; `asked` are options to read
/// in any case. Blocks.
///
/// # Errors
/// Of reading them back.
pub(super) fn read(
    cluster: &Cluster,
    images: &[Image],
    asked: &[String],
) -> Result<Vec<Effective>, ceph::Error> {
    let set_somewhere = cluster.admin_socket().map(AdminSocket::config_diff).transpose()?;
    let origin = |name: &str| match set_somewhere.as_ref().and_then(|reply| level_set(reply, name)) {
        Some(true) => Origin::Client,
        _ => Origin::Default,
    };
    let mut found: Vec<Effective> = Vec::new();
    let common = images[0].options()?;
    for (index, image) in images.iter().enumerate() {
        let options = if index == 0 { common.clone() } else { image.options()? };
        let of = (index > 0).then(|| image.name());
        for option in options.into_iter().filter(|option| of.is_none() || !common.contains(option)) {
            let origin = match option.source {
                Source::Client => origin(&option.name),
                Source::Pool => Origin::Pool,
                Source::Image => Origin::Image,
            };
            let image = of.map(str::to_owned);
            found.push(Effective { name: option.name, value: option.value, origin, image });
        }
    }
    for name in CONNECTION_OPTIONS.into_iter().chain(asked.iter().map(String::as_str)) {
        if found.iter().all(|known| known.name != name) {
            let value = cluster.option(name)?;
            found.push(Effective { name: name.to_owned(), value, origin: origin(name), image: None });
        }
    }
    // What all images have in common comes first.
    found.sort_by(|a, b| (&a.name, &a.image).cmp(&(&b.name, &b.image)));
    Ok(found)
}

/// How much data librbd's cache may hold that was acknowledged and is not durable, by the options in effect.
#[must_use]
pub fn librbd_holds(option: &dyn Fn(&str) -> Option<String>) -> Bytes {
    let is = |name: &str, value: &str| option(name).as_deref() == Some(value);
    if !is("rbd_cache", "true") || is("rbd_cache_policy", "writethrough") {
        return Bytes(0);
    }
    Bytes(option("rbd_cache_max_dirty").and_then(|most| most.parse().ok()).unwrap_or(0))
}

/// Whether `config diff` knows a level other than the default that sets the option.
fn level_set(reply: &Value, name: &str) -> Option<bool> {
    let levels = reply.get("diff").unwrap_or(reply).get(name)?.as_object()?;
    Some(levels.keys().any(|level| level != "default" && level != "final"))
}

/// The options that the profile set for an arm and that pool or image metadata beats.
///
/// # Errors
/// [`Error::Overridden`] if a swept one is among them: a sweep over it would compare like with like. [`Error::Idle`] if
/// metadata sets a policy under which a swept one does nothing.
pub fn overridden(arm: &Arm, images: &ImageSet, effective: &[Effective]) -> Result<Vec<String>, Error> {
    let first = images.first_name();
    let mut said = Vec::new();
    for found in effective {
        let Some((whose, remedy)) = found.metadata(&images.pool, &first) else { continue };
        let set = arm.option(&found.name);
        if POLICY.contains(&found.name.as_str()) && !set.is_some_and(|option| arm.sweeps(option)) {
            refuse_idle(arm, effective, found, &whose, &remedy)?;
        }
        let Some(option) = set else { continue };
        let (wanted, value) = (option.value.clone(), found.value.clone());
        let error = Error::Overridden { option: found.name.clone(), value, wanted, whose, remedy };
        if arm.sweeps(option) {
            return Err(error);
        }
        said.push(error.to_string());
    }
    Ok(said)
}

/// The options by which librbd decides what its cache does.
const POLICY: [&str; 2] = ["rbd_cache", "rbd_cache_policy"];

/// Refuses a sweep over what does nothing under the policy that metadata sets.
fn refuse_idle(
    arm: &Arm,
    effective: &[Effective],
    policy: &Effective,
    whose: &str,
    remedy: &str,
) -> Result<(), Error> {
    let of_image = |option: &&Effective| option.image == policy.image || option.image.is_none();
    // Of what differs between images, that of the image at hand comes last.
    let value = |name: &str| {
        let found = effective.iter().filter(of_image).rfind(|option| option.name == name)?;
        Some(found.value.clone())
    };
    let swept = arm.options.iter().filter(|option| arm.sweeps(option));
    for option in swept {
        if let Some(reason) = knobs::known(&option.name).and_then(|knob| knob.idle(&value)) {
            let (option, whose, remedy) = (option.name.clone(), whose.to_owned(), remedy.to_owned());
            return Err(Error::Idle { option, reason, whose, remedy });
        }
    }
    Ok(())
}

impl Effective {
    /// Whose metadata set it, and the command that removes that; `None` where no metadata did.
    fn metadata(&self, pool: &str, first: &str) -> Option<(String, String)> {
        let (name, image) = (&self.name, self.image.as_deref().unwrap_or(first));
        match self.origin {
            Origin::Default | Origin::Client => None,
            Origin::Pool => Some((format!("pool {pool}"), format!("rbd config pool remove {pool} {name}"))),
            Origin::Image => {
                Some((format!("image {image}"), format!("rbd config image remove {image} {name}")))
            }
        }
    }
}
