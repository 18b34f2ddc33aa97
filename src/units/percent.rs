//! Shares of a whole.

use std::fmt;
use std::str::FromStr;

use super::UnitError;
use super::quantity::{Quantity, quantity};

/// A share in percent, from 0 to 100. Written as `70`, `70%` or `0.5%`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Percent(f64);

quantity!(Percent, "a percentage from 0 to 100 such as 3%");

impl Percent {
    /// A whole number of percent; more than 100 counts as 100.
    #[must_use]
    pub fn whole(percent: u8) -> Self {
        Self(f64::from(percent.min(100)))
    }

    /// The number of percent, if it is a whole one.
    #[must_use]
    pub fn as_whole(self) -> Option<u8> {
        (0..=100).find(|whole| f64::from(*whole) == self.0)
    }

    /// The share as a fraction of 1.
    #[must_use]
    pub fn fraction(self) -> f64 {
        self.0 / 100.0
    }
}

impl FromStr for Percent {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let trimmed = text.trim();
        let number = trimmed.strip_suffix('%').unwrap_or(trimmed).trim_end().parse().ok();
        number.filter(|percent| (0.0..=100.0).contains(percent)).map(Self).ok_or_else(|| Self::error(text))
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_number_is_percent_too() {
        assert_eq!("70".parse(), "70%".parse::<Percent>());
        assert_eq!(serde_json::from_str::<Percent>("70").unwrap(), Percent::whole(70));
        assert_eq!("0.5 %".parse::<Percent>().unwrap().fraction(), 0.005);
    }

    #[test]
    fn a_percentage_stays_within_the_whole() {
        for text in ["101", "-1%", "NaN", "%", "3%%", "half"] {
            assert!(text.parse::<Percent>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_whole_percentages_become_whole_numbers() {
        assert_eq!("100%".parse::<Percent>().unwrap().as_whole(), Some(100));
        assert_eq!("0.5".parse::<Percent>().unwrap().as_whole(), None);
    }
}
