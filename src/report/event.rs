//! What a run tells while it goes on; the live views only listen.

use std::time::Duration;

use crate::result::{Status, Trial};

/// A part of a run that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Images are created.
    Create,
    /// Images are filled.
    Fill,
    /// The cluster is to become clean.
    Wait,
    /// Clients connect and open.
    Open,
    /// Caches are warmed.
    Warm,
    /// Load that is not measured.
    Ramp,
    /// Load that is.
    Measure,
    /// Caches are flushed.
    Drain,
    /// Images are removed.
    CleanUp,
}

impl Phase {
    /// What is being done.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "creating",
            Self::Fill => "filling",
            Self::Wait => "waiting for a clean cluster",
            Self::Open => "opening",
            Self::Warm => "warming",
            Self::Ramp => "ramp",
            Self::Measure => "measuring",
            Self::Drain => "draining",
            Self::CleanUp => "cleaning up",
        }
    }
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The run begins, or knows better what is to come: so many trials in all, and this long from now on.
    Run {
        /// Planned trials.
        trials: usize,
        /// It may be over after fewer.
        at_most: bool,
        /// Sum of what the phases are expected to take.
        expected: Duration,
    },
    /// A trial begins; the phases that follow are its own.
    Trial {
        /// Which one it is in the plan, from 0.
        index: usize,
        /// Its arm.
        arm: String,
        /// Its workload.
        workload: String,
    },
    /// A phase begins, which takes this long; zero where that is not known.
    Phase(Phase, Duration),
    /// The load of the last second.
    Tick(Tick),
    /// A trial is over.
    TrialDone(TrialLine),
    /// A run that repeats until it has decided looked at its comparisons.
    Look(Look),
    /// Something the user should read now.
    Message(String),
}

/// What a run that repeats until it has decided found when it looked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// The comparisons that more repeats may decide.
    pub open: Vec<String>,
    /// How many comparisons there are.
    pub of: usize,
    /// After how many repeats it looked, and what follows.
    pub text: String,
}

/// The load of the last second, over all jobs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tick {
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// 99th percentile of the response time, if an I/O completed.
    pub p99: Option<Duration>,
}

/// A trial in a line.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialLine {
    /// Its arm.
    pub arm: String,
    /// Its workload.
    pub workload: String,
    /// Whether it counts.
    pub status: Status,
    /// Its load over all jobs and operations.
    pub load: Tick,
    /// The first problem, if there is any.
    pub problem: Option<String>,
}

impl From<&Trial> for TrialLine {
    fn from(trial: &Trial) -> Self {
        let all = || trial.jobs.values().flat_map(|ops| ops.values());
        let p99 = all().filter_map(|figures| figures.latency_ns.p99).max();
        Self {
            arm: trial.arm.clone(),
            workload: trial.workload.clone(),
            status: trial.status,
            load: Tick {
                iops: all().map(|figures| figures.iops).sum(),
                bytes_per_s: all().map(|figures| figures.bytes_per_s).sum(),
                p99: p99.map(Duration::from_nanos),
            },
            problem: trial.problems.first().map(|problem| problem.text.clone()),
        }
    }
}
