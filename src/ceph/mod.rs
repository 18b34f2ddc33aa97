//! The safe layer over Ceph's C clients, one file per feature. Targets set up through it, lanes submit through it.
//!
//! Handles are cheap to clone and thread-safe, and each holds what it came from: an [`Image`] its [`Pool`], a pool
//! its [`Cluster`]. The last holder closes, and never waits longer than the connection's timeout for it. Calls block;
//! [`within`] gives one a deadline and makes it interruptible.

mod admin_socket;
mod aio;
mod call;
mod cluster;
mod config;
mod create;
mod deadline;
mod error;
mod extents;
mod features;
mod holders;
mod image;
mod image_options;
mod metadata;
mod monitor;
mod options;
mod pool;
mod snapshots;
mod socket_directory;
mod status;
mod usage;
mod version;

pub use admin_socket::AdminSocket;
pub use aio::{Notify, Request};
pub use cluster::Cluster;
pub use config::{Config, Role};
pub use create::Layout;
pub(crate) use deadline::leave_behind;
pub use deadline::{finish_within, leave, leave_if_stuck, within};
pub use error::Error;
pub use features::Features;
pub use holders::{LockOwner, Watcher};
pub use image::{Image, ImageInfo, View};
pub use image_options::{ImageOption, Source};
pub use monitor::{Osds, Version};
pub use options::nearest_option;
pub use pool::Pool;
pub use snapshots::Snapshot;
pub use status::{Osd, OsdMap, PoolState, Status};
pub use usage::{ClusterUsage, PoolUsage};
pub use version::librbd_version;
