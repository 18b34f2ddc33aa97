//! Why a load loop could not go on.

use std::time::Duration;

use crate::lane::LaneError;
use crate::measure::Failure;

/// Why a window could not be driven to its end.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// I/Os are in flight and none completes.
    #[error(
        "no I/O completed for {waited:.1?} with {in_flight} in flight, the oldest for {oldest:.1?}: the cluster is \
         stuck (see `ceph health detail`), or `run.stall` is too short"
    )]
    Stalled {
        /// For how long none completed.
        waited: Duration,
        /// How many are in flight.
        in_flight: u32,
        /// For how long the one sent first has been in flight.
        oldest: Duration,
    },
    /// A sync of all images failed.
    #[error("{0}")]
    Sync(Failure),
    /// The lane cannot go on.
    #[error(transparent)]
    Lane(#[from] LaneError),
}
