//! What results prove about their arms. Reads saved results alone; the arithmetic is in `stats`.

mod block;
mod claim;
mod figure;
mod open;
mod pairs;
mod runs;
mod sides;
mod verdict;
mod workloads;

pub use figure::value;
pub use open::open;
pub use pairs::{figures, within_run, within_run_against};
pub use runs::{Across, Error, across_runs};
