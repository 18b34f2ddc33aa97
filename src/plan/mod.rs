//! What will happen: sweeps expanded, rules across fields checked, order of trials, time and space.

mod job;

pub use job::{BlockShare, Distribution, Job, Pace, Rw};
