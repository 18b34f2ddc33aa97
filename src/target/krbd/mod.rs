//! RBD images through the kernel's client: mapped and unmapped through sysfs, by cephmark itself.
//!
//! Each mapping names its key in the kernel after the run and the process that made it. sysfs shows that name to root
//! for as long as the mapping lasts, so that what a killed run left can be told from mappings of others.

mod bus;
mod key;
mod line;
mod map;

pub use map::check_mappable;

pub(super) use map::{Krbd, map, mappings, unmap, unmap_all};
