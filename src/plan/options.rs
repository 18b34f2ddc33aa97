//! Ceph client options of an arm: one spelling of names, values as Ceph takes them.

use crate::profile::{Fault, OptionValue, Options, Path};
use crate::units::{Bytes, Percent};

use super::arm::{Arm, ClientOption};
use super::check::Check;

/// The options that may be a percentage, and what of.
const PERCENTAGES: [&str; 2] = ["rbd_cache_max_dirty", "rbd_cache_target_dirty"];
const WHOLE: &str = "rbd_cache_size";

/// What a cluster's client says of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionCheck {
    /// It takes it.
    Valid,
    /// It has no such option; the nearest name that it has, if one is near.
    Unknown(Option<String>),
    /// It has the option, but does not take the value.
    BadValue,
}

/// Asks `client` about every option of every arm.
pub(super) fn check(arms: &[Arm], mut client: impl FnMut(&str, &str) -> OptionCheck) -> Result<(), Fault> {
    for arm in arms {
        for option in &arm.options {
            let message = match client(&option.name, &option.value) {
                OptionCheck::Valid => continue,
                OptionCheck::Unknown(Some(near)) => {
                    format!("Ceph has no such option; did you mean `{near}`?")
                }
                OptionCheck::Unknown(None) => "Ceph has no such option".to_owned(),
                OptionCheck::BadValue => format!("Ceph does not take the value `{}`", option.value),
            };
            let path = Path::root().key("targets").key(&arm.target).key("options").key(&option.key);
            return Err(arm.document.fault(&path, message));
        }
    }
    Ok(())
}

/// The options under the path `at`.
pub(super) fn options(check: &Check<'_>, at: &Path, written: &Options) -> Result<Vec<ClientOption>, Fault> {
    let mut options: Vec<ClientOption> = Vec::new();
    for (key, value) in written {
        let (path, name) = (at.key(key), normal(key));
        if let Some(earlier) = options.iter().find(|earlier| earlier.name == name) {
            return Err(
                check.fault(&path, format!("is the same option as `{}`; keep one of them", earlier.key))
            );
        }
        // Results hold all options, and a key must not reach a result.
        check.ensure(
            name != "key",
            &path,
            "would show a key; put it into a keyring and name that with `keyring`",
        )?;
        let value = match value.0.trim().strip_suffix('%') {
            Some(_) => percentage(check, &path, &name, value, written)?,
            None => value.canonical(),
        };
        options.push(ClientOption { name, value, key: key.clone() });
    }
    Ok(options)
}

/// Spaces and underscores in names are the same to Ceph.
fn normal(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join("_")
}

fn percentage(
    check: &Check<'_>,
    path: &Path,
    name: &str,
    value: &OptionValue,
    options: &Options,
) -> Result<String, Fault> {
    check.ensure(
        PERCENTAGES.contains(&name),
        path,
        format!("only {} may be a percentage", PERCENTAGES.join(" and ")),
    )?;
    let share: Percent = value.0.parse().map_err(|error| check.fault(path, format!("{error}")))?;
    let whole = options.iter().find(|(key, _)| normal(key) == WHOLE);
    let whole =
        whole.ok_or_else(|| check.fault(path, format!("a percentage is of {WHOLE}; add that option")))?;
    let size: Bytes = whole
        .1
        .0
        .parse()
        .map_err(|error| check.fault(path, format!("is a percentage of {WHOLE}, but {error}")))?;
    Ok(((size.get() as f64 * share.fraction()) as u64).to_string())
}
