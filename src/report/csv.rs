//! One row for each trial, job and operation, for spreadsheets and data frames (RFC 4180).

use super::summary::place;
use crate::result::{Checks, Figures, LatencyNs, ResultFile, Status, Trial};

/// What a row is made of.
struct Record<'a> {
    result: &'a ResultFile,
    trial: &'a Trial,
    job: &'a str,
    op: &'a str,
    figures: Figures,
    checks: Checks,
}

type Column = (&'static str, fn(&Record) -> String);

/// The columns in their order; `docs/results.md` says what they hold. New ones are only ever added at the end.
pub const COLUMNS: [&str; TABLE.len()] = {
    let mut names = [""; TABLE.len()];
    let mut index = 0;
    while index < TABLE.len() {
        names[index] = TABLE[index].0;
        index += 1;
    }
    names
};

const TABLE: [Column; 60] = [
    ("run", |r| r.result.name().to_owned()),
    ("run_started", |r| r.result.started.to_string()),
    ("labels", |r| pairs(r.result.labels.iter())),
    ("arm", |r| r.trial.arm.clone()),
    ("target", |r| r.trial.target.clone()),
    ("workload", |r| r.trial.workload.clone()),
    ("settings", |r| pairs(r.trial.settings.iter())),
    ("repeat", |r| r.trial.repeat.to_string()),
    ("attempt", |r| r.trial.attempt.to_string()),
    ("status", |r| status(r.trial.status).to_owned()),
    ("problems", |r| r.trial.problems.iter().map(|p| p.code.as_str()).collect::<Vec<_>>().join(";")),
    ("started", |r| r.trial.started.map_or_else(String::new, |time| time.to_string())),
    ("measured_s", |r| number(r.trial.measured_s)),
    ("job", |r| r.job.to_owned()),
    ("op", |r| r.op.to_owned()),
    ("ios", |r| r.figures.ios.to_string()),
    ("bytes", |r| r.figures.bytes.to_string()),
    ("errors", |r| r.figures.failed().to_string()),
    ("iops", |r| number(r.figures.iops)),
    ("bytes_per_s", |r| number(r.figures.bytes_per_s)),
    ("latency_mean_ns", |r| number(r.figures.latency_ns.mean)),
    ("latency_stddev_ns", |r| number(r.figures.latency_ns.stddev)),
    ("latency_min_ns", |r| whole(r.figures.latency_ns.min)),
    ("latency_max_ns", |r| whole(r.figures.latency_ns.max)),
    ("latency_p50_ns", |r| whole(r.figures.latency_ns.p50)),
    ("latency_p90_ns", |r| whole(r.figures.latency_ns.p90)),
    ("latency_p95_ns", |r| whole(r.figures.latency_ns.p95)),
    ("latency_p99_ns", |r| whole(r.figures.latency_ns.p99)),
    ("latency_p99_9_ns", |r| whole(r.figures.latency_ns.p99_9)),
    ("latency_p99_99_ns", |r| whole(r.figures.latency_ns.p99_99)),
    ("service_mean_ns", |r| number(r.figures.service_ns.mean)),
    ("service_max_ns", |r| whole(r.figures.service_ns.max)),
    ("service_p50_ns", |r| whole(r.figures.service_ns.p50)),
    ("service_p99_ns", |r| whole(r.figures.service_ns.p99)),
    ("service_p99_9_ns", |r| whole(r.figures.service_ns.p99_9)),
    ("service_p99_99_ns", |r| whole(r.figures.service_ns.p99_99)),
    ("durable_on_ack", |r| r.trial.durable_on_ack.map_or_else(String::new, |durable| durable.to_string())),
    ("drain_s", |r| number(r.trial.drain_s)),
    ("effective_bytes_per_s", |r| number(r.trial.effective_bytes_per_s)),
    ("process_user_s", |r| number(r.trial.cpu.process_user_s)),
    ("process_system_s", |r| number(r.trial.cpu.process_system_s)),
    ("host_busy_s", |r| number(r.trial.cpu.host_busy_s)),
    ("us_per_io", |r| number(r.trial.cpu.us_per_io)),
    ("host_us_per_io", |r| number(r.trial.cpu.host_us_per_io)),
    ("max_rss_bytes", |r| r.trial.max_rss_bytes.to_string()),
    ("unsent", |r| r.checks.unsent.to_string()),
    ("unfinished", |r| r.checks.unfinished.to_string()),
    ("lateness_mean_ns", |r| number(lateness(r).mean)),
    ("lateness_p99_ns", |r| whole(lateness(r).p99)),
    ("lateness_max_ns", |r| whole(lateness(r).max)),
    ("verified_units", |r| whole(r.checks.verified.as_ref().map(|verified| verified.units))),
    ("verified_mismatches", |r| whole(r.checks.verified.as_ref().map(|verified| verified.mismatches))),
    ("fsid", |r| r.result.cluster.as_ref().map_or_else(String::new, |cluster| cluster.fsid.clone())),
    ("cache_hits", |r| whole(r.trial.cache.map(|cache| cache.hits))),
    ("cache_misses", |r| whole(r.trial.cache.map(|cache| cache.misses))),
    ("cache_hit_ratio", |r| number(r.trial.cache.and_then(|cache| cache.hit_ratio))),
    ("cache_owed_bytes", |r| whole(r.trial.cache.and_then(|cache| cache.owed_bytes))),
    ("cache_blocked_writes", |r| whole(r.trial.cache.map(|cache| cache.blocked_writes))),
    ("cache_blocked_bytes", |r| whole(r.trial.cache.map(|cache| cache.blocked_bytes))),
    ("cache_blocked_s", |r| number(r.trial.cache.map(|cache| cache.blocked_s))),
];

/// The rows of `result` below a line of column names. A trial without figures has one row, so that it is not lost.
#[must_use]
pub fn csv(result: &ResultFile) -> String {
    let mut text = COLUMNS.join(",") + "\r\n";
    for record in result.trials.iter().flat_map(|trial| records(result, trial)) {
        let fields: Vec<_> = TABLE.iter().map(|(_, field)| quoted(&field(&record))).collect();
        text += &fields.join(",");
        text += "\r\n";
    }
    text
}

fn records<'a>(result: &'a ResultFile, trial: &'a Trial) -> Vec<Record<'a>> {
    let record = |job: &'a str, op: &'a str, figures: Figures| Record {
        result,
        trial,
        job,
        op,
        figures,
        checks: trial.checks.get(job).cloned().unwrap_or_default(),
    };
    let mut records = Vec::new();
    for (job, ops) in &trial.jobs {
        let mut ops: Vec<_> = ops.iter().collect();
        ops.sort_by_key(|(op, _)| place(op));
        records.extend(ops.into_iter().map(|(op, figures)| record(job, op, figures.clone())));
    }
    if records.is_empty() {
        records.push(record("", "", Figures::default()));
    }
    records
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Valid => "valid",
        Status::Invalid => "invalid",
        Status::Failed => "failed",
    }
}

fn lateness(record: &Record) -> LatencyNs {
    record.checks.lateness_ns.unwrap_or_default()
}

fn pairs<'a>(pairs: impl Iterator<Item = (&'a String, &'a String)>) -> String {
    pairs.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(";")
}

fn number(value: impl Into<Option<f64>>) -> String {
    value.into().map_or_else(String::new, |value| value.to_string())
}

fn whole(value: Option<u64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn quoted(field: &str) -> String {
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
