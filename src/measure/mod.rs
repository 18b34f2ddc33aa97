//! What a trial measures: latencies, a series over time, CPU, memory, and the host it ran on.

mod checks;
mod cpu;
mod host;
mod latencies;
mod memory;
mod series;
mod tally;

pub use checks::{Checks, Found, Mismatch};
pub use cpu::{CpuMeter, CpuTime, CpuUsage};
pub use host::{Host, allocator_in};
pub use latencies::{DecodeError, Latencies};
pub use memory::PeakMemory;
pub use series::{Interval, Second, Series, SeriesPen};
pub use tally::{Failure, Figures, IoError, Tally};
