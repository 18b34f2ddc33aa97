//! What differs between the arms besides what the profile asked for.

use std::collections::BTreeMap;

use serde_json::Value;

use super::document::{Block, Item};
use super::palette::Tone;
use super::summary::{Group, last};
use crate::result::{ResultFile, Trial};

/// The differences, or the good news that there are none; nothing for a single arm.
pub(super) fn blocks(result: &ResultFile, groups: &[Group]) -> Vec<Block> {
    let arms = arms(groups);
    if arms.len() < 2 {
        return Vec::new();
    }
    let mut items = durability(&arms);
    items.extend(settings(
        &arms,
        |trial| {
            let value = |option: &crate::result::EffectiveOption| {
                format!("{} ({})", option.value, option.source.name())
            };
            trial
                .effective_options
                .iter()
                .map(|(name, option)| (name.as_str(), (option.value.as_str(), value(option))))
                .collect()
        },
        |name| asked(result, name),
    ));
    items.extend(settings(
        &arms,
        |trial| {
            trial
                .conditions
                .iter()
                .map(|(name, value)| (name.as_str(), (value.as_str(), value.clone())))
                .collect()
        },
        |name| asked(result, name),
    ));
    if items.is_empty() {
        items.push(Item {
            text: "nothing that is recorded: options in effect and conditions are alike".to_owned(),
            tone: Tone::Plain,
        });
    }
    let heading = "What differs between the arms besides what was asked".to_owned();
    vec![Block::Heading(heading, String::new()), Block::Items(items)]
}

/// Each arm once, with a trial that tells what was in effect.
fn arms<'a>(groups: &[Group<'a>]) -> Vec<&'a Trial> {
    let mut arms: Vec<&Trial> = Vec::new();
    for arm in groups.iter().flat_map(|group| &group.arms) {
        if let Some(trial) = arm.valid().next().or(arm.trials.first().copied())
            && !arms.iter().any(|known| known.arm == trial.arm)
        {
            arms.push(trial);
        }
    }
    arms
}

/// Names whose compared value (the first of the pair) is not the same in all arms that have it.
fn settings<'a>(
    arms: &[&'a Trial],
    of: impl Fn(&'a Trial) -> BTreeMap<&'a str, (&'a str, String)>,
    asked: impl Fn(&str) -> bool,
) -> Vec<Item> {
    let mut by_name: BTreeMap<&str, Vec<(&str, &str, String)>> = BTreeMap::new();
    for trial in arms {
        for (name, (compared, shown)) in of(trial) {
            by_name.entry(name).or_default().push((compared, &trial.arm, shown));
        }
    }
    let differing = by_name.into_iter().filter(|(name, values)| {
        values.iter().any(|(compared, ..)| *compared != values[0].0) && !asked(name)
    });
    differing
        .map(|(name, values)| {
            let by_arm = values.into_iter().map(|(_, arm, shown)| (arm, shown));
            Item { text: format!("{name}: {}", by_value(by_arm)), tone: Tone::Warning }
        })
        .collect()
}

/// `writeback (client) in a, b; writearound (default) in c`
fn by_value<'a>(by_arm: impl Iterator<Item = (&'a str, String)>) -> String {
    let mut values: Vec<(String, Vec<&str>)> = Vec::new();
    for (arm, value) in by_arm {
        match values.iter_mut().find(|(known, _)| *known == value) {
            Some((_, arms)) => arms.push(arm),
            None => values.push((value, vec![arm])),
        }
    }
    values
        .iter()
        .map(|(value, arms)| format!("{value} in {}", arms.join(", ")))
        .collect::<Vec<_>>()
        .join("; ")
}

/// Whether the profile or its sweep sets `name` for any target.
fn asked(result: &ResultFile, name: &str) -> bool {
    fn has_key(value: &Value, name: &str) -> bool {
        value
            .as_object()
            .is_some_and(|map| map.iter().any(|(key, value)| normal(key) == name || has_key(value, name)))
    }
    let of = |section: &str| result.profile.get(section).unwrap_or(&Value::Null);
    has_key(of("targets"), name)
        || of("sweep").as_object().is_some_and(|sweep| sweep.keys().any(|path| normal(last(path)) == name))
}

/// Spaces and underscores in names are the same to Ceph.
fn normal(name: &str) -> String {
    name.replace(' ', "_")
}

fn durability(arms: &[&Trial]) -> Vec<Item> {
    let named = |durable: bool| {
        let arms = arms.iter().filter(|trial| trial.durable_on_ack == Some(durable));
        arms.map(|trial| trial.arm.as_str()).collect::<Vec<_>>().join(", ")
    };
    let (durable, cached) = (named(true), named(false));
    if durable.is_empty() || cached.is_empty() {
        return Vec::new();
    }
    let text = format!(
        "durability: a write that {durable} acknowledged survives a crash, one that {cached} acknowledged only after a flush; \
         compare their durable MiB/s"
    );
    vec![Item { text, tone: Tone::Warning }]
}
