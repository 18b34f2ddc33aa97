//! Is the difference real? Pure functions from figures to intervals and verdicts; `docs/methods.md` says why these.
//!
//! Figures are compared as logarithms of ratios, so that swapping two arms inverts the ratio and its interval, and a unit
//! cancels out. One [`Mean`] comes from repeated blocks or from a series; a [`Family`] says how sure each statement must
//! be for all of a run to hold together; both make a [`Ratio`], and that a verdict.

mod blocks;
mod family;
mod mean;
mod ratio;
mod student;

pub use blocks::{complete, log_ratios, mean_log_ratio, paired};
pub use family::{FIRST_LOOK, Family, LEVEL, Looks, MAX_BLOCKS};
pub use mean::Mean;
pub use ratio::Ratio;
pub use student::{critical_value, two_sided_p};
