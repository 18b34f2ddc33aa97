//! What will happen: sweeps expanded, rules across fields checked, order of trials, time and space.
//!
//! Second stop of the flow, between `profile` and the targets. Whatever a profile asks for that can't be done is
//! refused here, before any I/O.

mod arm;
mod auto;
mod build;
mod cache;
mod check;
mod compare;
mod fit;
mod job;
mod kernel_path;
pub mod knobs;
mod mapping;
mod memory;
mod needs;
mod options;
mod order;
mod pairs;
mod render;
mod resolve;
mod scope;
mod sliced;
mod subject;
mod sweep;
mod tune;
mod verify;
mod workload;

use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use serde_json::Value;

pub use crate::profile::{
    BlockShare, CacheState, Constraint, Distribution, Engine, Fault, Objective, OnError, Order, Rw, Sharing,
};
pub use arm::{Arm, ClientOption, ExistingImage, ManagedImages, Subject};
pub use job::{Job, Pace};
pub use kernel_path::{Access, KernelPath, PathKind};
pub use mapping::{MapClient, Mapping};
pub use needs::{Needs, Written};
pub use order::BlockOrders;
pub use sliced::Slicing;
pub use tune::{CONFIRMATION_BLOCKS, CONFIRMATION_SHARE, FIRST_BLOCKS, Setting, Tuning};
pub use workload::WorkloadPlan;

use crate::profile::Loaded;
use crate::units::Bytes;

/// What will happen, in full: nothing is left to defaults.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Name of the profile.
    pub name: String,
    /// Words that tell results of different places apart.
    pub labels: IndexMap<String, String>,
    /// The cluster to use.
    pub cluster: ClusterSpec,
    /// Every target with its swept settings.
    pub arms: Vec<Arm>,
    /// Whether all arms use the images of the first one, in turn.
    pub same_images: bool,
    /// Every workload with its swept settings; each arm runs each of them.
    pub workloads: Vec<WorkloadPlan>,
    /// The trials in their order.
    pub trials: Vec<TrialPlan>,
    /// How trials are run.
    pub run: RunSpec,
    /// What is marked and checked as one, where any workload verifies: it divides all block sizes and offsets.
    pub verify_unit: Option<Bytes>,
    /// What the plan takes: time, writes, space, memory.
    pub needs: Needs,
    /// What the user should know before it starts.
    pub warnings: Vec<Fault>,
    /// The profile as it was used, with `--set` applied, for the result.
    pub profile: Value,
}

/// The cluster to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterSpec {
    /// Path of `ceph.conf`; without it `CEPH_CONF` counts, then Ceph's own search path.
    pub conf: Option<PathBuf>,
    /// Ceph user with its type, such as `client.admin`.
    pub user: String,
    /// How long connecting and every single command may take.
    pub timeout: Duration,
}

/// One trial: an arm runs a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TrialPlan {
    /// Index into [`Plan::arms`].
    pub arm: usize,
    /// Index into [`Plan::workloads`].
    pub workload: usize,
    /// Which repeat of the two, counted from 0. Trials of equal repeat and workload make a block.
    pub repeat: u32,
}

/// How trials are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunSpec {
    /// How often each arm runs each workload; at the most, if it stops once all is decided.
    pub repeats: u32,
    /// Whether it stops once every comparison is decided.
    pub until_decided: bool,
    /// How long the run may take: no repeat is begun that would end later.
    pub budget: Option<Duration>,
    /// Order of the trials.
    pub order: Order,
    /// How long an arm runs before the next one takes over, in [`Order::Sliced`].
    pub slice: Duration,
    /// Seed of the order and of every job without one of its own.
    pub seed: u64,
    /// Drop the page cache before each measured part.
    pub drop_caches: bool,
    /// State of the clients' caches at the start of a trial; without it that of a fresh connection.
    pub cache: Option<CacheState>,
    /// What an I/O error does.
    pub on_error: OnError,
    /// How long no I/O at all may complete before the cluster counts as stuck.
    pub stall: Duration,
    /// How often an invalid trial is repeated.
    pub retries: u32,
}

impl Plan {
    /// The pools that its arms use.
    #[must_use]
    pub fn pools(&self) -> Vec<String> {
        let mut pools = Vec::new();
        for arm in &self.arms {
            match &arm.subject {
                Subject::Managed(managed) => {
                    pools.push(managed.pool.clone());
                    pools.extend(managed.data_pool.clone());
                }
                Subject::Existing(existing) => pools.push(existing.pool.clone()),
                Subject::Kernel(_) | Subject::Null(_) => {}
            }
        }
        pools.sort_unstable();
        pools.dedup();
        pools
    }

    /// Which of its sets of images an arm uses.
    #[must_use]
    pub const fn image_set(&self, arm: usize) -> usize {
        if self.same_images { 0 } else { arm }
    }

    /// How many sets of images it has.
    #[must_use]
    pub const fn image_sets(&self) -> usize {
        if self.same_images { 1 } else { self.arms.len() }
    }

    /// Checks its cache options once more, with the values that a client has of those that no arm sets. What comes back are
    /// warnings. A tuning finds out by itself what has no effect.
    ///
    /// # Errors
    /// [`Fault`] at an option that is swept over though it does nothing, and at one that breaks the order of limits.
    pub fn check_caches(&self, client: knobs::Values<'_>) -> Result<Vec<Fault>, Fault> {
        if self.same_images { Ok(Vec::new()) } else { cache::check(&self.arms, client) }
    }

    /// Plans a profile.
    ///
    /// # Errors
    /// [`Fault`] at the first rule that the profile breaks.
    pub fn new(loaded: &Loaded) -> Result<Self, Fault> {
        build::plan(loaded)
    }
}
