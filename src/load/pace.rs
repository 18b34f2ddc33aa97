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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    fn pacer(pace: impl Fn(Rate) -> Pace, rate: f64, thread: u32, numjobs: u32) -> Pacer {
        let pace = pace(Rate::per_second(rate).expect("a rate"));
        let mut pacer = Pacer::new(&Job { pace, numjobs, ..Job::default() }, thread);
        pacer.restart(1000);
        pacer
    }

    fn due_times(mut pacer: Pacer, count: usize) -> Vec<u64> {
        let next = |_| {
            let due_ns = pacer.due_ns();
            pacer.advance();
            due_ns - 1000
        };
        (0..count).map(next).collect()
    }

    #[test]
    fn a_linear_rate_is_exact_even_if_its_interval_is_no_whole_number_of_ns() {
        let due = due_times(pacer(Pace::Linear, 3e6, 0, 1), 3_000_001);
        assert_eq!(due[..4], [0, 333, 666, 1000]);
        assert_eq!(due[3_000_000], 1_000_000_000);
    }

    #[test]
    fn threads_of_a_job_share_the_interval_out() {
        assert_eq!(due_times(pacer(Pace::Linear, 1000.0, 1, 4), 2), [250_000, 1_250_000]);
    }

    #[test]
    fn poisson_intervals_are_exponential() {
        let due = due_times(pacer(Pace::Poisson, 1e4, 0, 1), 200_001);
        let mut intervals: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e5).collect();
        let mean = intervals.iter().sum::<f64>() / intervals.len() as f64;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        intervals.sort_unstable_by(f64::total_cmp);
        for quantile in [0.1_f64, 0.5, 0.9, 0.99] {
            let wanted = -(1.0 - quantile).ln();
            let found = intervals[(quantile * intervals.len() as f64) as usize];
            assert!((found / wanted - 1.0).abs() < 0.04, "{quantile}: {found}, not {wanted}");
        }
    }

    #[test]
    fn what_is_due_before_the_stop_is_counted_to_the_last() {
        let mut pacer = pacer(Pace::Linear, 1000.0, 0, 1);
        (0..3).for_each(|_| pacer.advance());
        assert_eq!(pacer.due_before(1000 + 10_000_000), 7);
        assert_eq!(pacer.due_before(1000 + 10_000_000), 0);
    }

    #[test]
    fn a_closed_loop_is_always_due_and_never_behind() {
        let mut pacer = Pacer::new(&Job::default(), 0);
        pacer.restart(1000);
        pacer.advance();
        assert_eq!((pacer.due_ns(), pacer.due_before(u64::MAX)), (1000, 0));
    }
}
