//! A question whose answer is known.

use cephmark::result::{Comparison, ResultFile, Verdict};
use cephmark::tune::{Conclusion, Outcome};
use clap::ValueEnum;

use crate::program::{self, Error};

/// What cephmark is asked.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Question {
    /// Do two arms that are the same differ?
    EqualArms,
    /// Which setting of a cache is best?
    KnownBest,
    /// Which setting is best, where none has an effect?
    NothingMatters,
}

/// What it answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) is_right: bool,
    /// In a few words.
    pub(crate) text: String,
}

impl Question {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::EqualArms => "equal arms",
            Self::KnownBest => "known best",
            Self::NothingMatters => "nothing matters",
        }
    }

    /// What is right.
    pub(crate) const fn truth(self) -> &'static str {
        match self {
            Self::EqualArms => "no difference claimed, which may be wrong in 5 % of runs",
            Self::KnownBest => "the known setting found, and proven to be better, within the budget",
            Self::NothingMatters => "no difference claimed",
        }
    }

    pub(crate) const fn runs(self) -> u32 {
        match self {
            Self::EqualArms => 40,
            Self::KnownBest | Self::NothingMatters => 10,
        }
    }

    /// Asks once.
    ///
    /// # Errors
    /// [`Error`] if there is no answer, not even a wrong one.
    pub(crate) fn ask(self) -> Result<Answer, Error> {
        match self {
            Self::EqualArms => {
                let result = program::run("run", include_str!("equal-arms.yaml"), ResultFile::load)?;
                let claims = |found: &Comparison| matches!(found.verdict, Verdict::Better | Verdict::Worse);
                let is_right = !result.comparisons.is_empty() && !result.comparisons.iter().any(claims);
                Ok(Answer { is_right, text: ratios(&result.comparisons) })
            }
            Self::KnownBest => {
                let outcome = program::run("tune", include_str!("known-best.yaml"), Outcome::load)?;
                let best = outcome.best.as_ref().map_or("", |best| &best.arm);
                let is_right = outcome.conclusion == Conclusion::Better
                    && best == "librbd[rbd_cache_policy=writeback,rbd_cache_size=32MiB]"
                    && outcome.took_s <= outcome.budget_s;
                Ok(Answer { is_right, text: in_short(&outcome) })
            }
            Self::NothingMatters => {
                let outcome = program::run("tune", include_str!("nothing-matters.yaml"), Outcome::load)?;
                let is_right = outcome.conclusion == Conclusion::NoProvenDifference;
                Ok(Answer { is_right, text: in_short(&outcome) })
            }
        }
    }
}

fn ratios(comparisons: &[Comparison]) -> String {
    let ratio = |found: &Comparison| {
        let ([low, high], verdict) = (found.ci, format!("{:?}", found.verdict).to_lowercase());
        format!("{verdict}, {:.3} ({low:.3} to {high:.3})", found.ratio)
    };
    comparisons.iter().map(ratio).collect::<Vec<_>>().join("; ")
}

fn in_short(outcome: &Outcome) -> String {
    let best = outcome.best.as_ref();
    format!(
        "{:?} after {:.0} s of {:.0} s: {} in {} blocks: {}",
        outcome.conclusion,
        outcome.took_s,
        outcome.budget_s,
        best.map_or("nothing", |best| &best.arm),
        best.map_or(0, |best| best.blocks),
        best.map_or_else(String::new, |best| ratios(&best.comparisons)),
    )
}
