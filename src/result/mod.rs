//! The result file: what was asked, where it ran, what was in effect and what was measured.
//!
//! Everything to the right of the load loop lives on this type alone: a report or a comparison of an old file is as
//! good as one of a run just over. Field names carry their unit (`_ns`, `_s`, `_bytes`); `docs/results.md` lists them.
//! Within one format fields may be added, and those there are keep their names and meanings.

mod cache;
mod cluster;
mod comparison;
mod counters;
mod directory;
mod figures;
mod file;
mod histogram;
mod host;
mod latency;
mod place;
mod slice;
mod store;
mod timestamp;
mod tool;
mod trial;

pub use cache::CacheFigures;
pub use cluster::{Cluster, Pool};
pub use comparison::{Comparison, Metric, Verdict};
pub use counters::{Counters, Cpu, SeriesPoint};
pub use directory::{DirectoryError, ResultDirectory};
pub use figures::{Figures, Ops};
pub use file::{FORMAT, Order, ResultFile, schema};
pub use histogram::{EncodedHistogram, HistogramError};
pub use host::Host;
pub use latency::{LatencyNs, PERCENTILE_TAIL, are_enough, percentile};
pub use slice::{Slice, SliceFigures};
pub use store::{FILE_NAME, LoadError, SEARCH_OF_TUNING, SaveError, file_of};
pub use timestamp::Timestamp;
pub use tool::Tool;
pub use trial::{Checks, EffectiveOption, Mismatch, OptionSource, Problem, Status, Trial, Verified};
