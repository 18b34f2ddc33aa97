//! A bound on a figure, as `tune` takes it: `p99 <= 20ms`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::compare::Metric;
use crate::units::quantity::{Quantity, quantity};
use crate::units::{Bytes, Rate, Time, UnitError};

/// A bound on a figure. Times, CPU and memory have an upper one, rates a lower one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constraint {
    /// On a metric, in the unit of result files: I/Os or bytes per second, nanoseconds, microseconds of CPU.
    Metric {
        /// The metric.
        metric: Metric,
        /// The worst value that is allowed.
        limit: f64,
    },
    /// On the memory that the client's caches may take.
    Memory(Bytes),
}

quantity!(Constraint, "a bound such as p99 <= 20ms, iops >= 5000 or memory <= 512MiB");

const MEMORY: &str = "memory";

impl Constraint {
    /// Whether a value of its figure, in its unit, keeps it.
    #[must_use]
    pub fn allows(self, value: f64) -> bool {
        match self {
            Self::Metric { metric, limit } if metric.higher_is_better() => value >= limit,
            Self::Metric { limit, .. } => value <= limit,
            Self::Memory(limit) => value <= limit.get() as f64,
        }
    }

    const fn sign(higher_is_better: bool) -> &'static str {
        if higher_is_better { ">=" } else { "<=" }
    }
}

impl FromStr for Constraint {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let error = || Self::error(text);
        let (sign, at) =
            [">=", "<="].iter().find_map(|sign| Some((*sign, text.find(sign)?))).ok_or_else(error)?;
        let (name, limit) = (text[..at].trim(), text[at + sign.len()..].trim());
        let metric = Metric::ALL.into_iter().find(|metric| metric.name() == name);
        if sign != Self::sign(metric.is_some_and(Metric::higher_is_better)) {
            return Err(error());
        }
        let Some(metric) = metric else {
            return (name == MEMORY)
                .then(|| limit.parse().map(Self::Memory).ok())
                .flatten()
                .ok_or_else(error);
        };
        let limit = match metric {
            Metric::Iops => limit.parse::<Rate>().ok().map(Rate::get),
            Metric::BytesPerS => {
                limit.trim_end_matches("/s").parse::<Bytes>().ok().map(|bytes| bytes.get() as f64)
            }
            Metric::UsPerIo => limit.trim_end_matches("us").trim_end().parse().ok(),
            _ => limit.parse::<Time>().ok().map(|Time(time)| time.as_nanos() as f64),
        };
        let limit = limit.filter(|limit| *limit > 0.0 && limit.is_finite()).ok_or_else(error)?;
        Ok(Self::Metric { metric, limit })
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Metric { metric, limit } = *self else {
            let Self::Memory(limit) = self else { return Ok(()) };
            return write!(f, "{MEMORY} <= {limit}");
        };
        write!(f, "{} {} ", metric.name(), Self::sign(metric.higher_is_better()))?;
        match metric {
            Metric::Iops => write!(f, "{limit}"),
            Metric::BytesPerS => write!(f, "{}", Bytes(limit as u64)),
            Metric::UsPerIo => write!(f, "{limit}us"),
            _ => write!(f, "{}", Time(Duration::from_nanos(limit as u64))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_printed_as_it_is_read() {
        for text in [
            "p99 <= 20ms",
            "memory <= 512MiB",
            "iops >= 5000",
            "bytes_per_s >= 100MiB",
            "us_per_io <= 30us",
            "p99_9 <= 1s",
        ] {
            assert_eq!(text.parse::<Constraint>().expect(text).to_string(), text);
        }
        assert_eq!("p99<=20ms".parse(), "p99 <= 20ms".parse::<Constraint>(), "blanks do not matter");
        assert_eq!("us_per_io <= 30".parse(), "us_per_io <= 30us".parse::<Constraint>());
    }

    #[test]
    fn what_bounds_nothing_or_from_the_wrong_side_is_refused() {
        for text in
            ["p99", "p99 < 20ms", "p99 >= 20ms", "iops <= 5", "memory >= 1GiB", "p98 <= 1s", "p99 <= 4k"]
        {
            let error = text.parse::<Constraint>().expect_err(text).to_string();
            assert!(error.starts_with(&format!("`{text}` is not a bound such as ")), "{error}");
        }
    }

    #[test]
    fn the_limit_itself_is_allowed() {
        let p99: Constraint = "p99 <= 20ms".parse().expect("a bound");
        assert!(p99.allows(20e6) && !p99.allows(20.1e6));
        let iops: Constraint = "iops >= 5000".parse().expect("a bound");
        assert!(iops.allows(5000.0) && !iops.allows(4999.0));
        let memory: Constraint = "memory <= 1MiB".parse().expect("a bound");
        assert!(memory.allows(1_048_576.0) && !memory.allows(1_048_577.0));
    }
}
