//! The options of a librbd client as they are in effect, and who set them.

use serde_json::Value;

use super::Error;
use super::librbd::ImageSet;
use crate::ceph::{self, AdminSocket, Cluster, Image, Source};
use crate::plan::Arm;
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

/// What is in effect for an open image and its connection; `asked` are options to read in any case. Blocks.
///
/// # Errors
/// Of reading them back.
pub(super) fn read(
    cluster: &Cluster,
    image: &Image,
    asked: &[String],
) -> Result<Vec<Effective>, ceph::Error> {
    let set_somewhere = cluster.admin_socket().map(AdminSocket::config_diff).transpose()?;
    let origin = |name: &str| match set_somewhere.as_ref().and_then(|reply| level_set(reply, name)) {
        Some(true) => Origin::Client,
        _ => Origin::Default,
    };
    let mut found: Vec<Effective> = Vec::new();
    for option in image.options()? {
        let origin = match option.source {
            Source::Client => origin(&option.name),
            Source::Pool => Origin::Pool,
            Source::Image => Origin::Image,
        };
        found.push(Effective { name: option.name, value: option.value, origin });
    }
    for name in CONNECTION_OPTIONS.into_iter().chain(asked.iter().map(String::as_str)) {
        if found.iter().all(|known| known.name != name) {
            let value = cluster.option(name)?;
            found.push(Effective { name: name.to_owned(), value, origin: origin(name) });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
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
/// [`Error::Overridden`] if a swept one is among them: a sweep over it would compare like with like.
pub fn overridden(arm: &Arm, images: &ImageSet, effective: &[Effective]) -> Result<Vec<String>, Error> {
    let pool = &images.pool;
    let place =
        images.namespace.as_ref().map_or_else(|| pool.clone(), |namespace| format!("{pool}/{namespace}"));
    let image = format!("{place}/{}", images.names[0]);
    let mut said = Vec::new();
    for option in &arm.options {
        let Some(found) = effective.iter().find(|found| found.name == option.name) else { continue };
        let (whose, remedy) = match found.origin {
            Origin::Pool => {
                (format!("pool {pool}"), format!("rbd config pool remove {pool} {}", option.name))
            }
            Origin::Image => {
                (format!("image {image}"), format!("rbd config image remove {image} {}", option.name))
            }
            Origin::Default | Origin::Client => continue,
        };
        let (option, wanted, value) = (option.name.clone(), option.value.clone(), found.value.clone());
        let swept = arm.settings.iter().any(|(path, _)| path.ends_with(&format!(".{option}")));
        let error = Error::Overridden { option, value, wanted, whose, remedy };
        if swept {
            return Err(error);
        }
        said.push(error.to_string());
    }
    Ok(said)
}
