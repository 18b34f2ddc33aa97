//! Random numbers: one generator for each purpose of each thread, so that the same seed gives the same sequence of
//! I/Os whatever the timing.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// The generator of every random choice in the load loop.
pub(crate) type Random = Xoshiro256PlusPlus;

/// What random numbers are for; different purposes do not disturb each other's sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// Operation, length and place.
    Stream = 1,
    /// Due times.
    Pace = 2,
    /// Content of buffers.
    Data = 3,
    /// Which blocks are hot, alike for all threads of a job.
    Scatter = 4,
}

/// The generator of `thread` of a job with this `randseed`.
pub(crate) fn random(randseed: u64, thread: u32, purpose: Purpose) -> Random {
    Random::seed_from_u64(mix(mix(randseed) ^ (u64::from(thread) << 8 | purpose as u64)))
}

/// A number in `0..n`, at the cost of one multiplication; its bias is below n / 2^64.
#[inline]
pub(crate) fn below(random: &mut Random, n: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(n)) >> 64) as u64
}

/// Spreads the bits of a number (the finaliser of splitmix64); a bijection.
#[inline]
pub(crate) const fn mix(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
