//! What a trial measures: latencies, a series over time, CPU, memory, the host it ran on, and whether the
//! cluster was left in peace.

mod checks;
mod cpu;
mod host;
mod latencies;
mod memory;
mod series;
mod steady;
mod tally;
mod watch;

pub use checks::{Checks, Found, Mismatch};
pub use cpu::{CpuMeter, CpuTime, CpuUsage};
pub use host::{Host, allocator_in};
pub use latencies::Latencies;
pub use memory::PeakMemory;
pub use series::{Interval, Second, Series, SeriesPen};
pub use steady::Unsteady;
pub use tally::{Failure, Figures, IoError, Tally};
pub use watch::{Condition, Finding, Journal, Look, Trouble};
