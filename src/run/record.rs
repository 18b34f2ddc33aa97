//! From what a trial gave to what the result file says of it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Number, Value};

use super::held::{About, Outcome, Setting};
use super::{Error, cache_figures, fairness, judge};
use crate::lane::Op;
use crate::measure::{self, Finding, Second, Tally};
use crate::plan::{CacheState, Job, PathKind, Subject};
use crate::result::{
    self, Checks, Counters, Cpu, EffectiveOption, Figures, Host, LatencyNs, Mismatch, OptionSource, Problem,
    SeriesPoint, Slice, SliceFigures, Timestamp, Trial, Verified,
};
use crate::target::{self, Effective, Origin};
use crate::units::Bytes;

/// What the user should know of a trial.
#[must_use]
pub(super) fn problem(code: &str, text: impl Into<String>) -> Problem {
    Problem { code: code.to_owned(), text: text.into() }
}

/// Settings of the profile that pool or image metadata beats.
///
/// # Errors
/// [`Error::Target`] if one of them is swept over.
pub(super) fn overrides(setting: &Setting<'_>, effective: &[Effective]) -> Result<Vec<Problem>, Error> {
    let Some(images) = setting.medium.images() else { return Ok(Vec::new()) };
    let said = target::overridden(setting.arm, images, effective)?;
    let mut problems: Vec<_> = said.into_iter().map(|text| problem("option_overridden", text)).collect();
    for option in effective {
        if let Some(image) = &option.image {
            let Effective { name, value, .. } = option;
            let text = format!("{image} has {name}={value}, unlike the arm's first image");
            problems.push(problem("options_differ", text));
        }
    }
    Ok(problems)
}

/// The record of a trial, during which this was found of the cluster.
#[must_use]
pub(super) fn trial(about: About<'_>, started: Timestamp, outcome: &Outcome, findings: &[Finding]) -> Trial {
    let (status, problems) = judge::judge(&about, outcome, findings);
    let conditions = conditions(&about);
    let About { setting, effective, durable_on_ack, .. } = about;
    let settings = setting.arm.settings.iter().chain(&setting.workload.settings).cloned().collect();
    Trial {
        arm: setting.arm.name.clone(),
        target: setting.arm.target.clone(),
        workload: setting.workload.name.clone(),
        settings,
        repeat: setting.repeat,
        attempt: setting.attempt,
        status,
        problems,
        started: Some(started),
        measured_s: measured(&outcome.tallies).as_secs_f64(),
        effective_options: common(&effective).map(effective_option).collect(),
        conditions,
        jobs: by_job(&setting, outcome, figures_of_all_ops),
        checks: by_job(&setting, outcome, checks),
        durable_on_ack,
        drain_s: drain(&setting, outcome),
        effective_bytes_per_s: effective_rate(outcome),
        cache: cache_figures::figures(outcome),
        cpu: cpu(&setting, outcome),
        max_rss_bytes: outcome.peak_memory.unwrap_or_default().get(),
        counters: counters_between(&outcome.counters),
        series: series(&setting.jobs, &outcome.series),
        slices: outcome.slices.clone(),
    }
}

/// The record of a slice, which began at `begin` on the clock of all slices.
#[must_use]
pub(super) fn slice(setting: &Setting<'_>, outcome: &Outcome, round: u32, begin: Duration) -> Slice {
    Slice {
        round,
        begin_s: begin.as_secs_f64(),
        measured_s: measured(&outcome.tallies).as_secs_f64(),
        jobs: by_job(setting, outcome, slice_figures),
        drain_s: drain(setting, outcome),
        effective_bytes_per_s: effective_rate(outcome),
        cpu: cpu(setting, outcome),
    }
}

fn by_job<T>(setting: &Setting<'_>, outcome: &Outcome, of: fn(&Job, &Tally) -> T) -> BTreeMap<String, T> {
    let pairs = setting.jobs.iter().zip(&outcome.tallies);
    pairs.map(|(job, tally)| (job.name.clone(), of(job, tally))).collect()
}

fn measured(tallies: &[Tally]) -> Duration {
    tallies.iter().map(|tally| tally.elapsed).max().unwrap_or_default()
}

