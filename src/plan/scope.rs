//! What the profile format holds and this version does not do yet: refused, never ignored.

use crate::profile::{CephfsClient, Fault, Path, Target};

use super::check::Check;

/// Refuses what a target asks for and this version does not have.
pub(super) fn target(check: &Check<'_>, at: &Path, target: &Target) -> Result<(), Fault> {
    let client = at.key("cephfs").key("client");
    let lacking = match target {
        Target { cephfs: Some(cephfs), .. } => Some(match cephfs.client {
            CephfsClient::Libcephfs => (at.key("cephfs"), "the libcephfs client"),
            CephfsClient::Kernel => (client, "the kernel's CephFS client"),
            CephfsClient::Fuse => (client, "the ceph-fuse client"),
        }),
        Target { rados: Some(_), .. } => Some((at.key("rados"), "the rados target")),
        _ => None,
    };
    lacking.map_or(Ok(()), |(path, what)| refuse(check, &path, what, "use rbd"))
}

/// Says that this version does not have `what`.
pub(super) fn refuse<T>(check: &Check<'_>, path: &Path, what: &str, remedy: &str) -> Result<T, Fault> {
    Err(check.fault(path, format!("{what} is not built into this version; {remedy}")))
}
