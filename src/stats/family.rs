//! How sure each statement must be, so that all statements of a run hold together.

/// The confidence level of a run.
pub const LEVEL: f64 = 0.95;

/// Blocks of a run that repeats by itself, at most.
pub const MAX_BLOCKS: u32 = 60;

/// Blocks at the first look.
pub const FIRST_LOOK: u32 = 3;

/// All that a run states: each comparison, at each time it may stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Family {
    /// How many statements there are.
    statements: usize,
}

impl Family {
    /// A run of fixed length with so many comparisons.
    #[must_use]
    pub const fn of(comparisons: usize) -> Self {
        Self { statements: if comparisons == 0 { 1 } else { comparisons } }
    }

    /// A run that may stop at any of `looks`.
    #[must_use]
    pub fn watched(comparisons: usize, looks: &Looks) -> Self {
        Self { statements: Self::of(comparisons).statements * looks.blocks.len() }
    }

    /// The probability with which a single interval may miss, such that all hold together with [`LEVEL`].
    #[must_use]
    pub fn miss(&self) -> f64 {
        (1.0 - LEVEL) / self.statements as f64
    }

    /// A p-value of a single statement, corrected for all of them: below 1 - [`LEVEL`] just where the interval excludes
    /// no difference.
    #[must_use]
    pub fn corrected(&self, p_value: f64) -> f64 {
        (p_value * self.statements as f64).min(1.0)
    }
}

/// When a run that repeats by itself may stop: after 3, 4, 5, 7, 9, 12, 15, 19, 24, 30, 38, 48 and 60 blocks, or fewer
/// where its budget ends.
///
/// Each look takes its share of the error, so that they grow apart: a quarter more blocks between two of them costs few
/// blocks too many and few looks too many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looks {
    blocks: Vec<u32>,
}

impl Looks {
    /// The looks of a run that does at most `blocks` blocks, which must be known before its first; at least 3 and at most
    /// [`MAX_BLOCKS`].
    #[must_use]
    pub fn until(blocks: u32) -> Self {
        let last = blocks.clamp(FIRST_LOOK, MAX_BLOCKS);
        let grown = std::iter::successors(Some(FIRST_LOOK), |look| Some(look + look.div_ceil(4)));
        let mut blocks: Vec<u32> = grown.take_while(|look| *look < last).collect();
        blocks.push(last);
        Self { blocks }
    }

    /// Whether the run may stop after `blocks` blocks.
    #[must_use]
    pub fn is_one(&self, blocks: u32) -> bool {
        self.blocks.contains(&blocks)
    }

    /// The blocks after which it may stop.
    #[must_use]
    pub fn blocks(&self) -> &[u32] {
        &self.blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_grow_apart_and_end_where_the_run_does() {
        assert_eq!(Looks::until(60).blocks(), [3, 4, 5, 7, 9, 12, 15, 19, 24, 30, 38, 48, 60]);
        assert_eq!(Looks::until(10).blocks(), [3, 4, 5, 7, 9, 10]);
        assert_eq!(Looks::until(1).blocks(), [3]);
        assert_eq!(Looks::until(1000).blocks().last(), Some(&MAX_BLOCKS));
        assert!(Looks::until(10).is_one(7) && !Looks::until(10).is_one(6));
    }

    #[test]
    fn statements_share_the_error_of_the_run() {
        let alone = Family::of(1);
        assert!((alone.miss() - 0.05).abs() < 1e-12);
        let watched = Family::watched(4, &Looks::until(10));
        assert!((watched.miss() - 0.05 / 24.0).abs() < 1e-12);
        assert!((watched.corrected(0.001) - 0.024).abs() < 1e-12);
        assert_eq!(watched.corrected(0.9), 1.0);
    }
}
