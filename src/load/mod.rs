//! The load loop: decides what each I/O does and when, drives a lane with it, and measures what comes back.
//!
//! A [`Driver`] is one load thread of one job. It takes its sequence of I/Os from a stream (mix, place), their due
//! times from a pacer, the data they write from a payload or from the ledger of verification, and writes what it
//! measures into a [`crate::measure::Tally`]. Nothing is allocated, locked or dispatched dynamically per I/O.

mod account;
mod block;
mod data;
mod drive;
mod error;
mod ledger;
mod mix;
mod pace;
mod permutation;
mod place;
mod random;
mod stream;
mod supply;
mod thread;
mod verify;
mod window;

pub use drive::{Common, Driver};
pub use error::DriveError;
pub use ledger::Ledger;
pub use thread::{ThreadError, prepare_thread};
pub use window::Window;
