//! Ceph client options of an arm: one spelling of names, values as Ceph takes them.

use crate::profile::{Fault, OptionValue, Options, Path};
use crate::units::{Bytes, Percent};

use super::arm::ClientOption;
use super::check::Check;

/// The options that may be a percentage, and what of.
const PERCENTAGES: [&str; 2] = ["rbd_cache_max_dirty", "rbd_cache_target_dirty"];
const WHOLE: &str = "rbd_cache_size";

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
pub(super) fn normal(name: &str) -> String {
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
