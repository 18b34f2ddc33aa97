//! Block sizes with their shares: fio's `bssplit`.

use std::fmt;
use std::str::FromStr;

use crate::units::quantity::{Quantity, quantity};
use crate::units::{Bytes, UnitError};

/// Block sizes with their shares, which sum up to 100 percent: `4k/60:64k/40`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSplit(pub Vec<BlockShare>);

/// A block size and how often it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockShare {
    /// Bytes per I/O.
    pub size: Bytes,
    /// Share of the I/Os in percent.
    pub percent: u8,
}

quantity!(BlockSplit, "block sizes with shares that sum up to 100 percent such as 4k/60:64k/40");

impl FromStr for BlockSplit {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let shares: Option<Vec<BlockShare>> = text.split(':').map(share).collect();
        let sum = |shares: &[BlockShare]| shares.iter().map(|share| u32::from(share.percent)).sum::<u32>();
        shares.filter(|shares| sum(shares) == 100).map(Self).ok_or_else(|| Self::error(text))
    }
}

fn share(text: &str) -> Option<BlockShare> {
    let (size, percent) = text.split_once('/')?;
    let percent = percent.trim().parse().ok().filter(|percent| *percent > 0)?;
    Some(BlockShare { size: size.parse().ok()?, percent })
}

impl fmt::Display for BlockSplit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, share) in self.0.iter().enumerate() {
            let colon = if index == 0 { "" } else { ":" };
            write!(f, "{colon}{}/{}", share.size, share.percent)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_size_has_its_share() {
        let split: BlockSplit = "4k/60:64k/40".parse().unwrap();
        let expected =
            [(4096, 60), (65536, 40)].map(|(size, percent)| BlockShare { size: Bytes(size), percent });
        assert_eq!(split.0, expected);
        assert_eq!(split.to_string(), "4KiB/60:64KiB/40");
    }

    #[test]
    fn shares_that_do_not_sum_up_to_a_hundred_are_refused() {
        for text in
            ["", "4k", "4k/60", "4k/60:64k/30", "4k/60:64k/50", "4k/100:64k/0", "4k/60:64k/", "4k/60,8k/40"]
        {
            assert!(text.parse::<BlockSplit>().is_err(), "{text}");
        }
    }
}
