//! What is not proven yet.

use super::pairs::terms;
use crate::result::{Comparison, ResultFile, Verdict};

/// The comparisons of a run that more repeats may decide: undecided, with an interval of more than `compare.precision` to
/// either side.
#[must_use]
pub fn open(result: &ResultFile) -> Vec<&Comparison> {
    let precision = terms(result).precision.fraction();
    let wide = |comparison: &&Comparison| {
        let [low, high] = comparison.ci;
        comparison.verdict == Verdict::Undecided && (high / low).sqrt() - 1.0 > precision
    };
    result.comparisons.iter().filter(wide).collect()
}
