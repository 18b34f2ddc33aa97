//! When an I/O is due: at once (a closed loop), or at times of its own that no slow cluster can put off (an open
//! loop). Due times are never skipped: a loop that fell behind sends as fast as it can until it has caught up.

use rand_distr::{Distribution as _, Exp1};

use super::random::{Purpose, Random, random};
use crate::plan::{Job, Pace};

/// The due times of one thread, in ns of the driver's clock.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    kind: Kind,
    start_ns: u64,
    due_ns: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    Closed,
    /// `position` counts intervals from the start, so that no rounding adds up.
    Linear {
        interval_ns: f64,
        position: f64,
        phase: f64,
    },
    Poisson {
        mean_ns: f64,
        elapsed_ns: f64,
        random: Random,
    },
}

impl Pacer {
    pub(crate) fn new(job: &Job, thread: u32) -> Self {
        let kind = match job.pace {
            Pace::Closed => Kind::Closed,
            Pace::Linear(rate) => {
                // Threads of a job take turns within the interval instead of sending in bursts.
                let phase = f64::from(thread) / f64::from(job.numjobs);
                Kind::Linear { interval_ns: 1e9 / rate.get(), position: phase, phase }
            }
            Pace::Poisson(rate) => Kind::Poisson {
                mean_ns: 1e9 / rate.get(),
                elapsed_ns: 0.0,
                random: random(job.randseed, thread, Purpose::Pace),
            },
        };
        Self { kind, start_ns: 0, due_ns: 0 }
    }

    /// Whether I/Os have due times of their own.
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self.kind, Kind::Closed)
    }

    /// Starts anew at `start_ns`.
    pub(crate) fn restart(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
        self.due_ns = start_ns;
        match &mut self.kind {
            Kind::Closed => {}
            Kind::Linear { interval_ns, position, phase } => {
                *position = *phase;
                self.due_ns = start_ns + (*position * *interval_ns) as u64;
            }
            Kind::Poisson { elapsed_ns, .. } => {
                *elapsed_ns = 0.0;
                self.advance();
            }
        }
    }

    /// When the next I/O is due; in a closed loop the start, which is always past.
    #[inline]
    pub(crate) fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// Goes on to the I/O after.
    #[inline]
    pub(crate) fn advance(&mut self) {
        let elapsed_ns = match &mut self.kind {
            Kind::Closed => return,
            Kind::Linear { interval_ns, position, .. } => {
                *position += 1.0;
                *position * *interval_ns
            }
            Kind::Poisson { mean_ns, elapsed_ns, random } => {
                let interval: f64 = Exp1.sample(random);
                *elapsed_ns += interval * *mean_ns;
                *elapsed_ns
            }
        };
        self.due_ns = self.start_ns + elapsed_ns as u64;
    }

    /// How many I/Os are due before `stop_ns`, beginning with the next.
    pub(crate) fn due_before(&mut self, stop_ns: u64) -> u64 {
        let mut count = 0;
        while self.is_open() && self.due_ns < stop_ns {
            count += 1;
            self.advance();
        }
        count
    }
}
