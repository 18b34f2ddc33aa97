//! The machine that the load ran on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What of a machine moves the figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Release of the kernel, as `uname -r`.
    pub kernel: String,
    /// Model of the processor.
    pub cpu_model: String,
    /// Processors this process may use.
    pub cpus: u32,
    /// Main memory, in bytes.
    pub memory_bytes: u64,
    /// CPU frequency governor, such as `performance`; null where the kernel offers none, as in most guests.
    pub governor: Option<String>,
    /// Memory allocator in the process, such as `glibc` or `tcmalloc`.
    pub allocator: String,
    /// What reading the clock costs, in nanoseconds: every I/O pays for it once or twice.
    pub clock_read_ns: u64,
    /// Whether it is a guest of a hypervisor.
    pub is_guest: bool,
}
