//! What is not proven yet.

use super::pairs::terms;
use crate::result::{Comparison, ResultFile};
use crate::stats::Ratio;

/// The comparisons of a run that more repeats may decide: undecided, with an interval of more than `compare.precision` to
/// either side.
#[must_use]
pub fn open(result: &ResultFile) -> Vec<&Comparison> {
    let terms = terms(result);
    let (min_effect, precision) = (terms.min_effect.fraction(), terms.precision.fraction());
    let is_open = |comparison: &&Comparison| !Ratio::from(*comparison).is_settled(min_effect, precision);
    result.comparisons.iter().filter(is_open).collect()
}
