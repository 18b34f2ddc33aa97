//! The id of a run: in the names and the metadata of what it makes, and in the blocks it writes.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// The id of a run; two runs of one host differ, as do with near certainty those of different hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunId(u64);

impl RunId {
    /// A new id, from the time and this process.
    #[must_use]
    pub(super) fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let nanoseconds = (now.as_nanos() & u128::from(u64::MAX)) as u64;
        Self(nanoseconds ^ u64::from(std::process::id()).rotate_left(44))
    }

    /// The number that written blocks carry.
    #[must_use]
    pub(super) const fn number(self) -> u64 {
        self.0
    }
}

impl Default for RunId {
    fn default() -> Self {
        Self::new()
    }
}

/// 16 hexadecimal digits.
impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
