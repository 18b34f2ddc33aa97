//! Whether a trial may be believed, and what its reader should know.

use super::fairness;
use super::held::{About, Outcome, Setting};
use super::record::problem;
use crate::lane::Op;
use crate::measure::{CpuUsage, Finding, Second, Tally, Unsteady};
use crate::plan::{CacheState, Job, Pace};
use crate::result::{Problem, Status};

/// From this share on processors count as busy all the time.
const BUSY: f64 = 0.95;

/// The verdict on a trial, and its problems, those that decided first.
#[must_use]
pub(super) fn judge(about: &About<'_>, outcome: &Outcome, findings: &[Finding]) -> (Status, Vec<Problem>) {
    let jobs = &about.setting.jobs;
    let mut problems = about.failures.clone();
    problems.extend(jobs.iter().zip(&outcome.tallies).flat_map(|(job, tally)| failures(job, tally)));
    // A trial without a single I/O measured nothing.
    let disturbed = findings.iter().any(|finding| finding.trouble.invalidates())
        || outcome.tallies.iter().all(|tally| tally.ios() == 0);
    let status = match (problems.is_empty(), disturbed) {
        (false, _) => Status::Failed,
        (true, true) => Status::Invalid,
        (true, false) => Status::Valid,
    };
    problems.extend(findings.iter().map(|finding| problem(finding.trouble.code(), finding.text.clone())));
    problems.extend(about.problems.iter().cloned());
    let Setting { arm, run, .. } = about.setting;
    problems.extend(fairness::limits(arm, jobs, run.drop_caches, &|name| about.in_effect(name)));
    for ((job, tally), seconds) in jobs.iter().zip(&outcome.tallies).zip(&outcome.series) {
        problems.extend(limits(job, tally));
        // What begins cold is not meant to be steady.
        if about.setting.run.cache != Some(CacheState::Cold) {
            problems.extend(unsteady(job, seconds));
        }
    }
    problems.extend(busy(&outcome.cpu));
    (status, problems)
}

fn prefix(job: &Job) -> String {
    if job.name.is_empty() { String::new() } else { format!("job {}: ", job.name) }
}

/// What makes a trial a failed one.
pub(super) fn failures(job: &Job, tally: &Tally) -> Vec<Problem> {
    let (mut problems, prefix) = (Vec::new(), prefix(job));
    if let Some(failure) = &tally.failure {
        let text = format!("{prefix}{} I/Os failed; the first: {failure}", tally.errors());
        problems.push(problem("io_error", text));
    }
    if let Some(first) = tally.checks.first.first() {
        let count = tally.checks.mismatched;
        let text = format!("{prefix}{count} units did not hold what was written; the first: {first}");
        problems.push(problem("verify_mismatch", text));
    }
    problems
}

/// Where something else than the target may have set the pace.
fn limits(job: &Job, tally: &Tally) -> Vec<Problem> {
    let (mut problems, prefix) = (Vec::new(), prefix(job));
    if tally.unsent > 0 {
        let count = tally.unsent;
        let text = format!(
            "{prefix}{count} I/Os were due and not sent when the time was over: the target does not keep up with the rate"
        );
        problems.push(problem("unsent", text));
    }
    let seconds = (tally.edge + tally.elapsed).as_secs_f64() * f64::from(job.numjobs);
    if tally.cpu.total().as_secs_f64() > BUSY * seconds {
        let text = format!(
            "{prefix}the load thread was busy all the time: cephmark itself may be the limit; raise numjobs"
        );
        problems.push(problem("load_thread_busy", text));
    }
    if tally.ios() == 0 {
        let text = format!("{prefix}no I/O completed within the measured time; raise runtime");
        problems.push(problem("no_io", text));
    }
    problems
}

/// A trial on the way from one state to another. It is valid: what it measured is true, if not for long.
fn unsteady(job: &Job, seconds: &[Second]) -> Option<Problem> {
    let whole = seconds.iter().filter(|second| second.length.as_secs() >= 1);
    // In an open loop the rate is given, and what moves is the time.
    let (what, figures): (_, Vec<f64>) = match job.pace {
        Pace::Closed => ("IOPS", whole.map(|second| second.ios() as f64).collect()),
        Pace::Linear(_) | Pace::Poisson(_) => ("the mean response time", whole.filter_map(mean).collect()),
    };
    let text = match Unsteady::of(&figures)? {
        Unsteady::Drift(by) if by < 0.0 => format!("{what} fell by {:.0} %", -by * 100.0),
        Unsteady::Drift(by) => format!("{what} rose by {:.0} %", by * 100.0),
        Unsteady::Range(by) => format!("{what} of one part and another differ by {:.0} %", by * 100.0),
    };
    Some(problem(
        "unsteady",
        format!("{}{text} over the measured time; raise ramp_time or runtime", prefix(job)),
    ))
}

/// Mean response time of all operations, in ns.
fn mean(second: &Second) -> Option<f64> {
    let sum = |interval: &crate::measure::Interval| interval.mean.as_nanos() as f64 * interval.ios as f64;
    let total: f64 = Op::ALL.into_iter().filter_map(|op| second.ops[op as usize].as_ref()).map(sum).sum();
    (second.ios() > 0).then(|| total / second.ios() as f64)
}

/// All processors busy: whoever needs one waits.
fn busy(usage: &CpuUsage) -> Option<Problem> {
    (usage.share() > BUSY).then(|| {
        let text = format!(
            "this host's processors were busy for more than {:.0} % of the time: they may be the limit, and not the target",
            BUSY * 100.0
        );
        problem("host_cpu_busy", text)
    })
}
