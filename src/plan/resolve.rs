//! A workload of the profile to one of the plan: defaults filled in, rules across keys checked.

use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

use crate::profile::{self, BlockShare, CacheState, Fault, Path, RateProcess, Run, Verify};
use crate::units::{Bytes, Percent};

use super::build::COLD;
use super::check::{self, Check};
use super::job::{Job, Pace};
use super::workload::JobPlan;

/// What is checked as one can't be smaller than what the smallest devices write as one.
const SECTOR: u64 = 512;
/// An I/O's length is 32 bits wide all the way down to the client.
const MAX_BLOCK: Bytes = Bytes(1 << 30);

/// The jobs of the workload at `at`, each with its name.
pub(super) fn jobs(
    check: &mut Check<'_>,
    at: &Path,
    workload: &profile::Job,
    run: &Run,
    seed: u64,
) -> Result<Vec<JobPlan>, Fault> {
    let Some(jobs) = &workload.jobs else {
        return Ok(vec![job(check, at, "", workload, run, seed)?]);
    };
    if let Some(key) = check.document.keys(at).find(|key| *key != "jobs") {
        let message = "stands beside `jobs`; move it into each job that it is meant for";
        return Err(check.fault(&at.key(key), message));
    }
    let at = at.key("jobs");
    check.ensure(!jobs.is_empty(), &at, "has no jobs")?;
    let mut seeds = SplitMix64::seed_from_u64(seed);
    let mut plans = Vec::new();
    for (name, written) in jobs {
        let at = at.key(name);
        check::name(check.document, &at, name)?;
        check.ensure(written.jobs.is_none(), &at.key("jobs"), "a job has no jobs of its own")?;
        plans.push(job(check, &at, name, written, run, seeds.next_u64())?);
    }
    one_window(check, &plans)?;
    Ok(plans)
}

/// All jobs of a trial measure over one common window.
fn one_window(check: &Check<'_>, plans: &[JobPlan]) -> Result<(), Fault> {
    let first = &plans[0].job;
    for plan in plans {
        let message =
            "differs from that of another job; the jobs of a workload run together, so give all the same";
        check.ensure(plan.job.runtime == first.runtime, &plan.path.key("runtime"), message)?;
        check.ensure(plan.job.ramp_time == first.ramp_time, &plan.path.key("ramp_time"), message)?;
    }
    Ok(())
}

fn job(
    check: &mut Check<'_>,
    at: &Path,
    name: &str,
    written: &profile::Job,
    run: &Run,
    seed: u64,
) -> Result<JobPlan, Fault> {
    let rw = written.rw.ok_or_else(|| check.fault(at, "`rw` is missing; add for example `rw: randread`"))?;
    let cold = run.cache == Some(CacheState::Cold);
    if cold {
        check.no_effect(&at.key("ramp_time"), COLD)?;
    }
    let whole = |key: &str, percent: Percent| {
        percent.as_whole().ok_or_else(|| check.fault(&at.key(key), "must be a whole number of percent"))
    };
    let job = Job {
        name: name.to_owned(),
        rw,
        rwmixread: whole("rwmixread", written.rwmixread)?,
        blocks: blocks(check, at, written)?,
        iodepth: written.iodepth,
        numjobs: written.numjobs,
        offset: written.offset,
        size: written.size.unwrap_or_default(),
        io_size: written.io_size,
        number_ios: written.number_ios,
        pace: pace(written),
        distribution: written.random_distribution,
        fsync: written.fsync,
        fdatasync: written.fdatasync,
        end_fsync: written.end_fsync,
        randseed: written.randseed.unwrap_or(seed),
        buffer_compress_percentage: whole("buffer_compress_percentage", written.buffer_compress_percentage)?,
        zero_buffers: written.zero_buffers,
        verify: written.verify == Verify::Crc32c,
        cpus_allowed: written.cpus_allowed.clone().map(|list| list.0).unwrap_or_default(),
        runtime: written.runtime.unwrap_or(run.runtime).0,
        ramp_time: if cold { Duration::ZERO } else { written.ramp_time.unwrap_or(run.ramp_time).0 },
    };
    counts(check, at, &job, written)?;
    verify(check, at, &job)?;
    without_effect(check, at, &job)?;
    Ok(JobPlan { path: at.clone(), size: written.size, seed_is_fixed: written.randseed.is_some(), job })
}

