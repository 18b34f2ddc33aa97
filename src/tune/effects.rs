//! What did and did not matter: the effect of each option, on average over the settings of the others.

use serde::{Deserialize, Serialize};

use super::fit::Fit;
use crate::plan::Setting;
use crate::result::Verdict;
use crate::stats::{Family, Mean, Ratio};

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

/// The effects of all options that have two values at least. `grid` has every setting of the space with its arm: settings
/// that differ in nothing that acts share one. `blocks` are those in which every arm ran, each with a place for every
/// arm; an arm without a score in all of them says nothing.
#[must_use]
pub fn effects(grid: &[(Setting, usize)], blocks: &[Vec<Option<f64>>], min_effect: f64) -> Vec<Effect> {
    let scored = |arm: usize| !blocks.is_empty() && blocks.iter().all(|block| block[arm].is_some());
    let ran: Vec<(&Setting, usize)> =
        grid.iter().filter(|(_, arm)| scored(*arm)).map(|(setting, arm)| (setting, *arm)).collect();
    let mut arms: Vec<usize> = ran.iter().map(|(_, arm)| *arm).collect();
    arms.sort_unstable();
    arms.dedup();
    let whole = |block: &Vec<Option<f64>>| arms.iter().filter_map(|arm| block[*arm]).collect();
    let Some(fit) = Fit::of(&blocks.iter().map(whole).collect::<Vec<_>>()) else { return Vec::new() };
    let contrasts: Vec<Contrast<'_>> =
        options(&ran).into_iter().flat_map(|name| contrasts(&ran, &arms, name)).collect();
    let family = Family::of(contrasts.len());
    let by_option = contrasts.chunk_by(|a, b| a.option == b.option);
    by_option.filter_map(|of_option| effect(of_option, &fit, &family, min_effect)).collect()
}

/// Two values of an option.
struct Contrast<'a> {
    option: &'a str,
    values: [&'a str; 2],
    /// How the means of arms add up to the difference.
    weights: Vec<f64>,
}

fn options<'a>(ran: &[(&'a Setting, usize)]) -> Vec<&'a str> {
    let names = ran.first().into_iter().flat_map(|(setting, _)| setting.iter());
    names.map(|(name, _)| name.as_str()).collect()
}

/// Each two values of an option, over the pairs of settings that differ in nothing else; those that share an arm do not
/// differ at all.
fn contrasts<'a>(ran: &[(&'a Setting, usize)], arms: &[usize], option: &'a str) -> Vec<Contrast<'a>> {
    let value = |setting: &'a Setting| {
        setting.iter().find(|(name, _)| name == option).map(|(_, value)| value.as_str())
    };
    let rest = |setting: &'a Setting| setting.iter().filter(move |(name, _)| name != option);
    let mut values: Vec<&str> = Vec::new();
    for found in ran.iter().filter_map(|(setting, _)| value(setting)) {
        if !values.contains(&found) {
            values.push(found);
        }
    }
    let with = |wanted: &'a str| ran.iter().filter(move |(setting, _)| value(setting) == Some(wanted));
    let mut found = Vec::new();
    for (index, first) in values.iter().enumerate() {
        for second in &values[index + 1..] {
            let pairs = with(first).filter_map(|(one, arm)| {
                let (_, other) = with(second).find(|(other, _)| rest(one).eq(rest(other)))?;
                (arm != other).then_some((*arm, *other))
            });
            let pairs: Vec<(usize, usize)> = pairs.collect();
            let sign = |arm: &usize| {
                let times = |wanted: fn(&(usize, usize)) -> usize| {
                    pairs.iter().filter(|pair| wanted(pair) == *arm).count()
                };
                times(|pair| pair.0) as f64 - times(|pair| pair.1) as f64
            };
            let weights = arms.iter().map(|arm| sign(arm) / pairs.len() as f64).collect();
            if !pairs.is_empty() {
                found.push(Contrast { option, values: [first, second], weights });
            }
        }
    }
    found
}

