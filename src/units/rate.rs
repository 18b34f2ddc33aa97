//! Rates of I/O.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::UnitError;
use super::quantity::{Quantity, quantity};

/// I/Os per second; finite and above 0. Written as `500` or `500/s`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Rate(f64);

quantity!(Rate, "a number of I/Os per second above 0");

impl Rate {
    /// A rate, if it is finite and above 0.
    #[must_use]
    pub fn per_second(value: f64) -> Option<Self> {
        (value.is_finite() && value > 0.0).then_some(Self(value))
    }

    /// The mean time from one I/O to the next.
    #[must_use]
    pub fn interval(self) -> Duration {
        Duration::from_secs_f64(1.0 / self.0)
    }

    /// I/Os per second.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl FromStr for Rate {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let number = text.trim().trim_end_matches("/s").parse().ok();
        number.and_then(Self::per_second).ok_or_else(|| Self::error(text))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_above_zero_and_finite() {
        assert_eq!("500".parse::<Rate>().unwrap().interval(), Duration::from_millis(2));
        assert_eq!("0.5/s".parse::<Rate>().unwrap().get(), 0.5);
        for text in ["0", "-3", "inf", "NaN", "fast", ""] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }
}
