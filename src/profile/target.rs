//! A thing under test.

use std::path::PathBuf;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::{OptionValue, Options};
use super::rbd::Rbd;
use crate::units::Bytes;

/// A thing under test: exactly one of `rbd`, `cephfs`, `rados`, `block`, `file` and `null`, and how to use it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Target {
    /// RBD images.
    pub rbd: Option<Rbd>,
    /// A file on CephFS.
    pub cephfs: Option<Cephfs>,
    /// RADOS objects.
    pub rados: Option<Rados>,
    /// A block device of this host.
    pub block: Option<Block>,
    /// A file on any mounted file system.
    pub file: Option<File>,
    /// Nothing: I/O that completes at once, which measures cephmark itself.
    pub null: Option<Null>,
    /// Ceph client options in Ceph's own names, set before the connection is made.
    pub options: Options,
    /// Map options of krbd and nbd, such as `queue_depth=128`.
    pub map_options: Vec<String>,
    /// An image, device or file that exists may be overwritten.
    pub destroys_data: bool,
    /// Whether all load threads share a handle of each image, or each opens its own.
    pub handles: Sharing,
    /// Whether all load threads share a connection, or each makes its own; `per_job` needs `handles: per_job`.
    pub connections: Sharing,
    /// Bypass the page cache; for file, block and kernel paths, where it is true by default.
    pub direct: Option<bool>,
    /// Which queue hands I/O to the kernel; for file, block and kernel paths.
    pub engine: Engine,
    /// Queue attributes of kernel paths for the time of the run: `nr_requests`, `read_ahead_kb`, ...
    pub queue: IndexMap<String, OptionValue>,
}

/// Who shares a handle or a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sharing {
    /// All load threads of an arm.
    #[default]
    Shared,
    /// Each load thread has its own.
    PerJob,
}

/// A queue that hands I/O to the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// io_uring.
    #[default]
    IoUring,
    /// Linux AIO, for where io_uring is not allowed: asynchronous only with direct I/O.
    LinuxAio,
}

impl Engine {
    /// The word for it in profiles and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IoUring => "io_uring",
            Self::LinuxAio => "linux_aio",
        }
    }
}

/// A file on CephFS.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cephfs {
    /// File system name; without it the cluster's default.
    pub fs: Option<String>,
    /// Directory that cephmark's files are made in.
    pub path: PathBuf,
    /// Size of the file.
    pub size: Bytes,
    /// Which client does the I/O.
    pub client: CephfsClient,
}

impl Default for Cephfs {
    fn default() -> Self {
        Self { fs: None, path: "/cephmark".into(), size: Bytes(1 << 30), client: CephfsClient::Libcephfs }
    }
}

/// A client of CephFS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CephfsClient {
    /// The userspace library.
    #[default]
    Libcephfs,
    /// The kernel's client.
    Kernel,
    /// ceph-fuse.
    Fuse,
}

/// RADOS objects.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rados {
    /// Pool of the objects.
    pub pool: String,
    /// Size of each object.
    #[serde(default = "default_object_size")]
    pub object_size: Bytes,
    /// How many objects.
    pub objects: u32,
}

fn default_object_size() -> Bytes {
    Bytes(4 << 20)
}

/// A block device of this host.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Path of the device. Written only with `destroys_data`, and only if unmounted and unused.
    pub path: PathBuf,
}

/// A file on any mounted file system.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Path of the file; of one that cephmark makes the begin of its name.
    pub path: PathBuf,
    /// Size of a file that cephmark makes beside `path`, and removes; without it the file at `path` must exist.
    pub size: Option<Bytes>,
}

/// Nothing: I/O that completes at once.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Null {
    /// The range that offsets are chosen from; no memory stands behind it.
    pub size: Bytes,
}

impl Default for Null {
    fn default() -> Self {
        Self { size: Bytes(10 << 30) }
    }
}
