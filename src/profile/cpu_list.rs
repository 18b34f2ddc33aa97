//! Lists of processors: fio's `cpus_allowed`.

use std::fmt;
use std::str::FromStr;

use crate::units::UnitError;
use crate::units::quantity::{Quantity, quantity};

/// Processors by number, in ascending order and each once: `0-3,5`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuList(pub Vec<usize>);

quantity!(CpuList, "a list of processors such as 0-3,5");

/// More processors than any kernel supports; a bound for what a range may fill.
const MAX_CPU: usize = 8191;

impl FromStr for CpuList {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let mut cpus = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let bounds = first.parse::<usize>().ok().zip(last.parse::<usize>().ok());
            let range = bounds.filter(|(first, last)| first <= last && *last <= MAX_CPU);
            cpus.extend(range.map(|(first, last)| first..=last).ok_or_else(|| Self::error(text))?);
        }
        cpus.sort_unstable();
        cpus.dedup();
        Ok(Self(cpus))
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cpus: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&cpus.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_single_processors_mix() {
        assert_eq!("5,0-2,1".parse(), Ok(CpuList(vec![0, 1, 2, 5])));
        assert_eq!(serde_json::from_str::<CpuList>("3").unwrap(), CpuList(vec![3]));
    }

    #[test]
    fn what_is_no_list_of_processors_is_refused() {
        for text in ["", "a", "3-1", "0-", "-1", "0,,1", "0-4294967295"] {
            assert!(text.parse::<CpuList>().is_err(), "{text}");
        }
    }
}
