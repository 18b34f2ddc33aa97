//! What is known of the options of librbd's caches: under which policy each of them acts, since which release, and how
//! its effect shows.
//!
//! The one table of it: rules of the plan, checks on the cluster, tests and `docs/rbd-cache.md` all go by it. An option
//! that is not in it is taken at its word.

/// What librbd's cache does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Nothing: every I/O goes to the OSDs.
    Off,
    /// Acknowledges writes while they are on their way, and keeps no data.
    WriteAround,
    /// Keeps what is read and written; writes are acknowledged at once and written back later.
    WriteBack,
    /// Keeps what is read and written; writes are acknowledged once they are on the OSDs.
    WriteThrough,
}

impl Policy {
    /// The policy by the values of options, and in words; `None` where they do not tell.
    #[must_use]
    pub fn of(value: Values<'_>) -> Option<(Self, String)> {
        if value("rbd_cache").is_some_and(|on| matches!(on.as_str(), "false" | "0" | "no" | "off")) {
            return Some((Self::Off, "rbd_cache=false".to_owned()));
        }
        let name = value("rbd_cache_policy")?;
        let policy = match name.as_str() {
            "writearound" => Self::WriteAround,
            "writeback" => Self::WriteBack,
            "writethrough" => Self::WriteThrough,
            _ => return None,
        };
        Some((policy, format!("rbd_cache_policy={name}")))
    }

    /// Whether it keeps data in memory.
    #[must_use]
    pub const fn keeps_data(self) -> bool {
        matches!(self, Self::WriteBack | Self::WriteThrough)
    }
}

/// The values of options by name, as far as they are known.
pub type Values<'a> = &'a dyn Fn(&str) -> Option<String>;

/// An option of a cache.
#[derive(Clone, Copy, Debug)]
pub struct Knob {
    /// Its name, with underscores.
    pub name: &'static str,
    /// The policies under which it acts; without any it does nothing in a run of cephmark.
    pub acts: &'static [Policy],
    /// Another option and the value of it with which this one does nothing.
    pub idle_with: Option<(&'static str, &'static str)>,
    /// The major release of Ceph that brought it; 12 stands for that one and all before.
    pub since: u8,
    /// What Ceph takes without being told.
    pub default: &'static str,
    /// How its effect shows from outside; `None` where it can't be seen.
    pub shown_by: Option<&'static str>,
}

use Policy::{Off, WriteAround, WriteBack, WriteThrough};

const ALWAYS: &[Policy] = &[Off, WriteAround, WriteBack, WriteThrough];
const CACHED: &[Policy] = &[WriteAround, WriteBack, WriteThrough];
const KEPT: &[Policy] = &[WriteBack, WriteThrough];
const EARLY: &[Policy] = &[WriteAround, WriteBack];
const BACK: &[Policy] = &[WriteBack];

const fn knob(
    name: &'static str,
    acts: &'static [Policy],
    since: u8,
    default: &'static str,
    shown_by: Option<&'static str>,
) -> Knob {
    Knob { name, acts, idle_with: None, since, default, shown_by }
}

impl Knob {
    const fn idle_with(self, option: &'static str, value: &'static str) -> Self {
        Self { idle_with: Some((option, value)), ..self }
    }

    /// Why it does nothing with these values of options; `None` where it acts, or where they do not tell.
    #[must_use]
    pub fn idle(&self, value: Values<'_>) -> Option<String> {
        if self.acts.is_empty() {
            return Some("here, since cephmark flushes every image before its load".to_owned());
        }
        if let Some((policy, words)) = Policy::of(value)
            && !self.acts.contains(&policy)
        {
            return Some(format!("under {words}"));
        }
        let (option, idle) = self.idle_with?;
        (value(option)? == idle).then(|| match idle {
            "" => format!("without {option}"),
            _ => format!("with {option}={idle}"),
        })
    }
}

