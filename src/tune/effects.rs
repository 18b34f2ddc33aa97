//! What did and did not matter: the effect of each option, on average over the settings of the others.

use serde::{Deserialize, Serialize};

use super::fit::Fit;
use crate::plan::Setting;
use crate::result::Verdict;
use crate::stats::{Family, Ratio};

/// The effect of an option.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// The option.
    pub option: String,
    /// The better one of the two values that differ most.
    pub better: String,
    /// The other one.
    pub worse: String,
    /// How many times the objective is better with the one than with the other, on average over the settings of the other
    /// options.
    pub ratio: f64,
    /// Interval that holds the true ratio with 95 %, for all options at once.
    pub ci: [f64; 2],
    /// What follows.
    pub finding: Finding,
}

/// What is known of an option's effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// It matters.
    Matters,
    /// It does not: whatever difference there is lies within `compare.min_effect`.
    DoesNotMatter,
    /// Neither is proven.
    Unknown,
}

/// The effects of all options that have two values at least. `blocks` are those in which every arm ran, each with a place
/// for every arm; an arm without a score in all of them says nothing.
#[must_use]
pub fn effects(settings: &[Setting], blocks: &[Vec<Option<f64>>], min_effect: f64) -> Vec<Effect> {
    let scored = |arm: &usize| !blocks.is_empty() && blocks.iter().all(|block| block[*arm].is_some());
    let arms: Vec<usize> = (1..settings.len()).filter(scored).collect();
    let whole = |block: &Vec<Option<f64>>| arms.iter().filter_map(|arm| block[*arm]).collect();
    let Some(fit) = Fit::of(&blocks.iter().map(whole).collect::<Vec<_>>()) else { return Vec::new() };
    let ran: Vec<(&Setting, f64)> =
        arms.iter().zip(&fit.means).map(|(arm, mean)| (&settings[*arm], *mean)).collect();
    let contrasts: Vec<Contrast<'_>> =
        options(&ran).into_iter().flat_map(|name| contrasts(&ran, name)).collect();
    let family = Family::of(contrasts.len());
    let mut effects: Vec<Effect> = Vec::new();
    for of_option in contrasts.chunk_by(|a, b| a.option == b.option) {
        effects.extend(effect(of_option, &fit, &family, min_effect));
    }
    effects
}

/// Two values of an option, the better one first.
struct Contrast<'a> {
    option: &'a str,
    values: [&'a str; 2],
    /// The mean difference of scores, and of how many pairs of arms.
    mean: f64,
    pairs: usize,
}

fn options<'a>(ran: &[(&'a Setting, f64)]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in ran.iter().flat_map(|(setting, _)| *setting) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

/// Each two values of an option, over the pairs of arms that differ in nothing else.
fn contrasts<'a>(ran: &[(&'a Setting, f64)], option: &'a str) -> Vec<Contrast<'a>> {
    let value = |setting: &'a Setting| {
        setting.iter().find(|(name, _)| name == option).map(|(_, value)| value.as_str())
    };
    let mut values: Vec<&str> = Vec::new();
    for found in ran.iter().filter_map(|(setting, _)| value(setting)) {
        if !values.contains(&found) {
            values.push(found);
        }
    }
    let rest = |setting: &'a Setting| setting.iter().filter(move |(name, _)| name != option);
    let mut found = Vec::new();
    for (index, first) in values.iter().enumerate() {
        for second in &values[index + 1..] {
            let with =
                |wanted: &'a str| ran.iter().filter(move |(setting, _)| value(setting) == Some(wanted));
            let differences: Vec<f64> = with(first)
                .filter_map(|(one, score)| {
                    let (_, other) = with(second).find(|(other, _)| rest(one).eq(rest(other)))?;
                    Some(score - other)
                })
                .collect();
            if differences.is_empty() {
                continue;
            }
            let mean = differences.iter().sum::<f64>() / differences.len() as f64;
            let values = if mean < 0.0 { [*second, *first] } else { [*first, *second] };
            found.push(Contrast { option, values, mean: mean.abs(), pairs: differences.len() });
        }
    }
    found
}

