//! A random order of the numbers below n that takes no memory: a Feistel network, with cycle walking for what lies
//! beyond n. It places hot blocks all over an image, and visits each block once without a map of 100 million bits.

use rand_xoshiro::rand_core::Rng as _;

use super::random::Random;

/// Enough rounds for an order that shows no pattern; this is not cryptography.
const ROUNDS: usize = 4;

/// A bijection of `0..len` to itself.
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    len: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// A permutation of `0..len`; `len` is at least 1 and at most 2^62.
    pub(crate) fn new(len: u64, random: &mut Random) -> Self {
        let bits = u64::BITS - (len - 1).leading_zeros();
        Self { len, half_bits: bits.div_ceil(2).max(1), keys: std::array::from_fn(|_| random.next_u64()) }
    }

    /// Where `index` goes.
    pub(crate) fn at(&self, index: u64) -> u64 {
        // The network permutes the next power of four, so walking on from an index below `len` comes back below it;
        // fewer than four steps on average.
        let mut place = self.encrypt(index);
        while place >= self.len {
            place = self.encrypt(place);
        }
        place
    }

    fn encrypt(&self, index: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (index >> self.half_bits, index & mask);
        for key in self.keys {
            let hash = (right ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            (left, right) = (right, (left ^ hash) & mask);
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::random::{Purpose, random};
    use super::*;

    proptest! {
        #[test]
        fn every_number_is_hit_once(len in 1_u64..5000, seed: u64) {
            let permutation = Permutation::new(len, &mut random(seed, 0, Purpose::Scatter));
            let mut hit: Vec<u64> = (0..len).map(|index| permutation.at(index)).collect();
            hit.sort_unstable();
            prop_assert!(hit.into_iter().eq(0..len));
        }

        #[test]
        fn large_ranges_stay_in_range(len in 1_u64..1 << 62, index: u64, seed: u64) {
            let permutation = Permutation::new(len, &mut random(seed, 0, Purpose::Scatter));
            prop_assert!(permutation.at(index % len) < len);
        }
    }

    #[test]
    fn neighbours_do_not_stay_neighbours() {
        let permutation = Permutation::new(1 << 20, &mut random(7, 0, Purpose::Scatter));
        let near = (1..10_000).filter(|&n| permutation.at(n).abs_diff(permutation.at(n - 1)) < 1000).count();
        // By chance 2000 of a million places are that near: 19 of 10,000.
        assert!(near < 60, "{near}");
    }
}
