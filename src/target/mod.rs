//! The things under test: set up, held open under load, read back, removed.

mod crew;
mod effective;
mod error;
pub mod fill;
mod librbd;
pub mod managed;
mod session;

pub use effective::{Effective, Origin, overridden};
pub use error::Error;
pub use librbd::{Clients, ImageSet};
pub use session::Session;
