//! The figure of a trial that a metric stands for.

use crate::result::{Metric, Trial};

/// The operation under which figures of a whole trial are compared.
pub(super) const WHOLE_TRIAL: &str = "all";

/// The figure of one operation of one job; CPU per I/O is a figure of the whole trial, under the job "" and the operation
/// `all`. `None` where the trial has no such figure, or too few I/Os for it.
#[must_use]
pub fn value(trial: &Trial, job: &str, op: &str, metric: Metric) -> Option<f64> {
    if metric == Metric::UsPerIo {
        return (op == WHOLE_TRIAL).then(|| cpu_per_io(trial)).flatten();
    }
    let figures = trial.jobs.get(job)?.get(op)?;
    let latency = &figures.latency_ns;
    match metric {
        Metric::Iops => Some(figures.iops),
        Metric::BytesPerS if op == "write" && trial.durable_on_ack == Some(false) => {
            // Acknowledged is not written: the flush at the end belongs to it.
            let seconds = trial.measured_s + trial.drain_s.unwrap_or(0.0);
            (seconds > 0.0).then(|| figures.bytes as f64 / seconds)
        }
        Metric::BytesPerS => Some(figures.bytes_per_s),
        Metric::Mean => latency.mean,
        Metric::P50 => latency.p50.map(|time| time as f64),
        Metric::P99 => latency.p99.map(|time| time as f64),
        Metric::P99_9 => latency.p99_9.map(|time| time as f64),
        Metric::UsPerIo => None,
    }
}

/// Of the whole host where it is known, for that holds the kernel's share too; else of the process.
fn cpu_per_io(trial: &Trial) -> Option<f64> {
    trial.cpu.host_us_per_io.or(trial.cpu.us_per_io)
}
