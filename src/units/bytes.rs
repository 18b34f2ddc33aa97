//! Sizes.

use std::fmt;
use std::str::FromStr;

use super::UnitError;
use super::quantity::{Quantity, quantity};

/// A number of bytes. Written as `4096`, `4k`, `16KiB`, `10GiB`; k is 1024.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

quantity!(Bytes, "a size such as 4096, 4k, 16KiB or 10GiB");

const UNITS: [(&str, u32); 5] = [("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];

impl Bytes {
    /// To three digits in the largest unit that is not above it, for people: `1.25GiB`.
    #[must_use]
    pub fn rounded(self) -> String {
        let found = UNITS.iter().find(|(_, shift)| self.0 >= 1 << shift);
        let Some((unit, shift)) = found else { return self.0.to_string() };
        let value = self.0 as f64 / (1_u64 << shift) as f64;
        let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
        format!("{value:.decimals$}{unit}")
    }

    /// The bare number, for C and for the kernel.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

const SUFFIXES: [(&str, u32); 6] = [("k", 10), ("m", 20), ("g", 30), ("t", 40), ("p", 50), ("", 0)];

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let error = || Self::error(text);
        let lower = text.trim().to_ascii_lowercase();
        let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = &lower[digits.len()..];
        let unit = unit.strip_suffix("ib").or_else(|| unit.strip_suffix('b')).unwrap_or(unit);
        let (_, shift) = SUFFIXES.iter().find(|(suffix, _)| *suffix == unit).ok_or_else(error)?;
        let number: u64 = digits.trim_end().parse().map_err(|_| error())?;
        number.checked_mul(1 << shift).map(Self).ok_or_else(error)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, shift) in UNITS {
            if self.0 >= 1 << shift && self.0.is_multiple_of(1 << shift) {
                return write!(f, "{}{unit}", self.0 >> shift);
            }
        }
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_is_1024_in_every_spelling() {
        for text in ["4096", "4k", "4K", "4KB", "4KiB", "4 KiB"] {
            assert_eq!(text.parse(), Ok(Bytes(4096)), "{text}");
        }
        assert_eq!("10GiB".parse(), Ok(Bytes(10 << 30)));
        assert_eq!("0".parse(), Ok(Bytes(0)));
    }

    #[test]
    fn what_is_no_size_is_refused_with_examples() {
        for text in ["", "k", "-1", "4x", "1.5k", "4kibb", "30s", "16384PiB"] {
            let error = text.parse::<Bytes>().unwrap_err().to_string();
            assert_eq!(error, format!("`{text}` is not a size such as 4096, 4k, 16KiB or 10GiB"));
        }
    }

    #[test]
    fn a_size_is_printed_in_its_largest_whole_unit() {
        for (bytes, text) in [(0, "0"), (1000, "1000"), (4096, "4KiB"), (6 << 20, "6MiB"), (1 << 50, "1PiB")]
        {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }

    #[test]
    fn yaml_may_hold_a_number_or_a_text() {
        assert_eq!(serde_json::from_str::<Bytes>("4096").unwrap(), Bytes(4096));
        assert_eq!(serde_json::from_str::<Bytes>("\"4k\"").unwrap(), Bytes(4096));
        assert!(serde_json::from_str::<Bytes>("-1").is_err());
        assert!(serde_json::from_str::<Bytes>("true").is_err());
    }
}
