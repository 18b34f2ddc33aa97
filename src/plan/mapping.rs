//! RBD images as block devices of this host: which client maps them, and with which options.

use crate::nearest::nearest;
use crate::profile::{Fault, Path, RbdClient, Target};

use super::Access;
use super::check::Check;
use super::kernel_path;

/// How the images of an arm become block devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Which client maps them.
    pub client: MapClient,
    /// Its options, as the profile has them.
    pub options: Vec<String>,
    /// How the kernel does the I/O of the devices.
    pub access: Access,
}

/// A client that makes block devices of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapClient {
    /// The kernel's own.
    Krbd,
    /// librbd in the process of `rbd-nbd`, behind the kernel's network block device.
    Nbd,
}

/// Map options of the kernel's client, as `man rbd` has them.
const KRBD_OPTIONS: [&str; 33] = [
    "abort_on_full",
    "alloc_size",
    "cephx_require_signatures",
    "cephx_sign_messages",
    "compression_hint",
    "crc",
    "crush_location",
    "exclusive",
    "fsid",
    "ip",
    "lock_on_read",
    "lock_timeout",
    "mount_timeout",
    "ms_mode",
    "nocephx_require_signatures",
    "nocephx_sign_messages",
    "nocrc",
    "noshare",
    "notcp_nodelay",
    "notrim",
    "osd_idle_ttl",
    "osd_request_timeout",
    "osdkeepalive",
    "queue_depth",
    "read_from_replica",
    "read_only",
    "read_write",
    "ro",
    "rw",
    "rxbounce",
    "share",
    "tcp_nodelay",
    "trim",
];

/// Map options of `rbd-nbd`, as its manual has them.
const NBD_OPTIONS: [&str; 8] = [
    "exclusive",
    "io-timeout",
    "max_part",
    "nbds_max",
    "quiesce",
    "quiesce-hook",
    "reattach-timeout",
    "try-netlink",
];

impl MapClient {
    /// The word for it in profiles and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Krbd => "krbd",
            Self::Nbd => "nbd",
        }
    }
}

impl Mapping {
    /// The value of a map option: empty for one without a value, `None` for one that the profile does not have.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find_map(|option| {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            (key == name).then_some(value)
        })
    }
}

/// How the target at `at` maps its images; `None` if it does not.
pub(super) fn mapping(check: &Check<'_>, at: &Path, target: &Target) -> Result<Option<Mapping>, Fault> {
    let (client, known) = match target.rbd.as_ref().map(|rbd| rbd.client) {
        Some(RbdClient::Krbd) => (MapClient::Krbd, KRBD_OPTIONS.as_slice()),
        Some(RbdClient::Nbd) => (MapClient::Nbd, NBD_OPTIONS.as_slice()),
        Some(RbdClient::Librbd) | None => return Ok(None),
    };
    for (index, option) in target.map_options.iter().enumerate() {
        let at = at.key("map_options").index(index);
        let whole = !option.contains(|c: char| c == ',' || c.is_whitespace());
        check.ensure(whole, &at, "is not one option; write a list, as `[queue_depth=128, notrim]`")?;
        let key = option.split_once('=').map_or(option.as_str(), |(key, _)| key);
        check.ensure(known.contains(&key), &at, unknown(key, client, known))?;
    }
    let access = kernel_path::access(check, at, target)?;
    Ok(Some(Mapping { client, options: target.map_options.clone(), access }))
}

fn unknown(key: &str, client: MapClient, known: &[&str]) -> String {
    if matches!(key, "name" | "user" | "id" | "key" | "secret" | "keyring" | "keyfile") {
        return "is taken from `cluster.user` and its keyring".to_owned();
    }
    let meant = nearest(key, known.iter().copied()).map(|name| format!("; did you mean `{name}`?"));
    format!("{} has no map option `{key}`{}", client.name(), meant.unwrap_or_default())
}
