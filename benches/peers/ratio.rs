//! What pairs of runs say about a ratio.

use std::fmt;

/// Ratios of cephmark's figure to a peer's, one from each round; both runs of a round are neighbours in time.
#[derive(Clone, Debug)]
pub(crate) struct Ratios {
    sorted: Vec<f64>,
}

/// What a ratio is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

/// Whether it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Met,
    /// The median misses it, by less than the rounds differ.
    WithinNoise,
    Missed,
}

impl Ratios {
    /// Of at least one round.
    pub(crate) fn new(ratios: impl IntoIterator<Item = f64>) -> Self {
        Self { sorted: sorted(ratios) }
    }

    pub(crate) fn median(&self) -> f64 {
        median(&self.sorted)
    }

    pub(crate) fn judge(&self, goal: Goal) -> Verdict {
        if goal.holds(self.median()) {
            Verdict::Met
        } else if self.sorted.iter().any(|&ratio| goal.holds(ratio)) {
            Verdict::WithinNoise
        } else {
            Verdict::Missed
        }
    }
}

impl Goal {
    fn holds(self, ratio: f64) -> bool {
        match self {
            Self::AtLeast(bound) => ratio >= bound,
            Self::AtMost(bound) => ratio <= bound,
        }
    }
}

/// Numbers in order.
pub(crate) fn sorted(numbers: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = numbers.into_iter().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// Of at least one number, in order.
pub(crate) fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}

/// Median and range: `3.42 (3.30-3.61)`.
impl fmt::Display for Ratios {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = (self.sorted[0], self.sorted[self.sorted.len() - 1]);
        write!(f, "{:.2} ({low:.2}-{high:.2})", self.median())
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(bound) => write!(f, ">= {bound}"),
            Self::AtMost(bound) => write!(f, "<= {bound}"),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Met => "met",
            Self::WithinNoise => "within the noise",
            Self::Missed => "MISSED",
        })
    }
}
