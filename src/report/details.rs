//! Single trials, in the words and the shape of fio's output.

use super::document::Block;
use super::human::{Kind, bandwidth, plural};
use super::summary::{Group, place};
use crate::result::{CacheFigures, Checks, Figures, LatencyNs, Status, Trial};

/// A block for each trial that has figures.
pub(super) fn trials(groups: &[Group]) -> Vec<Block> {
    let mut text = String::new();
    for group in groups {
        for trial in group.arms.iter().flat_map(|arm| &arm.trials) {
            text += &format!("{}: {}\n{}\n", trial.arm, title(group, trial), body(trial));
        }
    }
    text.truncate(text.trim_end().len());
    if text.is_empty() {
        return Vec::new();
    }
    vec![Block::Heading("Trials".to_owned(), String::new()), Block::Lines(text + "\n")]
}

fn title(group: &Group, trial: &Trial) -> String {
    let status = match trial.status {
        Status::Valid => "valid",
        Status::Invalid => "INVALID",
        Status::Failed => "FAILED",
    };
    let attempt = if trial.attempt > 0 { format!(", attempt {}", trial.attempt + 1) } else { String::new() };
    let measured = Kind::Seconds.one(trial.measured_s);
    format!("{}, repeat {}{attempt}, {measured}, {status}", group.title(), trial.repeat + 1)
}

fn body(trial: &Trial) -> String {
    let mut text = String::new();
    for (job, ops) in &trial.jobs {
        let mut ops: Vec<_> = ops.iter().collect();
        ops.sort_by_key(|(op, _)| (place(op), *op));
        for (op, figures) in ops {
            let name = if job.is_empty() { op.clone() } else { format!("{job} {op}") };
            text += &operation(&name, figures, trial.measured_s);
        }
    }
    text += &whole(trial);
    for (job, checks) in &trial.checks {
        text += &self::checks(job, checks);
    }
    text
}

fn operation(name: &str, figures: &Figures, measured_s: f64) -> String {
    let latency = &figures.latency_ns;
    let moved = Kind::Bytes.one(figures.bytes as f64);
    let mut text = format!(
        "  {name}: IOPS={}, BW={}, {moved} in {}, errors={}\n",
        Kind::Count.one(figures.iops),
        bandwidth(figures.bytes_per_s),
        Kind::Seconds.one(measured_s),
        figures.failed(),
    );
    for (error, count) in &figures.errors {
        text += &format!("    {error}: {}\n", plural(*count as usize, "I/O"));
    }
    text += &format!("    lat: {}\n", extent(latency));
    text += &format!("    lat percentiles: {}\n", percentiles(latency));
    // In a closed loop both are the same I/O for I/O; saying it twice would only hide the case where they are not.
    if figures.service_ns != *latency {
        text += &format!("    service: {}\n", extent(&figures.service_ns));
        text += &format!("    service percentiles: {}\n", percentiles(&figures.service_ns));
    }
    text
}

fn extent(latency: &LatencyNs) -> String {
    let whole = |time: Option<u64>| this(time.map(|time| time as f64));
    format!(
        "min={}, avg={}, max={}, stdev={}",
        whole(latency.min),
        this(latency.mean),
        whole(latency.max),
        this(latency.stddev)
    )
}

fn percentiles(latency: &LatencyNs) -> String {
    let all = [
        ("50th", latency.p50),
        ("90th", latency.p90),
        ("95th", latency.p95),
        ("99th", latency.p99),
        ("99.9th", latency.p99_9),
        ("99.99th", latency.p99_99),
    ];
    let known =
        all.iter().filter_map(|(name, time)| time.map(|time| format!("{name}={}", this(Some(time as f64)))));
    let known = known.collect::<Vec<_>>().join(", ");
    if known.is_empty() { "too few I/Os".to_owned() } else { known }
}

fn this(time: Option<f64>) -> String {
    time.map_or_else(|| "-".to_owned(), |time| Kind::Nanoseconds.one(time).replace(' ', ""))
}

/// In less, the start and the end of the threads are most of what the CPU did.
const SHORTEST_WITH_CPU_S: f64 = 0.1;

fn whole(trial: &Trial) -> String {
    let cpu = &trial.cpu;
    let percent = |seconds: f64| seconds / trial.measured_s * 100.0;
    let mut text = if trial.measured_s < SHORTEST_WITH_CPU_S {
        "  cpu: measured for too short a time".to_owned()
    } else {
        format!("  cpu: usr={:.1}%, sys={:.1}%", percent(cpu.process_user_s), percent(cpu.process_system_s))
    };
    if let Some(cost) = cpu.us_per_io {
        text += &format!(", {}us/IO", Kind::Plain.one(cost));
    }
    if let Some(cost) = cpu.host_us_per_io {
        text += &format!(", whole host {}us/IO", Kind::Plain.one(cost));
    }
    text += &format!("; peak memory {}\n", Kind::Bytes.one(trial.max_rss_bytes as f64));
    if let Some(drain) = trial.drain_s {
        let durable = trial
            .effective_bytes_per_s
            .map_or_else(String::new, |rate| format!(", durable BW={}", bandwidth(rate)));
        text += &format!("  drain: {}{durable}\n", Kind::Seconds.one(drain));
    }
    text + &trial.cache.map_or_else(String::new, |cache| self::cache(&cache))
}

fn cache(cache: &CacheFigures) -> String {
    let bytes = |bytes: u64| Kind::Bytes.one(bytes as f64);
    let mut said = Vec::new();
    if let Some(ratio) = cache.hit_ratio {
        let reads = plural((cache.hits + cache.misses) as usize, "read");
        said.push(format!("{}% hits of {reads}", Kind::Plain.one(ratio * 100.0)));
    }
    if cache.readaheads > 0 {
        let reads = plural(cache.readaheads as usize, "read");
        said.push(format!("{reads} ahead of {} in all", bytes(cache.readahead_bytes)));
    }
    if cache.written_bytes > 0 {
        said.push(format!(
            "{} written and {} flushed",
            bytes(cache.written_bytes),
            bytes(cache.flushed_bytes)
        ));
    }
    if let Some(owed) = cache.owed_bytes.filter(|owed| *owed > 0) {
        said.push(format!("{} of that at the end", bytes(owed)));
    }
    if cache.blocked_writes > 0 {
        let writes = plural(cache.blocked_writes as usize, "write");
        let waited = Kind::Seconds.one(cache.blocked_s);
        said.push(format!("{writes} of {} blocked for {waited}", bytes(cache.blocked_bytes)));
    }
    if said.is_empty() { String::new() } else { format!("  cache: {}\n", said.join(", ")) }
}

fn checks(job: &str, checks: &Checks) -> String {
    let name = if job.is_empty() { String::new() } else { format!("{job} ") };
    let mut text = String::new();
    if let Some(lateness) = &checks.lateness_ns {
        let unsent = plural(checks.unsent as usize, "I/O");
        text += &format!("  {name}lateness: {}; {unsent} due but unsent\n", extent(lateness));
    }
    if let Some(verified) = &checks.verified {
        let units = plural(verified.units as usize, "unit");
        text += &format!("  {name}verify: {units}, {} of them not as written\n", verified.mismatches);
    }
    if checks.unfinished > 0 {
        text += &format!(
            "  {name}unfinished: {} in flight at the end, not counted\n",
            plural(checks.unfinished as usize, "I/O")
        );
    }
    text
}
