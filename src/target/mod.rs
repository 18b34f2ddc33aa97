//! The things under test: set up, held open under load, read back, removed.

mod connect;
mod crew;
mod device;
mod direct;
mod effective;
mod error;
mod files;
pub mod fill;
mod image_set;
mod krbd;
mod left_mapping;
mod librbd;
pub mod managed;
mod mapped;
mod medium;
mod nbd;
pub mod new_file;
mod page_cache;
mod queue;
mod session;
pub mod warm;

pub use connect::connect;
pub use device::Device;
pub use effective::{Effective, Origin, librbd_holds, overridden};
pub use error::Error;

pub use files::{FileSet, Files, check_engine};
pub use image_set::ImageSet;
pub use krbd::check_mappable;
pub use left_mapping::{LeftMapping, left_mappings};
pub use librbd::Clients;
pub use mapped::{Mapped, MappedSet, unmap_all};
pub use medium::{Medium, Opened};
pub use nbd::check_installed as check_nbd;
pub use page_cache::{check_droppable, drop_page_cache};
pub use queue::restore_queues;
pub use session::Session;
