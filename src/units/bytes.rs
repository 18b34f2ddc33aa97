//! Sizes.

use std::fmt;
use std::str::FromStr;

use super::UnitError;

/// A number of bytes. Written as `4096`, `4k`, `16KiB`, `10GiB`; k is 1024.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Bytes {
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
        let error = || UnitError { text: text.to_owned(), wanted: "a size such as 4096, 4k, 16KiB or 10GiB" };
        let lower = text.trim().to_ascii_lowercase();
        let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = lower[digits.len()..].trim_end_matches('b').trim_end_matches('i');
        let (_, shift) = SUFFIXES.iter().find(|(suffix, _)| *suffix == unit).ok_or_else(error)?;
        let number: u64 = digits.trim_end().parse().map_err(|_| error())?;
        number.checked_mul(1 << shift).map(Self).ok_or_else(error)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u32); 5] = [("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
        for (unit, shift) in UNITS {
            if self.0 >= 1 << shift && self.0.is_multiple_of(1 << shift) {
                return write!(f, "{}{unit}", self.0 >> shift);
            }
        }
        write!(f, "{}", self.0)
    }
}