/// The effect of the option that these contrasts are of: it matters if any does, and does not if none does.
fn effect(contrasts: &[Contrast<'_>], fit: &Fit, family: &Family, min_effect: f64) -> Option<Effect> {
    let judged = contrasts.iter().map(|contrast| {
        let mean = fit.weighted(&contrast.weights);
        let [first, second] = contrast.values;
        let (mean, better, worse) = match mean.value < 0.0 {
            true => (Mean { value: -mean.value, ..mean }, second, first),
            false => (mean, first, second),
        };
        let ratio = Ratio::of(&mean, family);
        (ratio, better, worse, ratio.verdict(min_effect, true))
    });
    let judged: Vec<_> = judged.collect();
    let finding = if judged.iter().any(|(.., verdict)| matches!(verdict, Verdict::Better | Verdict::Worse)) {
        Finding::Matters
    } else if judged.iter().all(|(.., verdict)| *verdict == Verdict::Same) {
        Finding::DoesNotMatter
    } else {
        Finding::Unknown
    };
    let (ratio, better, worse, _) =
        judged.into_iter().max_by(|(a, ..), (b, ..)| a.value.total_cmp(&b.value))?;
    Some(Effect {
        option: contrasts[0].option.to_owned(),
        better: better.to_owned(),
        worse: worse.to_owned(),
        ratio: ratio.value,
        ci: [ratio.low, ratio.high],
        finding,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sizes with two ages.
    fn grid() -> Vec<(Setting, usize)> {
        let of = |size: &str, age: &str, arm| {
            (vec![("size".to_owned(), size.to_owned()), ("age".to_owned(), age.to_owned())], arm)
        };
        vec![of("8M", "1", 1), of("8M", "5", 2), of("64M", "1", 3), of("64M", "5", 4)]
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
        let [size, age] = &effects(&grid(), &blocks(0.002), 0.03)[..] else { panic!("two options") };
        assert_eq!((size.option.as_str(), size.finding), ("size", Finding::Matters));
        assert_eq!((size.better.as_str(), size.worse.as_str()), ("64M", "8M"));
        assert!((size.ratio - 2.0).abs() < 0.01 && size.ci[0] < 2.0 && size.ci[1] > 2.0, "{size:?}");
        assert_eq!((age.option.as_str(), age.finding), ("age", Finding::DoesNotMatter), "{age:?}");
    }

    #[test]
    fn noise_hides_what_does_not_matter_and_says_so() {
        let [size, age] = &effects(&grid(), &blocks(0.08), 0.03)[..] else { panic!("two options") };
        assert_eq!((size.finding, age.finding), (Finding::Matters, Finding::Unknown));
    }

    #[test]
    fn an_arm_that_failed_leaves_the_others_to_tell() {
        let mut blocks = blocks(0.002);
        blocks[1][4] = None;
        let [size, age] = &effects(&grid(), &blocks, 0.03)[..] else { panic!("two options") };
        assert_eq!(size.finding, Finding::Matters);
        assert_eq!(age.finding, Finding::DoesNotMatter, "by the pair that is left");
    }

    #[test]
    fn settings_that_share_an_arm_do_not_differ() {
        let mut grid = grid();
        // At the small size the age does nothing.
        grid[1].1 = 1;
        let found = effects(&grid, &blocks(0.002), 0.03);
        let [size, age] = &found[..] else { panic!("two options") };
        assert!((size.ratio - 2.0).abs() < 0.01 && (age.ratio - 1.0).abs() < 0.01, "{found:?}");
        // Size: one arm against the mean of two; age: one against one.
        let width = |effect: &Effect| (effect.ci[1] / effect.ci[0]).ln();
        assert!((width(size) / width(age) - 0.75_f64.sqrt()).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn one_block_tells_nothing() {
        assert_eq!(effects(&grid(), &blocks(0.002)[..1], 0.03), []);
    }
}
