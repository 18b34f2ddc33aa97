//! Which block is next, for random orders.

use std::fmt;
use std::str::FromStr;

use crate::units::UnitError;
use crate::units::quantity::{Quantity, quantity};

/// Which block is next, for random orders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Every block alike.
    Uniform,
    /// Zipf with this exponent above 0; the hot blocks are scattered over the range.
    Zipf(f64),
    /// `access_percent` of the I/Os go to `space_percent` of the blocks.
    Hotspot {
        /// The hot part of the blocks, in percent.
        space_percent: u8,
        /// The share of the I/Os that goes there, in percent.
        access_percent: u8,
    },
    /// Each block once before any block again.
    Once,
}

quantity!(
    Distribution,
    "uniform, once, zipf:EXPONENT (above 0) or hotspot:SPACE/ACCESS (percent; ACCESS not below SPACE)"
);

impl FromStr for Distribution {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let parsed = match text.split_once(':') {
            None if text == "uniform" => Some(Self::Uniform),
            None if text == "once" => Some(Self::Once),
            Some(("zipf", exponent)) => zipf(exponent),
            Some(("hotspot", shares)) => hotspot(shares),
            _ => None,
        };
        parsed.ok_or_else(|| Self::error(text))
    }
}

fn zipf(exponent: &str) -> Option<Distribution> {
    let exponent: f64 = exponent.parse().ok()?;
    (exponent.is_finite() && exponent > 0.0).then_some(Distribution::Zipf(exponent))
}

/// A hot part that gets less than its share is no hot part: most likely the two are the wrong way round.
fn hotspot(shares: &str) -> Option<Distribution> {
    let (space, access) = shares.split_once('/')?;
    let (space_percent, access_percent) = (space.parse().ok()?, access.parse().ok()?);
    let sensible = (1..=99).contains(&space_percent) && (space_percent..=100).contains(&access_percent);
    sensible.then_some(Distribution::Hotspot { space_percent, access_percent })
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Zipf(exponent) => write!(f, "zipf:{exponent}"),
            Self::Hotspot { space_percent, access_percent } => {
                write!(f, "hotspot:{space_percent}/{access_percent}")
            }
            Self::Once => f.write_str("once"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_distribution_is_written_as_it_is_read() {
        for text in ["uniform", "zipf:1.1", "hotspot:20/80", "once"] {
            assert_eq!(text.parse::<Distribution>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_distribution_is_refused() {
        for text in [
            "",
            "zipf",
            "zipf:0",
            "zipf:-1",
            "zipf:x",
            "hotspot:80/20",
            "hotspot:0/50",
            "hotspot:20",
            "pareto:0.9",
        ] {
            assert!(text.parse::<Distribution>().is_err(), "{text}");
        }
    }
}