fn blocks(check: &Check<'_>, at: &Path, written: &profile::Job) -> Result<Vec<BlockShare>, Fault> {
    let (key, blocks) = match &written.bssplit {
        Some(split) => ("bssplit", split.0.clone()),
        None => ("bs", vec![BlockShare { size: written.bs, percent: 100 }]),
    };
    let both = written.bssplit.is_some() && check.written(&at.key("bs"));
    check.ensure(!both, &at.key("bssplit"), "stands beside `bs`; keep one of them")?;
    for BlockShare { size, .. } in &blocks {
        check.ensure(*size > Bytes(0), &at.key(key), "a block must be larger than 0")?;
        let too_large = format!("a block must not be larger than {MAX_BLOCK}");
        check.ensure(*size <= MAX_BLOCK, &at.key(key), too_large)?;
    }
    Ok(blocks)
}

fn pace(written: &profile::Job) -> Pace {
    match (written.rate_iops, written.rate_process) {
        (None, _) => Pace::Closed,
        (Some(rate), RateProcess::Linear) => Pace::Linear(rate),
        (Some(rate), RateProcess::Poisson) => Pace::Poisson(rate),
    }
}

/// Counts and sizes that must be above 0, and those that contradict each other.
fn counts(check: &Check<'_>, at: &Path, job: &Job, written: &profile::Job) -> Result<(), Fault> {
    let unlimited = "must be above 0; leave it out for no limit";
    check.ensure(job.iodepth > 0, &at.key("iodepth"), "must be at least 1")?;
    check.ensure(job.numjobs > 0, &at.key("numjobs"), "must be at least 1")?;
    let all = "must be above 0; leave it out for all of the image";
    check.ensure(written.size != Some(Bytes(0)), &at.key("size"), all)?;
    check.ensure(job.number_ios != Some(0), &at.key("number_ios"), unlimited)?;
    check.ensure(job.io_size != Some(Bytes(0)), &at.key("io_size"), unlimited)?;
    let moves_a_block = job.io_size.is_none_or(|size| size >= job.largest_block());
    let too_little = format!("is less than one block of {}", job.largest_block());
    check.ensure(moves_a_block, &at.key("io_size"), too_little)?;
    check.ensure(job.runtime > Duration::ZERO, &at.key("runtime"), "must be above 0")?;
    let agree = !job.zero_buffers || job.buffer_compress_percentage == 0;
    let contradiction = "contradicts `zero_buffers`; keep one of them";
    check.ensure(agree, &at.key("buffer_compress_percentage"), contradiction)?;
    cpus(check, &at.key("cpus_allowed"), &job.cpus_allowed)
}

fn cpus(check: &Check<'_>, at: &Path, cpus: &[usize]) -> Result<(), Fault> {
    let Ok(usable) = nix::sched::sched_getaffinity(nix::unistd::Pid::from_raw(0)) else { return Ok(()) };
    let missing = cpus.iter().find(|cpu| !usable.is_set(**cpu).unwrap_or(false));
    missing.map_or(Ok(()), |cpu| {
        Err(check.fault(at, format!("this process may not use processor {cpu} of this host")))
    })
}

/// What can't be marked can't be checked.
fn verify(check: &Check<'_>, at: &Path, job: &Job) -> Result<(), Fault> {
    if !job.verify {
        return Ok(());
    }
    let at = at.key("verify");
    let keeps_data = job.rw.writes() || !job.rw.changes_data();
    check.ensure(keeps_data, &at, "can't check trims or zeroes; leave it out here")?;
    let whole_sectors = job.blocks.iter().all(|share| share.size.get().is_multiple_of(SECTOR));
    check.ensure(whole_sectors, &at, format!("needs blocks that are multiples of {SECTOR} bytes"))
}

/// Keys that were written and do nothing.
fn without_effect(check: &mut Check<'_>, at: &Path, job: &Job) -> Result<(), Fault> {
    let rw = job.rw;
    if !rw.is_mixed() {
        check.no_effect(&at.key("rwmixread"), "unless `rw` is rw or randrw")?;
    }
    if !rw.is_random() {
        check.no_effect(&at.key("random_distribution"), "on sequential offsets")?;
    }
    if job.pace == Pace::Closed {
        check.no_effect(&at.key("rate_process"), "without `rate_iops`")?;
    }
    if !rw.writes() {
        for key in ["buffer_compress_percentage", "zero_buffers"] {
            check.no_effect(&at.key(key), "on a job that writes no data")?;
        }
    }
    if !rw.changes_data() {
        for key in ["fsync", "fdatasync", "end_fsync"] {
            check.no_effect(&at.key(key), "on a job that only reads")?;
        }
    }
    let draws = rw.is_random() || rw.writes() || job.blocks.len() > 1 || matches!(job.pace, Pace::Poisson(_));
    if !draws {
        check.no_effect(&at.key("randseed"), "on a job without random choices")?;
    }
    Ok(())
}
