//! Lengths of time as a profile writes them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::UnitError;
use super::quantity::{Quantity, quantity};

/// A length of time. Written as `500ms`, `30s`, `5m`, `1h`; a bare number is seconds, as in fio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub Duration);

quantity!(Time, "a time such as 500ms, 30s, 5m or 1h");

impl Time {
    /// So many whole seconds.
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }
}

/// Units with their length in nanoseconds, the longest first.
const UNITS: [(&str, u64); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

impl FromStr for Time {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let error = || Self::error(text);
        let trimmed = text.trim();
        let digits = trimmed.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = if digits.len() == trimmed.len() { "s" } else { &trimmed[digits.len()..] };
        let (_, nanoseconds) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(error)?;
        let number: f64 = digits.trim_end().parse().map_err(|_| error())?;
        let seconds = number * (*nanoseconds as f64 / 1e9);
        Duration::try_from_secs_f64(seconds).map(Self).map_err(|_| error())
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanoseconds = self.0.as_nanos();
        if nanoseconds == 0 {
            return f.write_str("0s");
        }
        let whole = UNITS.iter().find(|(_, unit)| nanoseconds.is_multiple_of(u128::from(*unit)));
        let (name, unit) = whole.unwrap_or(&("ns", 1));
        write!(f, "{}{name}", nanoseconds / u128::from(*unit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_fio_units_and_a_bare_number_is_seconds() {
        for (text, milliseconds) in [
            ("500ms", 500),
            ("30s", 30_000),
            ("5m", 300_000),
            ("1h", 3_600_000),
            ("30", 30_000),
            ("1.5s", 1500),
        ] {
            assert_eq!(text.parse(), Ok(Time(Duration::from_millis(milliseconds))), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", "s", "-1s", "5 minutes", "4k", "1e300h", "NaN"] {
            assert!(text.parse::<Time>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_time_is_printed_in_its_largest_whole_unit() {
        for text in ["0s", "500ms", "90s", "5m", "1h", "2d", "1500us"] {
            assert_eq!(text.parse::<Time>().unwrap().to_string(), text);
        }
    }
}
