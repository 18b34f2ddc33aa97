//! cephmark: a benchmarker for Ceph's native clients.
//!
//! The flow is one way: `profile -> plan -> target -> lane <- load -> measure -> result -> report`. Nothing to the
//! right is imported by anything to its left; `run` ties the parts together, `tune` runs what it decides as it goes, and
//! `cli` is the face of both.

pub mod ceph;
pub mod cli;
pub mod clock;
pub mod compare;
pub mod console;
pub mod exit;
pub mod lab;
pub mod lane;
pub mod load;
pub mod measure;
pub mod nearest;
pub mod plan;
pub mod profile;
pub mod report;
pub mod result;
pub mod run;
pub mod stats;
pub mod target;
pub mod tune;
pub mod units;
