//! Rules of cache options: what does nothing is told and not swept over, limits stand in their order, memory is counted.

use crate::profile::{Fault, Sharing};
use crate::units::Bytes;

use super::knobs::{self, Policy};
use super::{Arm, ClientOption, WorkloadPlan};

/// The limits of write-back, each of which must be below the one before.
const ORDER: [&str; 3] = ["rbd_cache_size", "rbd_cache_max_dirty", "rbd_cache_target_dirty"];

/// An option with which librbd hangs (16.2.15 does) where it acts.
const HANGS: &str = "rbd_cache_block_writes_upfront";

/// Checks the cache options of all arms; `elsewhere` knows the values of options that an arm does not set, as far as
/// anybody does. What comes back are warnings.
///
/// # Errors
/// [`Fault`] at an option that is swept over though it does nothing, and at one that breaks the order of limits.
pub(super) fn check(arms: &[Arm], elsewhere: knobs::Values<'_>) -> Result<Vec<Fault>, Fault> {
    let mut warnings = Vec::new();
    // Arms that a sweep made of one target share what does not vary.
    let mut warn = |warning: Fault| {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    };
    let idle: Vec<_> = arms.iter().map(|arm| idle(arm, elsewhere)).collect();
    let acting: Vec<_> = arms.iter().zip(&idle).map(|(arm, idle)| acting(arm, idle)).collect();
    for (index, arm) in arms.iter().enumerate() {
        let (swept, fixed): (Vec<_>, Vec<_>) = idle[index].iter().partition(|(option, _)| arm.sweeps(option));
        for (option, reason) in fixed {
            warn(arm.option_fault(option, format!("has no effect {reason}")));
        }
        let hangs = arm.option(HANGS).filter(|option| option.value == "true");
        if let Some(option) = hangs.filter(|option| idle[index].iter().all(|(idle, _)| idle != option)) {
            let message = "can make librbd hang once several writes wait at the dirty limit (16.2.15 does)";
            warn(arm.option_fault(option, message));
        }
        let is_alike = |other: usize| arms[other].target == arm.target && acting[other] == acting[index];
        if let Some((option, reason)) = swept.first()
            && (0..arms.len()).any(|other| other != index && is_alike(other))
        {
            let message = format!("a sweep over it shows nothing: it has no effect {reason}");
            return Err(arm.option_fault(option, message));
        }
        limits(arm, elsewhere)?;
    }
    Ok(warnings)
}

/// The options of an arm that do nothing, and why.
fn idle<'a>(arm: &'a Arm, elsewhere: knobs::Values<'_>) -> Vec<(&'a ClientOption, String)> {
    let reason =
        |option: &ClientOption| knobs::known(&option.name)?.idle(&|name| value(arm, name, elsewhere));
    arm.options.iter().filter_map(|option| Some((option, reason(option)?))).collect()
}

/// Takes out of an arm what varies and does nothing; a fault says why of the first.
pub(super) fn take_out_idle(arm: &mut Arm) -> Option<Fault> {
    let swept = idle(arm, &|_| None).into_iter().filter(|(option, _)| arm.sweeps(option));
    let swept: Vec<(ClientOption, String)> = swept.map(|(option, reason)| (option.clone(), reason)).collect();
    let fault =
        swept.first().map(|(option, reason)| arm.option_fault(option, format!("has no effect {reason}")));
    for (option, _) in swept {
        let path = arm.option_path(&option).to_string();
        arm.settings.retain(|(varies, _)| *varies != path);
        arm.options.retain(|other| *other != option);
    }
    fault
}

/// What varies of an arm, without what does nothing.
fn acting<'a>(arm: &'a Arm, idle: &[(&ClientOption, String)]) -> Vec<&'a (String, String)> {
    let does_nothing =
        |path: &str| idle.iter().any(|(option, _)| arm.option_path(option).to_string() == path);
    arm.settings.iter().filter(|(path, _)| !does_nothing(path)).collect()
}

fn value(arm: &Arm, name: &str, elsewhere: knobs::Values<'_>) -> Option<String> {
    arm.option(name).map(|option| option.value.clone()).or_else(|| elsewhere(name))
}

/// Refuses limits of write-back that are not each below the one before; under other policies they do not meet.
pub(super) fn limits(arm: &Arm, elsewhere: knobs::Values<'_>) -> Result<(), Fault> {
    let value = |name: &str| value(arm, name, elsewhere);
    if !matches!(Policy::of(&value), Some((Policy::WriteBack, _))) {
        return Ok(());
    }
    let bytes = |name: &str| value(name)?.parse::<Bytes>().ok();
    for pair in ORDER.windows(2) {
        let (above, below) = (pair[0], pair[1]);
        let (Some(limit), Some(found)) = (bytes(above), bytes(below)) else { continue };
        // Without dirty data there is nothing to begin to write back.
        if found < limit || limit == Bytes(0) && above == ORDER[1] {
            continue;
        }
        let (set, message) = match (arm.option(below), arm.option(above)) {
            (Some(set), _) => (set, format!("is {found}, which must be below {above}, {limit}; lower it,")),
            (None, Some(set)) => {
                (set, format!("is {limit}, which must be above {below}, {found} unless set; set that too,"))
            }
            // It is not for the profile to put right.
            (None, None) => continue,
        };
        return Err(arm.option_fault(set, format!("{message} or make it a percentage of {}", ORDER[0])));
    }
    Ok(())
}

/// What the caches of an arm's images may hold under a workload. What is not set is taken as Ceph's default.
pub(super) fn memory(arm: &Arm, workload: &WorkloadPlan) -> Bytes {
    let default = |name: &str| knobs::known(name).map(|knob| knob.default.to_owned());
    let value = |name: &str| value(arm, name, &default);
    let keeps = Policy::of(&value).is_some_and(|(policy, _)| policy.keeps_data());
    if !arm.is_librbd() || !keeps {
        return Bytes(0);
    }
    let size = value(ORDER[0]).and_then(|size| size.parse::<Bytes>().ok()).unwrap_or_default();
    let handles = if arm.handles == Sharing::PerJob { workload.threads() } else { 1 };
    Bytes(size.get().saturating_mul(u64::from(arm.images())).saturating_mul(u64::from(handles)))
}
