//! The place of a trial in the profile: what every list of trials and of arms is sorted by.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::{ResultFile, Trial};
use crate::units::Bytes;

impl ResultFile {
    /// The order of the profile: by workload with its settings, arm, repeat and attempt.
    #[must_use]
    pub fn in_profile_order(&self, a: &Trial, b: &Trial) -> Ordering {
        self.by_name("workloads", &a.workload, &b.workload)
            .then_with(|| by_value(&a.settings_of_workload(), &b.settings_of_workload()))
            .then_with(|| self.arms_in_profile_order(a, b))
            .then_with(|| (a.repeat, a.attempt).cmp(&(b.repeat, b.attempt)))
    }

    /// The order of the profile for the arms of two trials: by target, then by its settings.
    #[must_use]
    pub fn arms_in_profile_order(&self, a: &Trial, b: &Trial) -> Ordering {
        self.by_name("targets", &a.target, &b.target)
            .then_with(|| by_value(&a.settings_of_target(), &b.settings_of_target()))
            .then_with(|| a.arm.cmp(&b.arm))
    }

    fn by_name(&self, section: &str, a: &str, b: &str) -> Ordering {
        let index = |name: &str| {
            let names = self.profile.get(section).and_then(serde_json::Value::as_object);
            names.and_then(|names| names.keys().position(|key| key == name)).unwrap_or(usize::MAX)
        };
        index(a).cmp(&index(b)).then_with(|| a.cmp(b))
    }
}

impl Trial {
    /// The swept settings of its workload, which trials that are compared have in common.
    #[must_use]
    pub fn settings_of_workload(&self) -> BTreeMap<&str, &str> {
        self.settings_where(|path| !path.starts_with("targets."))
    }

    /// The swept settings of its target, which make it an arm.
    #[must_use]
    pub fn settings_of_target(&self) -> BTreeMap<&str, &str> {
        self.settings_where(|path| path.starts_with("targets."))
    }

    fn settings_where(&self, wanted: impl Fn(&str) -> bool) -> BTreeMap<&str, &str> {
        let settings = self.settings.iter().filter(|(path, _)| wanted(path));
        settings.map(|(path, value)| (path.as_str(), value.as_str())).collect()
    }
}

/// Settings in the order a person would list them: sizes and numbers by size, all else by letter.
fn by_value(a: &BTreeMap<&str, &str>, b: &BTreeMap<&str, &str>) -> Ordering {
    let number = |text: &str| text.parse::<Bytes>().map(|bytes| bytes.get());
    a.iter().zip(b).fold(Ordering::Equal, |order, ((path_a, a), (path_b, b))| {
        order.then_with(|| path_a.cmp(path_b)).then_with(|| match (number(a), number(b)) {
            (Ok(a), Ok(b)) => a.cmp(&b),
            _ => a.cmp(b),
        })
    })
}
