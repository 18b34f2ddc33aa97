//! Trials that do not count, and what else a reader must know.

use std::collections::BTreeMap;

use super::document::{Block, Item};
use super::human::plural;
use super::palette::Tone;
use super::summary::Group;
use crate::result::{ResultFile, Status, Trial};

/// How many arms and workloads that share a warning are named.
const PLACES: usize = 4;

/// The lists, each only where it says something.
pub(super) fn blocks(result: &ResultFile, groups: &[Group]) -> Vec<Block> {
    let lists = [
        ("Data that did not read back as written", mismatches(groups)),
        ("Trials that do not count", rejected(groups)),
        ("Worth knowing", remarks(result, groups)),
    ];
    let lists = lists.into_iter().filter(|(_, items)| !items.is_empty());
    lists
        .flat_map(|(title, items)| [Block::Heading(title.to_owned(), String::new()), Block::Items(items)])
        .collect()
}

fn trials<'a>(groups: &'a [Group]) -> impl Iterator<Item = (&'a Group<'a>, &'a Trial)> {
    groups.iter().flat_map(|group| {
        group.arms.iter().flat_map(move |arm| arm.trials.iter().map(move |trial| (group, *trial)))
    })
}

fn place(group: &Group, trial: &Trial) -> String {
    let attempt = if trial.attempt > 0 { format!(", attempt {}", trial.attempt + 1) } else { String::new() };
    format!("{} {}, repeat {}{attempt}", trial.arm, group.title(), trial.repeat + 1)
}

fn mismatches(groups: &[Group]) -> Vec<Item> {
    let mut items = Vec::new();
    for (group, trial) in trials(groups) {
        for verified in trial.checks.values().filter_map(|checks| checks.verified.as_ref()) {
            for mismatch in &verified.first {
                let text = format!(
                    "{}: image {} offset {}: expected {}, found {}",
                    place(group, trial),
                    mismatch.image,
                    mismatch.offset,
                    mismatch.expected,
                    mismatch.found,
                );
                items.push(Item { text, tone: Tone::Bad });
            }
            let more = verified.mismatches.saturating_sub(verified.first.len() as u64);
            if more > 0 {
                items.push(Item { text: format!("{}: {more} more", place(group, trial)), tone: Tone::Bad });
            }
        }
    }
    items
}

fn rejected(groups: &[Group]) -> Vec<Item> {
    let rejected = trials(groups).filter_map(|(group, trial)| {
        let (word, tone) = match trial.status {
            Status::Valid => return None,
            Status::Invalid => ("invalid", Tone::Warning),
            Status::Failed => ("failed", Tone::Bad),
        };
        let reasons: Vec<_> = trial.problems.iter().map(|p| format!("{} ({})", p.text, p.code)).collect();
        let reasons = if reasons.is_empty() { "no reason recorded".to_owned() } else { reasons.join("; ") };
        Some(Item { text: format!("{}: {word}: {reasons}", place(group, trial)), tone })
    });
    rejected.collect()
}

/// What did not run, notes on the plan, and warnings of valid trials.
fn remarks(result: &ResultFile, groups: &[Group]) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    let missing = (result.planned_trials as usize).saturating_sub(repeats_that_ran(result));
    if missing > 0 {
        let ending =
            if result.finished.is_some() { "ended before them" } else { "is not over, or its process died" };
        let text = format!(
            "{} of {} planned did not run: the run {ending}",
            plural(missing, "trial"),
            result.planned_trials
        );
        items.push(Item { text, tone: Tone::Bad });
    }
    items.extend(result.notes.iter().map(|note| Item { text: note.text.clone(), tone: Tone::Plain }));
    items.extend(warnings(groups));
    items
}

/// Warnings of valid trials, each once with the places where it holds.
fn warnings(groups: &[Group]) -> Vec<Item> {
    let valid = || trials(groups).filter(|(_, trial)| trial.status == Status::Valid);
    let mut warnings: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (group, trial) in valid() {
        for problem in &trial.problems {
            let place = format!("{} {}", trial.arm, group.title());
            warnings.entry(&problem.text).or_default().push(place);
        }
    }
    let all = valid().count();
    let item = |(text, mut places): (&str, Vec<String>)| {
        let count = places.len();
        places.dedup();
        let more = places.len().saturating_sub(PLACES);
        places.truncate(PLACES);
        places.extend((more > 0).then(|| format!("{more} more")));
        let place = if count == all && places.len() > 1 {
            "all arms and workloads".to_owned()
        } else {
            places.join(", ")
        };
        let times = if count > 1 { format!(" ({})", plural(count, "trial")) } else { String::new() };
        Item { text: format!("{place}: {text}{times}"), tone: Tone::Warning }
    };
    warnings.into_iter().map(item).collect()
}

/// Planned trials of which at least one attempt is over.
fn repeats_that_ran(result: &ResultFile) -> usize {
    result.trials.iter().filter(|trial| trial.attempt == 0).count()
}
