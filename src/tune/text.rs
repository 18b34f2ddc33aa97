//! A tuning for people: what will be tried, and what was found.

use std::time::Duration;

use super::effects::{Effect, Finding};
use super::outcome::{Conclusion, Confirmed, Outcome, Tried};
use crate::plan::Tuning;
use crate::report::human::{self, clock};
use crate::result::{Comparison, Verdict};
use crate::units::Time;

/// Settings of the search that are listed.
const LISTED: usize = 20;

/// What a tuning will do, in a line.
#[must_use]
pub fn in_short(tuning: &Tuning) -> String {
    let options = tuning.grid.first().map_or(&[][..], |(setting, _)| setting);
    let names: Vec<&str> = options.iter().map(|(name, _)| name.as_str()).collect();
    format!(
        "`cephmark tune` would try {} settings of {} on {} for {}",
        tuning.plan.arms.len() - 1,
        names.join(", "),
        tuning.plan.arms[0].target,
        aim(tuning),
    )
}

/// `more iops within p99 <= 20ms, in 30m`
fn aim(tuning: &Tuning) -> String {
    let objective = tuning.objective.metric();
    let better = if objective.higher_is_better() { "more" } else { "less" };
    let bounds = within(tuning.constraints.iter().map(ToString::to_string));
    format!("{better} {}{bounds}, in {}", objective.name(), Time(tuning.budget))
}

/// What a tuning will do.
#[must_use]
pub fn plan_text(tuning: &Tuning) -> String {
    let plan = &tuning.plan;
    let mut text = format!(
        "{}: tunes {} for {}\n\nsettings, {} of them besides the current ones\n",
        plan.name,
        plan.arms[0].target,
        aim(tuning),
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

/// Every setting: the best of the search first, then those that ran longest, and of these the best first. Ratios are to
/// what the search chose, since it is by them that it chose.
fn settings(outcome: &Outcome) -> String {
    let higher = outcome.objective == "iops" || outcome.objective == "bytes_per_s";
    let mut tried: Vec<&Tried> = outcome.settings.iter().filter(|tried| tried.blocks > 0).collect();
    if tried.is_empty() {
        return String::new();
    }
    let worth = |tried: &Tried| tried.ratio.map_or(0.0, |ratio| if higher { ratio } else { 1.0 / ratio });
    let best = outcome.best.as_ref().map(|best| best.arm.as_str());
    let is_best = |tried: &Tried| best == Some(tried.arm.as_str());
    tried.sort_by(|a, b| {
        let longest = is_best(b).cmp(&is_best(a)).then(b.blocks.cmp(&a.blocks));
        longest.then(worth(b).total_cmp(&worth(a)))
    });
    let width = tried.iter().take(LISTED).map(|tried| tried.arm.len()).max().unwrap_or(0);
    let against = if best.is_some() { "the best of the search" } else { "the current ones" };
    let mut text = format!("\nSearch: blocks of each setting, and {} against {against}\n", outcome.objective);
    for Tried { arm, blocks, ratio, out, .. } in tried.iter().take(LISTED) {
        let ratio = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("x{}", human::ratio(ratio)));
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
    let (ratio, low, high) = (human::ratio(*ratio), human::ratio(*low), human::ratio(*high));
    let interval = format!("{better} against {worse} x{ratio} ({low} to {high})");
    match finding {
        Finding::Matters => format!("  {option}: matters, {interval}\n"),
        Finding::DoesNotMatter => format!("  {option}: does not matter, {interval}\n"),
        Finding::Unknown => format!("  {option}: no effect is proven, nor that there is none, {interval}\n"),
    }
}

fn conclusion(outcome: &Outcome) -> String {
    let Some(best) = &outcome.best else {
        let untried = outcome.settings.iter().all(|tried| tried.blocks == 0);
        let nothing_left = "No setting is left: all failed or broke a constraint, as said above.";
        let no_time = "There was no time to try any setting: raise tune.budget.";
        return if untried { no_time } else { nothing_left }.to_owned();
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
    let (ratio, low, high) = (human::ratio(*ratio), human::ratio(*low), human::ratio(*high));
    format!("  {name}: x{ratio} ({low} to {high} with 95 %), {verdict}\n")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Metric, Timestamp, Tool};
    use crate::tune::Advice;

    fn tried(arm: &str, blocks: u32, ratio: f64) -> Tried {
        Tried { arm: arm.to_owned(), setting: Vec::new(), blocks, ratio: Some(ratio), out: None }
    }

    /// `b` was chosen by five blocks; `a` ran in as many.
    fn outcome() -> Outcome {
        let comparison = Comparison {
            workload: "w".to_owned(),
            settings: [].into(),
            job: String::new(),
            op: "write".to_owned(),
            metric: Metric::Iops,
            baseline: "current".to_owned(),
            candidate: "b".to_owned(),
            ratio: 1.25,
            ci: [1e-9, 56_003_350_309.35],
            level: 0.95,
            p_value: 0.9,
            verdict: Verdict::Undecided,
        };
        let advice = Advice { ceph_conf: vec![], ceph_config: vec![], pool: vec![], image: vec![] };
        let best = Confirmed {
            arm: "b".to_owned(),
            setting: Vec::new(),
            comparisons: vec![comparison],
            blocks: 2,
            broken: None,
            advice,
        };
        Outcome {
            format: 1,
            tool: Tool::this(),
            profile: serde_json::json!({"name": "test"}),
            started: Timestamp::now(),
            finished: Timestamp::now(),
            objective: "iops".to_owned(),
            constraints: Vec::new(),
            budget_s: 90.0,
            took_s: 80.0,
            settings: vec![tried("current", 2, 0.97), tried("a", 5, 0.96), tried("b", 5, 1.0)],
            left_out: Vec::new(),
            effects: Vec::new(),
            conclusion: Conclusion::NoProvenDifference,
            best: Some(best),
        }
    }

    #[test]
    fn what_the_search_chose_is_first_in_its_table_and_what_ratios_are_to() {
        let text = text(&outcome());
        let table = "\nSearch: blocks of each setting, and iops against the best of the search
  b         5  x1.000
  a         5  x0.960
  current   2  x0.970
";
        assert!(text.contains(table), "{text}");
        assert!(text.contains("the best of the search, b,"), "{text}");
    }

    #[test]
    fn a_budget_that_filling_used_up_is_not_taken_for_settings_that_failed() {
        let settings = vec![tried("current", 0, 1.0), tried("a", 0, 1.0)];
        let untried = Outcome { settings, best: None, conclusion: Conclusion::NothingLeft, ..outcome() };
        assert!(text(&untried).ends_with("There was no time to try any setting: raise tune.budget.\n"));
    }

    #[test]
    fn intervals_are_written_as_in_every_report() {
        let text = text(&outcome());
        assert!(text.contains("w write iops: x1.250 (<0.001 to >1000 with 95 %), undecided"), "{text}");
    }
}
