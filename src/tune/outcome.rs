//! What a tuning found: the file `tune.json`, from which its report is made.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::advice::Advice;
use super::effects::Effect;
use crate::plan::Setting;
use crate::result::{Comparison, Timestamp, Tool, Verdict};

/// The name of the file in the directory of a tuning.
pub const FILE_NAME: &str = "tune.json";

/// What a tuning found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Version of this format.
    pub format: u32,
    /// What wrote the file.
    pub tool: Tool,
    /// The profile in full, after `--set`.
    pub profile: serde_json::Value,
    /// When it began.
    pub started: Timestamp,
    /// When it ended.
    pub finished: Timestamp,
    /// The objective's metric.
    pub objective: String,
    /// The constraints.
    pub constraints: Vec<String>,
    /// How long it might take, in seconds.
    pub budget_s: f64,
    /// How long it took, in seconds.
    pub took_s: f64,
    /// Every setting; the first is what the cluster has now.
    pub settings: Vec<Tried>,
    /// Settings that can't be.
    pub left_out: Vec<LeftOut>,
    /// What mattered and what did not.
    pub effects: Vec<Effect>,
    /// What follows.
    pub conclusion: Conclusion,
    /// The best setting, by the search and as confirmed; null where there is none.
    pub best: Option<Confirmed>,
}

/// A setting that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Its arm in the results of the search.
    pub arm: String,
    /// Its options of the space, as the profile writes them.
    pub setting: Setting,
    /// In how many blocks it ran.
    pub blocks: u32,
    /// Its objective over that of the best of the search (of the current settings where there is none), in the blocks in
    /// which both ran; null without any.
    pub ratio: Option<f64>,
    /// Why it was not advised whatever it did.
    pub out: Option<String>,
}

/// A setting that can't be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The setting.
    pub setting: String,
    /// Why.
    pub reason: String,
}

/// The best setting, and what fresh trials say of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confirmed {
    /// Its arm.
    pub arm: String,
    /// Its options of the space.
    pub setting: Setting,
    /// Against the current settings, by the objective.
    pub comparisons: Vec<Comparison>,
    /// How many blocks the comparisons are of.
    pub blocks: u32,
    /// A constraint that it did not keep in these trials.
    pub broken: Option<String>,
    /// How to use it.
    pub advice: Advice,
}

/// What follows from a tuning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// The best setting is better than the current ones, as fresh trials prove.
    Better,
    /// Nothing is proven to be better than what the cluster has now.
    NoProvenDifference,
    /// It is better in some of what is compared and worse in other.
    Mixed,
    /// The best of the space is worse than what the cluster has now.
    Worse,
    /// The best setting does not keep the constraints after all.
    ConstraintBroken,
    /// No setting of the space keeps the constraints, or could be measured.
    NothingLeft,
    /// The best setting is what the cluster has now.
    AlreadyCurrent,
    /// There was no time to confirm.
    NotConfirmed,
}

impl Conclusion {
    /// From the comparisons of the best setting with the current ones.
    #[must_use]
    pub fn of(comparisons: &[Comparison]) -> Self {
        let any = |wanted| comparisons.iter().any(|comparison| comparison.verdict == wanted);
        match (any(Verdict::Better), any(Verdict::Worse)) {
            _ if comparisons.is_empty() => Self::NotConfirmed,
            (true, false) => Self::Better,
            (true, true) => Self::Mixed,
            (false, true) => Self::Worse,
            (false, false) => Self::NoProvenDifference,
        }
    }
}

impl Outcome {
    /// Writes the file into a directory.
    ///
    /// # Errors
    /// The system's.
    pub fn save(&self, directory: &Path) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        let mut new = tempfile::NamedTempFile::new_in(directory)?;
        io::Write::write_all(&mut new, text.as_bytes())?;
        new.as_file().sync_all()?;
        new.persist(directory.join(FILE_NAME))?;
        Ok(())
    }

    /// Reads the file in a directory.
    ///
    /// # Errors
    /// The system's, or that of what is no such file.
    pub fn load(directory: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&std::fs::read(directory.join(FILE_NAME))?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Metric;

    fn comparison(verdict: Verdict) -> Comparison {
        Comparison {
            workload: "w".to_owned(),
            settings: [].into(),
            job: String::new(),
            op: "read".to_owned(),
            metric: Metric::Iops,
            baseline: "t[current]".to_owned(),
            candidate: "t[x=1]".to_owned(),
            ratio: 1.0,
            ci: [0.9, 1.1],
            level: 0.95,
            p_value: 1.0,
            verdict,
        }
    }

    #[test]
    fn the_conclusion_follows_from_all_comparisons() {
        use Verdict::{Better, Same, Undecided, Worse};
        let of = |verdicts: &[Verdict]| {
            Conclusion::of(&verdicts.iter().map(|verdict| comparison(*verdict)).collect::<Vec<_>>())
        };
        assert_eq!(of(&[]), Conclusion::NotConfirmed);
        assert_eq!(of(&[Better]), Conclusion::Better);
        assert_eq!(of(&[Better, Same, Undecided]), Conclusion::Better);
        assert_eq!(of(&[Better, Worse]), Conclusion::Mixed);
        assert_eq!(of(&[Worse, Same]), Conclusion::Worse);
        assert_eq!(of(&[Same, Undecided]), Conclusion::NoProvenDifference);
    }
}
