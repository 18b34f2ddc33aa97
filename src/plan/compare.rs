//! Rules of how arms are compared.

use super::Arm;
use super::check::Check;
use crate::nearest::nearest;
use crate::profile::{Fault, Path, Profile};

/// The baseline must be an arm, or a target that has just one, and there must be something to compare by.
pub(super) fn check(check: &Check<'_>, profile: &Profile, arms: &[Arm]) -> Result<(), Fault> {
    let Some(compare) = &profile.compare else { return Ok(()) };
    let at = Path::parse("compare");
    check.ensure(
        !compare.metrics.is_empty(),
        &at.key("metrics"),
        "names no metric; name one, such as iops",
    )?;
    let Some(baseline) = &compare.baseline else { return Ok(()) };
    let names = || arms.iter().map(|arm| arm.name.as_str());
    match arms.iter().filter(|arm| arm.target == *baseline).count() {
        _ if names().any(|name| name == baseline) => Ok(()),
        1 => Ok(()),
        0 => {
            let meant = nearest(baseline, names()).map(|name| format!("; did you mean `{name}`?"));
            let message = format!("there is no arm `{baseline}`{}", meant.unwrap_or_default());
            Err(check.fault(&at.key("baseline"), message))
        }
        count => {
            let message = format!(
                "target `{baseline}` has {count} arms; name one of them: {}",
                names().filter(|name| name.starts_with(baseline.as_str())).collect::<Vec<_>>().join(", ")
            );
            Err(check.fault(&at.key("baseline"), message))
        }
    }
}
