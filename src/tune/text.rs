//! A tuning for people: what will be tried, and what was found.

use std::time::Duration;

use super::effects::{Effect, Finding};
use super::outcome::{Conclusion, Confirmed, Outcome, Tried};
use crate::plan::Tuning;
use crate::report::human::clock;
use crate::result::{Comparison, Verdict};
use crate::units::Time;

/// Settings of the search that are listed.
const LISTED: usize = 20;

/// What a tuning will do.
#[must_use]
pub fn plan_text(tuning: &Tuning) -> String {
    let plan = &tuning.plan;
    let objective = tuning.objective.metric();
    let better = if objective.higher_is_better() { "more" } else { "less" };
    let mut text = format!(
        "{}: tunes {} for {better} {}{}, in {}\n\nsettings, {} of them besides the current ones\n",
        plan.name,
        plan.arms[0].target,
        objective.name(),
        within(tuning.constraints.iter().map(ToString::to_string)),
        Time(tuning.budget),
        plan.arms.len() - 1,
    );
    for arm in &plan.arms[1..] {
        text += &format!("  {}\n", arm.name);
    }
    if !tuning.left_out.is_empty() {
        text += "\nleft out\n";
    }
    for (setting, reason) in &tuning.left_out {
        text += &format!("  {setting}: {reason}\n");
    }
    let of_each = format!("a trial of each workload takes {} together", Time(plan.once()));
    text += &format!("\ntime\n  {of_each}; filling comes first, and counts; removing images comes on top\n");
    let space = plan.needs.space.iter();
    text.extend(space.map(|(pool, bytes)| format!("  {bytes} in pool {pool}, before replication\n")));
    for warning in &plan.warnings {
        text += &format!("! {warning}\n");
    }
    text
}

/// What a tuning found.
#[must_use]
pub fn text(outcome: &Outcome) -> String {
    let name = outcome.profile.get("name").and_then(serde_json::Value::as_str).unwrap_or("unnamed");
    let took = |seconds: f64| clock(Duration::from_secs_f64(seconds));
    let mut text = format!(
        "{name}  cephmark {} ({})\ntuned for {}{}; {} of a budget of {}\n",
        outcome.tool.version,
        outcome.tool.commit,
        outcome.objective,
        within(outcome.constraints.iter().cloned()),
        took(outcome.took_s),
        took(outcome.budget_s),
    );
    text += &settings(outcome);
    if !outcome.effects.is_empty() {
        text += "\nWhat mattered, on average over the settings of the other options\n";
        text.extend(outcome.effects.iter().map(effect));
    }
    text += &format!("\n{}\n", conclusion(outcome));
    let best = outcome.best.as_ref();
    text.extend(best.iter().flat_map(|best| &best.comparisons).map(comparison));
    if let (Conclusion::Better, Some(best)) = (outcome.conclusion, best) {
        text += &advice(best);
    }
    text
}

fn within(constraints: impl Iterator<Item = String>) -> String {
    let constraints: Vec<String> = constraints.collect();
    if constraints.is_empty() { String::new() } else { format!(" within {}", constraints.join(", ")) }
}

/// Every setting, those that ran longest first, and of these the best first.
fn settings(outcome: &Outcome) -> String {
    let higher = outcome.objective == "iops" || outcome.objective == "bytes_per_s";
    let mut tried: Vec<&Tried> = outcome.settings.iter().filter(|tried| tried.blocks > 0).collect();
    if tried.is_empty() {
        return String::new();
    }
    let worth = |tried: &Tried| tried.ratio.map_or(0.0, |ratio| if higher { ratio } else { 1.0 / ratio });
    tried.sort_by(|a, b| b.blocks.cmp(&a.blocks).then(worth(b).total_cmp(&worth(a))));
    let width = tried.iter().take(LISTED).map(|tried| tried.arm.len()).max().unwrap_or(0);
    let mut text =
        format!("\nSearch: blocks of each setting, and {} against the current ones\n", outcome.objective);
    for Tried { arm, blocks, ratio, out, .. } in tried.iter().take(LISTED) {
        let ratio = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("x{ratio:.2}"));
        let out = out.as_ref().map_or_else(String::new, |out| format!("  out: {out}"));
        text += &format!("  {arm:width$}  {blocks:2}  {ratio:>6}{out}\n");
    }
    let more = tried.len().saturating_sub(LISTED);
    if more > 0 {
        text += &format!("  and {more} more\n");
    }
    text.extend(
        outcome.left_out.iter().map(|left| format!("  left out: {}: {}\n", left.setting, left.reason)),
    );
    text
}

fn effect(effect: &Effect) -> String {
    let Effect { option, better, worse, ratio, ci: [low, high], finding } = effect;
    let interval = format!("{better} against {worse} x{ratio:.2} ({low:.2} to {high:.2})");
    match finding {
        Finding::Matters => format!("  {option}: matters, {interval}\n"),
        Finding::DoesNotMatter => format!("  {option}: does not matter, {interval}\n"),
        Finding::Unknown => format!("  {option}: no effect is proven, nor that there is none, {interval}\n"),
    }
}

fn conclusion(outcome: &Outcome) -> String {
    let Some(best) = &outcome.best else {
        return "No setting is left: all failed or broke a constraint, as said above.".to_owned();
    };
    let (arm, blocks) = (&best.arm, best.blocks);
    match outcome.conclusion {
        Conclusion::Better => {
            format!("{arm} is better than the current settings, by {blocks} fresh blocks of trials:")
        }
        Conclusion::NoProvenDifference => {
            format!(
                "No proven difference: the best of the search, {arm}, against the current settings in {blocks} fresh blocks:"
            )
        }
        Conclusion::Mixed => format!("{arm} is better in some and worse in other, by {blocks} fresh blocks:"),
        Conclusion::Worse => format!(
            "The current settings are better than the best of the space, {arm}, by {blocks} fresh blocks:"
        ),
        Conclusion::ConstraintBroken => {
            let broken = best.broken.as_deref().unwrap_or("a constraint is broken");
            format!("{arm} was the best of the search, but in {blocks} fresh blocks {broken}:")
        }
        Conclusion::AlreadyCurrent => format!("The best of the space, {arm}, is what the cluster has now."),
        Conclusion::NothingLeft | Conclusion::NotConfirmed => {
            format!(
                "{arm} was the best of the search, and there was no time to confirm it: raise tune.budget."
            )
        }
    }
}

fn comparison(comparison: &Comparison) -> String {
    let Comparison { workload, job, op, metric, ratio, ci: [low, high], verdict, .. } = comparison;
    let names = [workload.as_str(), job, op, metric.name()];
    let name = names.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let verdict = match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Same => "same",
        Verdict::Undecided => "undecided",
    };
    format!("  {name}: x{ratio:.2} ({low:.2} to {high:.2} with 95 %), {verdict}\n")
}

fn advice(best: &Confirmed) -> String {
    let ways = [
        ("in ceph.conf of the clients", &best.advice.ceph_conf),
        ("for all clients of the cluster", &best.advice.ceph_config),
        ("for the images of the pool", &best.advice.pool),
        ("for one image", &best.advice.image),
    ];
    let ways = ways.into_iter().filter(|(_, lines)| !lines.is_empty());
    let mut text =
        "\nTo use it, one of these; an image takes it when it is opened next. Nothing was changed.\n"
            .to_owned();
    for (place, lines) in ways {
        text += &format!("  {place}\n");
        text.extend(lines.iter().map(|line| format!("    {line}\n")));
    }
    text
}
