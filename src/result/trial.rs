//! One trial: an arm running a workload once.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CacheFigures, Counters, Cpu, LatencyNs, Ops, SeriesPoint, Slice, Timestamp};

/// One trial, with what was in effect and what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// The target with its swept settings, such as `librbd[rbd_cache_policy=writeback]`.
    pub arm: String,
    /// The target's name in the profile.
    pub target: String,
    /// The workload's name in the profile.
    pub workload: String,
    /// Every swept setting, by its path in the profile.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Which repeat it is, from 0.
    #[serde(default)]
    pub repeat: u32,
    /// Which attempt at this repeat it is, from 0; above 0 after an invalid one.
    #[serde(default)]
    pub attempt: u32,
    /// Whether its figures may be believed.
    pub status: Status,
    /// Why not, or for a valid trial what a reader should know.
    #[serde(default)]
    pub problems: Vec<Problem>,
    /// When its measured part began.
    #[serde(default)]
    pub started: Option<Timestamp>,
    /// Length of the measured part, in seconds.
    #[serde(default)]
    pub measured_s: f64,
    /// Ceph options in effect, read back from the client.
    #[serde(default)]
    pub effective_options: BTreeMap<String, EffectiveOption>,
    /// What else a fair comparison wants alike, such as `client`, `image_size`, `object_size`, `features`, `images`,
    /// `prefill`, `messenger_mode`, `read_from_replica`, `page_cache`, `queue_depth`.
    #[serde(default)]
    pub conditions: BTreeMap<String, String>,
    /// Figures by job and operation; the job is "" where it is the only one and has no name.
    #[serde(default)]
    pub jobs: BTreeMap<String, Ops>,
    /// By job, what tells whether its figures can be believed.
    #[serde(default)]
    pub checks: BTreeMap<String, Checks>,
    /// Whether a write was durable once it was acknowledged; null where it is not known.
    #[serde(default)]
    pub durable_on_ack: Option<bool>,
    /// How long the flush at the end took, in seconds; null where nothing was owed.
    #[serde(default)]
    pub drain_s: Option<f64>,
    /// Bytes made durable over measured time plus drain; null where no write was cached.
    #[serde(default)]
    pub effective_bytes_per_s: Option<f64>,
    /// What the client's cache did; null where it kept no data.
    #[serde(default)]
    pub cache: Option<CacheFigures>,
    /// CPU time of the measured part.
    #[serde(default)]
    pub cpu: Cpu,
    /// Peak resident memory of this process, in bytes.
    #[serde(default)]
    pub max_rss_bytes: u64,
    /// The client's own performance counters.
    #[serde(default)]
    pub counters: Counters,
    /// The measured part second by second.
    #[serde(default)]
    pub series: Vec<SeriesPoint>,
    /// The slices that it consists of, in `order: sliced`.
    #[serde(default)]
    pub slices: Vec<Slice>,
}

impl Trial {
    /// A trial that could not be carried to its end: nothing measured.
    #[must_use]
    pub fn failed() -> Self {
        Self {
            arm: String::new(),
            target: String::new(),
            workload: String::new(),
            settings: BTreeMap::new(),
            repeat: 0,
            attempt: 0,
            status: Status::Failed,
            problems: Vec::new(),
            started: None,
            measured_s: 0.0,
            effective_options: BTreeMap::new(),
            conditions: BTreeMap::new(),
            jobs: BTreeMap::new(),
            checks: BTreeMap::new(),
            durable_on_ack: None,
            drain_s: None,
            effective_bytes_per_s: None,
            cache: None,
            cpu: Cpu::default(),
            max_rss_bytes: 0,
            counters: Counters::default(),
            series: Vec::new(),
            slices: Vec::new(),
        }
    }
}

/// Whether the figures of a trial may be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// They may.
    Valid,
    /// It ran, but something disturbed it.
    Invalid,
    /// An I/O error or a crash of the trial itself.
    Failed,
}

/// Something a reader must know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// A stable word for scripts, such as `osd_down`.
    pub code: String,
    /// One line for people, with the remedy where there is one.
    pub text: String,
}

/// The value of a Ceph option in effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EffectiveOption {
    /// The value as Ceph prints it.
    pub value: String,
    /// Where it comes from.
    pub source: OptionSource,
}

/// Where the value of a Ceph option comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OptionSource {
    /// Set in the client: by the profile, `ceph.conf`, the environment or the monitors' configuration.
    Client,
    /// `conf_` metadata of the pool.
    Pool,
    /// `conf_` metadata of the image.
    Image,
    /// Ceph's default.
    Default,
}

impl OptionSource {
    /// The word for it in result files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Pool => "pool",
            Self::Image => "image",
            Self::Default => "default",
        }
    }
}

/// What tells whether the figures of a job can be believed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Checks {
    /// I/Os that were due within the measured time and never sent, in an open loop.
    pub unsent: u64,
    /// I/Os still in flight when the measured time ended; no figure includes them.
    pub unfinished: u64,
    /// Open loop: from when an I/O was due to when it was sent, although a slot was free. Null in a closed loop.
    pub lateness_ns: Option<LatencyNs>,
    /// What reading back found; null without `verify`.
    pub verified: Option<Verified>,
}

/// What reading back found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Verified {
    /// Units read and checked.
    pub units: u64,
    /// Units that did not hold what was written.
    pub mismatches: u64,
    /// The first few of them.
    pub first: Vec<Mismatch>,
}

/// A unit that did not hold what was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Mismatch {
    /// Index of the image within the arm.
    pub image: u32,
    /// Offset in the image, in bytes.
    pub offset: u64,
    /// What was written, in words.
    pub expected: String,
    /// What was read, in words.
    pub found: String,
}