/// Every option of librbd's caches.
pub const KNOBS: &[Knob] = &[
    knob("rbd_cache", ALWAYS, 12, "true", Some("without it there are no counters of a cache")),
    knob(
        "rbd_cache_policy",
        CACHED,
        15,
        "writearound",
        Some("hits, and how much of what is written is combined"),
    ),
    knob("rbd_cache_size", KEPT, 12, "33554432", Some("share of hits")),
    knob("rbd_cache_max_dirty", EARLY, 12, "25165824", Some("writes that were held up")),
    knob("rbd_cache_target_dirty", BACK, 12, "16777216", Some("what the flush at the end has left to write"))
        .idle_with("rbd_cache_max_dirty", "0"),
    knob(
        "rbd_cache_max_dirty_age",
        BACK,
        12,
        "1.000000",
        Some("what the flush at the end has left to write"),
    )
    .idle_with("rbd_cache_max_dirty", "0"),
    // It bounds objects without data, of which there are few.
    knob("rbd_cache_max_dirty_object", KEPT, 12, "0", None),
    // It decides which thread of librbd waits for room.
    knob("rbd_cache_block_writes_upfront", BACK, 12, "false", None).idle_with("rbd_cache_max_dirty", "0"),
    knob("rbd_cache_writethrough_until_flush", &[], 12, "true", None),
    knob("rbd_readahead_trigger_requests", KEPT, 12, "10", Some("count of reads ahead"))
        .idle_with("rbd_readahead_max_bytes", "0"),
    knob("rbd_readahead_max_bytes", KEPT, 12, "524288", Some("bytes of each read ahead")),
    knob("rbd_readahead_disable_after_bytes", KEPT, 12, "52428800", Some("count of reads ahead"))
        .idle_with("rbd_readahead_max_bytes", "0"),
    // Their cache is a plugin that Debian does not ship.
    knob("rbd_persistent_cache_mode", ALWAYS, 16, "disabled", None).idle_with("rbd_plugins", ""),
    knob("rbd_persistent_cache_size", ALWAYS, 16, "1073741824", None)
        .idle_with("rbd_persistent_cache_mode", "disabled"),
    knob("rbd_persistent_cache_path", ALWAYS, 16, "/tmp", None)
        .idle_with("rbd_persistent_cache_mode", "disabled"),
];

/// What is known of an option.
#[must_use]
pub fn known(name: &str) -> Option<&'static Knob> {
    KNOBS.iter().find(|knob| knob.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idle(name: &str, set: &[(&str, &str)]) -> Option<String> {
        let value = |asked: &str| {
            set.iter().find(|(option, _)| *option == asked).map(|(_, value)| (*value).to_owned())
        };
        known(name).expect("it is in the table").idle(&value)
    }

    #[test]
    fn the_size_does_nothing_where_no_data_is_kept() {
        assert_eq!(idle("rbd_cache_size", &[("rbd_cache_policy", "writeback")]), None);
        assert_eq!(
            idle("rbd_cache_size", &[("rbd_cache_policy", "writearound")]).as_deref(),
            Some("under rbd_cache_policy=writearound")
        );
        let off = [("rbd_cache", "false"), ("rbd_cache_policy", "writeback")];
        assert_eq!(idle("rbd_cache_size", &off).as_deref(), Some("under rbd_cache=false"));
        assert_eq!(idle("rbd_cache_size", &[]), None, "who knows");
    }

    #[test]
    fn one_option_may_switch_off_another() {
        let none = [("rbd_cache_policy", "writeback"), ("rbd_cache_max_dirty", "0")];
        assert_eq!(idle("rbd_cache_target_dirty", &none).as_deref(), Some("with rbd_cache_max_dirty=0"),);
        assert_eq!(idle("rbd_cache_max_dirty", &none), None);
        assert_eq!(
            idle("rbd_persistent_cache_mode", &[("rbd_plugins", "")]).as_deref(),
            Some("without rbd_plugins")
        );
    }

    #[test]
    fn the_table_names_each_option_once() {
        for (index, knob) in KNOBS.iter().enumerate() {
            assert!(KNOBS[..index].iter().all(|other| other.name != knob.name), "{}", knob.name);
        }
    }
}