fn figures_of_all_ops(_: &Job, tally: &Tally) -> BTreeMap<String, Figures> {
    let ops = Op::ALL.into_iter().filter_map(|op| Some((op, tally.figures(op)?)));
    ops.map(|(op, found)| {
        let (response, service) = (found.response.histogram(), found.service().histogram());
        let figures = Figures::of(response, service, Bytes(found.bytes), tally.elapsed);
        (op.name().to_owned(), Figures { errors: found.errors.clone(), ..figures })
    })
    .collect()
}

fn slice_figures(job: &Job, tally: &Tally) -> BTreeMap<String, SliceFigures> {
    let all = figures_of_all_ops(job, tally).into_iter();
    all.map(|(op, Figures { ios, bytes, iops, bytes_per_s, latency_ns, .. })| {
        (op, SliceFigures { ios, bytes, iops, bytes_per_s, latency_ns })
    })
    .collect()
}

fn checks(job: &Job, tally: &Tally) -> Checks {
    let found = &tally.checks;
    let verified = job.verify.then(|| Verified {
        units: found.verified + found.mismatched,
        mismatches: found.mismatched,
        first: found.first.iter().map(mismatch).collect(),
    });
    Checks {
        unsent: tally.unsent,
        unfinished: tally.unfinished,
        lateness_ns: tally.lateness.as_ref().map(|lateness| LatencyNs::of(lateness.histogram())),
        verified,
    }
}

fn mismatch(found: &crate::measure::Mismatch) -> Mismatch {
    let (first, last) = (found.expected.start(), found.expected.end());
    let expected =
        if first == last { format!("generation {first}") } else { format!("generation {first} to {last}") };
    Mismatch { image: found.image, offset: found.offset.get(), expected, found: found.found.to_string() }
}

/// The machine, in the result's words.
pub(super) fn host(found: measure::Host) -> Host {
    Host {
        name: found.name,
        kernel: found.kernel,
        cpu_model: found.cpu_model,
        cpus: found.cpus,
        memory_bytes: found.memory.get(),
        governor: found.governor,
        allocator: found.allocator,
        clock_read_ns: found.clock_read.as_nanos() as u64,
        is_guest: found.is_guest,
    }
}

fn effective_option(option: &Effective) -> (String, EffectiveOption) {
    let source = match option.origin {
        Origin::Default => OptionSource::Default,
        Origin::Client => OptionSource::Client,
        Origin::Pool => OptionSource::Pool,
        Origin::Image => OptionSource::Image,
    };
    (option.name.clone(), EffectiveOption { value: option.value.clone(), source })
}

/// What all images of an arm have in effect.
fn common(effective: &[Effective]) -> impl Iterator<Item = &Effective> {
    effective.iter().filter(|option| option.image.is_none())
}

fn option<'a>(effective: &'a [Effective], name: &str) -> Option<&'a str> {
    common(effective).find(|option| option.name == name).map(|option| option.value.as_str())
}

fn conditions(about: &About<'_>) -> BTreeMap<String, String> {
    let About { setting, effective, conditions, .. } = about;
    let mut conditions = conditions.clone();
    let mut say = |key: &str, value: String| conditions.insert(key.to_owned(), value);
    say("images", setting.arm.images().to_string());
    match &setting.arm.subject {
        Subject::Null(_) => {
            say("client", "null".to_owned());
        }
        Subject::Managed(managed) => {
            say("client", setting.arm.rbd_client().to_owned());
            say("prefill", managed.prefill.to_string());
        }
        Subject::Existing(_) => {
            say("client", setting.arm.rbd_client().to_owned());
        }
        Subject::Kernel(path) => {
            say("client", if path.kind == PathKind::Device { "block" } else { "file" }.to_owned());
            if let PathKind::NewFile { prefill, .. } = path.kind {
                say("prefill", prefill.to_string());
            }
        }
    }
    if let Some(state) = setting.run.cache {
        say("cache", if state == CacheState::Cold { "cold" } else { "warm" }.to_owned());
    }
    for (key, name) in
        [("messenger_mode", "ms_client_mode"), ("read_from_replica", "rbd_read_from_replica_policy")]
    {
        if let Some(value) = option(effective, name) {
            say(key, value.to_owned());
        }
    }
    conditions.extend(fairness::alike(setting.arm, setting.run.drop_caches, &|name| about.in_effect(name)));
    conditions
}

