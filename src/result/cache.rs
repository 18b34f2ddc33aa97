//! What a client's cache did during a trial.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What librbd's object cache did over the measured time, summed over all images: from its own counters, less what they
/// count twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CacheFigures {
    /// Reads that were answered from memory.
    pub hits: u64,
    /// Reads that went to an OSD, or waited for one that did; without what librbd read ahead on its own account.
    pub misses: u64,
    /// Hits of all reads, 0 to 1; null without reads.
    pub hit_ratio: Option<f64>,
    /// Bytes written to the cache.
    pub written_bytes: u64,
    /// Bytes that the cache wrote to OSDs, the flush at the end included; fewer than were written where writes to the
    /// same place were combined.
    pub flushed_bytes: u64,
    /// Bytes that the flush at the end had left to send, without those on their way; null in `order: sliced`, which
    /// flushes after each slice.
    pub owed_bytes: Option<u64>,
    /// Writes that waited because too much was dirty.
    pub blocked_writes: u64,
    /// Bytes of these writes.
    pub blocked_bytes: u64,
    /// Time that these writes waited, one after the other, in seconds.
    pub blocked_s: f64,
    /// Reads that librbd did ahead of the load.
    pub readaheads: u64,
    /// Bytes of these reads.
    pub readahead_bytes: u64,
}
