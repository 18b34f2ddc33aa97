//! The cluster watch: whether the cluster was left in peace while a trial ran.
//!
//! A [`Look`] is the cluster at one moment, a [`Journal`] what a series of them amounts to over a trial. The question is
//! put to the monitors alone, in one command a second, and in two when something has changed.

mod condition;
mod journal;
mod look;

pub use condition::{Condition, Trouble};
pub use journal::{Finding, Journal};
pub use look::Look;