fn drain(setting: &Setting<'_>, outcome: &Outcome) -> Option<f64> {
    setting.workload.changes_data().then_some(outcome.drain.as_secs_f64())
}

/// Bytes written and made durable, over all time of load plus drain. The edges of slices count here: what is written in
/// them is drained too.
fn effective_rate(outcome: &Outcome) -> Option<f64> {
    let bytes =
        |tally: &Tally| tally.figures(Op::Write).map_or(0, |found| found.bytes) + tally.written_in_edge.get();
    let written: u64 = outcome.tallies.iter().map(bytes).sum();
    let edge = outcome.tallies.iter().map(|tally| tally.edge).max().unwrap_or_default();
    let seconds = (edge + measured(&outcome.tallies) + outcome.drain).as_secs_f64();
    (written > 0 && seconds > 0.0).then(|| written as f64 / seconds)
}

fn cpu(setting: &Setting<'_>, outcome: &Outcome) -> Cpu {
    let (usage, ios) = (&outcome.cpu, outcome.tallies.iter().map(Tally::ios).sum());
    let microseconds = |time: Duration| time.as_secs_f64() * 1e6;
    Cpu {
        process_user_s: usage.process.user.as_secs_f64(),
        process_system_s: usage.process.system.as_secs_f64(),
        host_busy_s: usage.host_busy.map(|busy| busy.as_secs_f64()),
        us_per_io: usage.process_per_io(ios).map(microseconds),
        host_us_per_io: setting.idle.and_then(|idle| usage.host_per_io(ios, idle)).map(microseconds),
    }
}

fn series(jobs: &[Job], seconds: &[Vec<Second>]) -> Vec<SeriesPoint> {
    let mut points = Vec::new();
    for (job, seconds) in jobs.iter().zip(seconds) {
        for second in seconds {
            let length = second.length.as_secs_f64();
            for (op, interval) in Op::ALL.into_iter().zip(&second.ops) {
                let Some(interval) = interval else { continue };
                points.push(SeriesPoint {
                    t_s: (second.at + second.length).as_secs_f64(),
                    job: job.name.clone(),
                    op: op.name().to_owned(),
                    iops: interval.ios as f64 / length,
                    bytes_per_s: interval.bytes as f64 / length,
                    mean_ns: Some(interval.mean.as_nanos() as f64),
                    p99_ns: result::are_enough(interval.ios, 0.99).then_some(interval.p99.as_nanos() as u64),
                    max_ns: Some(interval.max.as_nanos() as u64),
                });
            }
        }
    }
    points.sort_by(|a, b| a.t_s.total_cmp(&b.t_s));
    points
}

/// How much each counter grew; what did not move is left out.
fn counters_between([before, after]: &[BTreeMap<String, Value>; 2]) -> Counters {
    let mut grown = Counters::new();
    for (logger, values) in after {
        let Value::Object(values) = values else { continue };
        let earlier = before.get(logger);
        let moved = values.iter().filter_map(|(name, value)| {
            let change = change(earlier.and_then(|logger| logger.get(name)), value)?;
            Some((name.clone(), change))
        });
        let moved: BTreeMap<_, _> = moved.collect();
        if !moved.is_empty() {
            grown.insert(logger.clone(), moved);
        }
    }
    grown
}

fn change(before: Option<&Value>, after: &Value) -> Option<Value> {
    match after {
        Value::Number(now) => number_change(before.and_then(Value::as_number), now).map(Value::Number),
        Value::Object(parts) => {
            // `avgtime` is no sum: the mean over the window follows from the other two.
            let parts = parts.iter().filter(|(part, _)| *part == "avgcount" || *part == "sum");
            let moved: Map<_, _> = parts
                .filter_map(|(part, now)| {
                    Some((part.clone(), change(before.and_then(|b| b.get(part)), now)?))
                })
                .collect();
            (!moved.is_empty()).then_some(Value::Object(moved))
        }
        _ => None,
    }
}

fn number_change(before: Option<&Number>, after: &Number) -> Option<Number> {
    let moved = match (before.map_or(Some(0), Number::as_u64), after.as_u64()) {
        (Some(before), Some(after)) => Number::from(after.saturating_sub(before)),
        _ => Number::from_f64(after.as_f64()? - before.and_then(Number::as_f64).unwrap_or(0.0))?,
    };
    (moved.as_f64() != Some(0.0)).then_some(moved)
}
