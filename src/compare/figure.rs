//! The figure that a metric stands for, of a trial or of a slice of one.

use crate::result::{Cpu, LatencyNs, Metric, Slice, Trial};

/// The operation under which figures of a whole trial are compared.
pub(super) const WHOLE_TRIAL: &str = "all";

/// What makes one figure: a trial, or a slice of a trial whose arms alternated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    trial: &'a Trial,
    slice: Option<&'a Slice>,
}

/// One operation's figures of a piece.
struct Figures<'a> {
    bytes: u64,
    iops: f64,
    bytes_per_s: f64,
    latency: &'a LatencyNs,
}

impl<'a> Piece<'a> {
    /// The pieces of a trial with the number that pairs them with those of other arms: its slices by round, or itself.
    pub(super) fn of(trial: &'a Trial) -> Vec<((u32, u32), Self)> {
        if trial.slices.is_empty() {
            return vec![((trial.repeat, 0), Self { trial, slice: None })];
        }
        let slices = trial.slices.iter();
        slices.map(|slice| ((trial.repeat, slice.round), Self { trial, slice: Some(slice) })).collect()
    }

    /// The figure of one operation of one job; CPU per I/O is a figure of the whole, under the job "" and the operation
    /// `all`. `None` where there is no such figure, or too few I/Os for it.
    pub(super) fn value(&self, job: &str, op: &str, metric: Metric) -> Option<f64> {
        if metric == Metric::UsPerIo {
            return (op == WHOLE_TRIAL).then(|| self.cpu_per_io()).flatten();
        }
        let Figures { bytes, iops, bytes_per_s, latency } = self.figures(job, op)?;
        match metric {
            Metric::Iops => Some(iops),
            // Acknowledged is not written: the flush at the end belongs to it.
            Metric::BytesPerS if op == "write" && self.trial.durable_on_ack == Some(false) => {
                Some(bytes as f64 / self.seconds_with_drain()).filter(|rate| rate.is_finite())
            }
            Metric::BytesPerS => Some(bytes_per_s),
            Metric::Mean => latency.mean,
            Metric::P50 => latency.p50.map(|time| time as f64),
            Metric::P99 => latency.p99.map(|time| time as f64),
            Metric::P99_9 => latency.p99_9.map(|time| time as f64),
            Metric::UsPerIo => None,
        }
    }

    fn figures(&self, job: &str, op: &str) -> Option<Figures<'a>> {
        if let Some(slice) = self.slice {
            let found = slice.jobs.get(job)?.get(op)?;
            let (bytes, latency) = (found.bytes, &found.latency_ns);
            return Some(Figures { bytes, iops: found.iops, bytes_per_s: found.bytes_per_s, latency });
        }
        let found = self.trial.jobs.get(job)?.get(op)?;
        let (bytes, latency) = (found.bytes, &found.latency_ns);
        Some(Figures { bytes, iops: found.iops, bytes_per_s: found.bytes_per_s, latency })
    }

    fn seconds_with_drain(&self) -> f64 {
        match self.slice {
            Some(slice) => slice.measured_s + slice.drain_s.unwrap_or(0.0),
            None => self.trial.measured_s + self.trial.drain_s.unwrap_or(0.0),
        }
    }

    /// Of the whole host where it is known, for that holds the kernel's share too; else of the process.
    fn cpu_per_io(&self) -> Option<f64> {
        let cpu: &Cpu = self.slice.map_or(&self.trial.cpu, |slice| &slice.cpu);
        cpu.host_us_per_io.or(cpu.us_per_io)
    }
}