/// The effect of the option that these contrasts are of: it matters if any does, and does not if none does.
fn effect(contrasts: &[Contrast<'_>], fit: &Fit, family: &Family, min_effect: f64) -> Option<Effect> {
    let judged = contrasts.iter().map(|contrast| {
        let ratio = Ratio::of(&fit.difference(contrast.mean, contrast.pairs), family);
        (contrast, ratio, ratio.verdict(min_effect, true))
    });
    let judged: Vec<_> = judged.collect();
    let matters = |verdict: Verdict| matches!(verdict, Verdict::Better | Verdict::Worse);
    let finding = if judged.iter().any(|(.., verdict)| matters(*verdict)) {
        Finding::Matters
    } else if judged.iter().all(|(.., verdict)| *verdict == Verdict::Same) {
        Finding::DoesNotMatter
    } else {
        Finding::Unknown
    };
    let (contrast, ratio, _) = judged.into_iter().max_by(|(a, ..), (b, ..)| a.mean.total_cmp(&b.mean))?;
    Some(Effect {
        option: contrast.option.to_owned(),
        better: contrast.values[0].to_owned(),
        worse: contrast.values[1].to_owned(),
        ratio: ratio.value,
        ci: [ratio.low, ratio.high],
        finding,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The current setting and all of two sizes with two ages.
    fn settings() -> Vec<Setting> {
        let of = |size: &str, age: &str| {
            vec![("size".to_owned(), size.to_owned()), ("age".to_owned(), age.to_owned())]
        };
        vec![Vec::new(), of("8M", "1"), of("8M", "5"), of("64M", "1"), of("64M", "5")]
    }

    /// Scores of which the larger size doubles the figure, and the age does nothing; noise of so much.
    fn blocks(noise: f64) -> Vec<Vec<Option<f64>>> {
        let draws = [[0.3, -1.0, 0.8, 0.1, -0.4], [-0.2, 0.7, -0.9, 0.5, 0.2], [0.9, -0.1, -0.3, -0.6, 0.4]];
        let truth = [0.0, 0.0, 0.0, 2.0_f64.ln(), 2.0_f64.ln()];
        let block = |draws: &[f64; 5]| {
            truth.iter().zip(draws).map(|(truth, draw)| Some(truth + draw * noise)).collect()
        };
        draws.iter().map(block).collect()
    }

    #[test]
    fn an_option_that_matters_is_told_from_one_that_does_not() {
        let [size, age] = &effects(&settings(), &blocks(0.002), 0.03)[..] else { panic!("two options") };
        assert_eq!((size.option.as_str(), size.finding), ("size", Finding::Matters));
        assert_eq!((size.better.as_str(), size.worse.as_str()), ("64M", "8M"));
        assert!((size.ratio - 2.0).abs() < 0.01 && size.ci[0] < 2.0 && size.ci[1] > 2.0, "{size:?}");
        assert_eq!((age.option.as_str(), age.finding), ("age", Finding::DoesNotMatter), "{age:?}");
    }

    #[test]
    fn noise_hides_what_does_not_matter_and_says_so() {
        let [size, age] = &effects(&settings(), &blocks(0.08), 0.03)[..] else { panic!("two options") };
        assert_eq!((size.finding, age.finding), (Finding::Matters, Finding::Unknown));
    }

    #[test]
    fn an_arm_that_failed_leaves_the_others_to_tell() {
        let mut blocks = blocks(0.002);
        blocks[1][4] = None;
        let [size, age] = &effects(&settings(), &blocks, 0.03)[..] else { panic!("two options") };
        assert_eq!(size.finding, Finding::Matters);
        assert_eq!(age.finding, Finding::DoesNotMatter, "by the pair that is left");
    }

    #[test]
    fn one_block_tells_nothing() {
        assert_eq!(effects(&settings(), &blocks(0.002)[..1], 0.03), []);
    }
}
