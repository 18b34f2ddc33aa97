//! What several tests need: cephmark itself, and one cluster for all of them.

pub(crate) mod block;
pub(crate) mod ceph;
pub(crate) mod cluster;
pub(crate) mod faults;
pub(crate) mod glusterfs;
pub(crate) mod kernel_site;
pub(crate) mod loop_device;
pub(crate) mod schema;
pub(crate) mod site;

use std::process::Command;

/// The program under test.
pub(crate) fn cephmark(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cephmark"));
    command.args(arguments).env_remove("CEPH_CONF").env_remove("CEPH_ARGS");
    command
}
