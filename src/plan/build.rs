//! Puts a plan together: variants, arms, workloads, trials, and the rules between them.

use std::hash::{BuildHasher, RandomState};

use crate::profile::{Fault, Loaded, Path, Profile, Repeats, Run};
use crate::units::Time;

use super::check::{self, Check};
use super::{
    Arm, CacheState, ClusterSpec, Order, Plan, RunSpec, arm, auto, cache, compare, memory, needs, order,
    pairs, sliced, sweep, verify, workload,
};

/// Why nothing runs before the measured part.
pub(super) const COLD: &str = "with `cache: cold`, since a ramp would warm the cache";
/// More than anybody has the time for.
const MAX_TRIALS: u64 = 100_000;

/// Plans a profile.
pub(super) fn plan(loaded: &Loaded) -> Result<Plan, Fault> {
    with_arms(loaded, false, |warnings| {
        sweep::check(loaded)?;
        let arms = arm::arms(loaded, warnings)?;
        warnings.extend(cache::check(&arms, &|_| None)?);
        Ok(arms)
    })
}

/// Plans a profile with these arms, which may have the images of the first in common.
pub(super) fn with_arms(
    loaded: &Loaded,
    same_images: bool,
    arms: impl FnOnce(&mut Vec<Fault>) -> Result<Vec<Arm>, Fault>,
) -> Result<Plan, Fault> {
    let Loaded { document, profile } = loaded;
    let mut warnings = Vec::new();
    let mut check = Check { document, swept: &[], warnings: &mut warnings };
    top(&check, profile)?;
    let mut run = run(&mut check, &profile.run)?;
    let arms = arms(&mut warnings)?;
    let workloads = workload::workloads(loaded, run.seed, &mut warnings)?;
    let verify_unit = verify::unit(&arms, &workloads, &mut warnings)?;
    pairs::check(&arms, &workloads, run.drop_caches, &mut warnings)?;
    let mut check = Check { document, swept: &[], warnings: &mut warnings };
    if arms.iter().all(|arm| arm.access().is_none()) {
        check
            .no_effect(&Path::parse("run.drop_caches"), "without targets that the kernel does the I/O of")?;
    }
    compare::check(&check, profile, &arms)?;
    sliced::check(&mut check, &run, &arms, &workloads)?;
    if run.until_decided {
        run.repeats = auto::repeats(&check, &run, &arms, &workloads)?;
    }
    let trials = arms.len() as u64 * workloads.len() as u64 * u64::from(run.repeats);
    if trials > MAX_TRIALS {
        let message = format!("makes {trials} trials, more than {MAX_TRIALS}");
        return Err(document.fault(&Path::parse("run.repeats"), message));
    }
    let trials = order::trials(&run, arms.len(), workloads.len());
    let at_once = if run.order == Order::Sliced { arms.len() } else { 1 };
    let owners = if same_images { &arms[..1] } else { &arms[..] };
    let needs = needs::needs(&arms, owners, &workloads, &trials, at_once, verify_unit);
    memory::check(&workloads, at_once, &needs)?;
    Ok(Plan {
        name: profile.name.clone(),
        labels: profile.labels.clone(),
        cluster: cluster(profile),
        arms,
        same_images,
        workloads,
        trials,
        run,
        verify_unit,
        needs,
        warnings,
        profile: document.value().clone(),
    })
}

/// Rules of the top of a profile.
fn top(check: &Check<'_>, profile: &Profile) -> Result<(), Fault> {
    let at = Path::parse;
    let message = format!("format {} is not known; this cephmark reads 1", profile.version);
    check.ensure(profile.version == 1, &at("version"), message)?;
    check::name(check.document, &at("name"), &profile.name)?;
    let user = profile.cluster.user.strip_prefix("client.").is_some_and(|id| !id.is_empty());
    check.ensure(user, &at("cluster.user"), "must name the type of user too, such as client.admin")?;
    check.ensure(profile.cluster.timeout > Time::default(), &at("cluster.timeout"), "must be above 0")?;
    check.ensure(!profile.targets.is_empty(), &at("targets"), "names nothing to test")?;
    check.ensure(!profile.workloads.is_empty(), &at("workloads"), "names no load")
}

fn cluster(profile: &Profile) -> ClusterSpec {
    let cluster = &profile.cluster;
    ClusterSpec { conf: cluster.conf.clone(), user: cluster.user.clone(), timeout: cluster.timeout.0 }
}

fn run(check: &mut Check<'_>, run: &Run) -> Result<RunSpec, Fault> {
    let at = Path::parse("run");
    let (repeats, until_decided) = match run.repeats {
        Repeats::Count(count) => (count, false),
        // How many there may be is known later.
        Repeats::Auto => (1, true),
    };
    check.ensure(repeats > 0, &at.key("repeats"), "must be at least 1")?;
    check.ensure(run.runtime > Time::default(), &at.key("runtime"), "must be above 0")?;
    check.ensure(run.stall > Time::default(), &at.key("stall"), "must be above 0")?;
    if run.order != Order::Sliced {
        check.no_effect(&at.key("slice"), "unless `order` is sliced")?;
    }
    if run.cache == Some(CacheState::Cold) {
        let message =
            "is cold only at the start of a trial, whose slices would be warmer and warmer; use interleaved";
        check.ensure(run.order != Order::Sliced, &at.key("cache"), message)?;
        check.no_effect(&at.key("ramp_time"), COLD)?;
    }
    if !until_decided {
        check.no_effect(&at.key("budget"), "unless `repeats` is auto")?;
    }
    Ok(RunSpec {
        repeats,
        until_decided,
        budget: run.budget.filter(|_| until_decided).map(|budget| budget.0),
        order: run.order,
        slice: run.slice.0,
        drop_caches: run.drop_caches,
        seed: run.seed.unwrap_or_else(fresh_seed),
        cache: run.cache,
        on_error: run.on_error,
        stall: run.stall.0,
        retries: run.retries,
    })
}

/// A seed that differs from run to run. It has 32 bits, so that every reader of JSON keeps it exact.
fn fresh_seed() -> u64 {
    RandomState::new().hash_one(()) & u64::from(u32::MAX)
}
