//! The figure that a metric stands for, of a trial or of a slice of one.

use std::collections::BTreeMap;

use crate::result::{Cpu, LatencyNs, Metric, Slice, Trial};

/// The operation under which figures of a whole trial are compared.
pub(super) const WHOLE_TRIAL: &str = "all";

/// Clients that do all of their work within our own process.
const WITHIN_OUR_PROCESS: [&str; 4] = ["null", "librbd", "librados", "libcephfs"];

/// Whether CPU per I/O is to be that of the whole host, for all trials alike: where any of them has its I/O done by the
/// kernel, or by another process.
pub(super) fn costs_whole_host(trials: &[&Trial]) -> bool {
    let mut clients = trials.iter().filter_map(|trial| trial.conditions.get("client"));
    clients.any(|client| !WITHIN_OUR_PROCESS.contains(&client.as_str()))
}

/// What makes one figure: a trial, or a slice of a trial whose arms alternated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    trial: &'a Trial,
    slice: Option<&'a Slice>,
    whole_host: bool,
}

/// The figure of one operation of one job in a whole trial that is not sliced, as comparisons take it; `None` where there
/// is none.
#[must_use]
pub fn value(trial: &Trial, job: &str, op: &str, metric: Metric) -> Option<f64> {
    Piece::of(trial, costs_whole_host(&[trial])).value(job, op, metric)
}

/// One operation's figures of a piece.
struct Figures<'a> {
    bytes: u64,
    iops: f64,
    bytes_per_s: f64,
    latency: &'a LatencyNs,
}

impl<'a> Piece<'a> {
    /// All of a trial.
    pub(super) const fn of(trial: &'a Trial, whole_host: bool) -> Self {
        Self { trial, slice: None, whole_host }
    }

    /// The slices of a trial, by the round that pairs them with those of other arms.
    pub(super) fn slices_of(trial: &'a Trial, whole_host: bool) -> BTreeMap<u32, Self> {
        let piece = |slice: &'a Slice| (slice.round, Self { trial, slice: Some(slice), whole_host });
        trial.slices.iter().map(piece).collect()
    }

    /// The figure of one operation of one job; CPU per I/O is a figure of the whole, under the job "" and the operation
    /// `all`. `None` where there is no such figure, or too few I/Os for it.
    pub(super) fn value(&self, job: &str, op: &str, metric: Metric) -> Option<f64> {
        if metric == Metric::UsPerIo {
            return (op == WHOLE_TRIAL).then(|| self.cpu_per_io()).flatten();
        }
        let Figures { bytes, iops, bytes_per_s, latency } = self.figures(job, op)?;
        match metric {
            // Acknowledged is not written: the flush at the end belongs to it.
            Metric::Iops | Metric::BytesPerS if op == "write" && self.trial.durable_on_ack == Some(false) => {
                let (durable, acknowledged) = (self.durable_rate(bytes)?, bytes_per_s);
                let rate = if metric == Metric::Iops { iops * durable / acknowledged } else { durable };
                Some(rate).filter(|rate| rate.is_finite())
            }
            Metric::Iops => Some(iops),
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

    /// A job's share, by the `bytes` that it wrote, of what all jobs made durable.
    fn durable_rate(&self, bytes: u64) -> Option<f64> {
        let (rate, written): (_, u64) = match self.slice {
            Some(slice) => {
                let writes = slice.jobs.values().filter_map(|ops| ops.get("write"));
                (slice.effective_bytes_per_s, writes.map(|found| found.bytes).sum())
            }
            None => {
                let writes = self.trial.jobs.values().filter_map(|ops| ops.get("write"));
                (self.trial.effective_bytes_per_s, writes.map(|found| found.bytes).sum())
            }
        };
        (written > 0).then(|| rate.map(|rate| rate * bytes as f64 / written as f64)).flatten()
    }

    fn cpu_per_io(&self) -> Option<f64> {
        let cpu: &Cpu = self.slice.map_or(&self.trial.cpu, |slice| &slice.cpu);
        if self.whole_host { cpu.host_us_per_io } else { cpu.us_per_io }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Figures as Measured, Ops};

    /// A trial of two jobs that write, one three times as much as the other.
    fn writes(durable_on_ack: bool) -> Trial {
        let ops = |bytes: u64| {
            let (iops, bytes_per_s) = (2.0 * bytes as f64, 4.0 * bytes as f64);
            Ops::from([("write".to_owned(), Measured { bytes, iops, bytes_per_s, ..Measured::default() })])
        };
        Trial {
            jobs: [("data".to_owned(), ops(300)), ("log".to_owned(), ops(100))].into(),
            durable_on_ack: Some(durable_on_ack),
            effective_bytes_per_s: Some(40.0),
            cpu: Cpu { us_per_io: Some(2.0), host_us_per_io: Some(5.0), ..Cpu::default() },
            ..Trial::failed()
        }
    }

    #[test]
    fn cached_writes_count_once_they_are_durable() {
        let rate = |trial: &Trial, job| Piece::of(trial, false).value(job, "write", Metric::BytesPerS);
        let (cached, durable) = (writes(false), writes(true));
        assert_eq!((rate(&cached, "data"), rate(&cached, "log")), (Some(30.0), Some(10.0)));
        assert_eq!(rate(&durable, "data"), Some(1200.0));
        let iops = |trial: &Trial| Piece::of(trial, false).value("data", "write", Metric::Iops);
        assert_eq!((iops(&cached), iops(&durable)), (Some(15.0), Some(600.0)), "in proportion");
    }

    #[test]
    fn cpu_is_that_of_the_host_for_all_arms_as_soon_as_one_has_its_ios_done_elsewhere() {
        let with_client = |client: &str| {
            let conditions = [("client".to_owned(), client.to_owned())].into();
            Trial { conditions, ..writes(true) }
        };
        let (librbd, krbd) = (with_client("librbd"), with_client("krbd"));
        let cost = |trials: &[&Trial]| {
            let whole_host = costs_whole_host(trials);
            trials
                .iter()
                .map(|trial| Piece::of(trial, whole_host).value("", WHOLE_TRIAL, Metric::UsPerIo))
                .collect()
        };
        let costs: [Vec<Option<f64>>; 2] = [cost(&[&librbd, &librbd]), cost(&[&librbd, &krbd])];
        assert_eq!(costs, [vec![Some(2.0); 2], vec![Some(5.0); 2]]);
    }
}
