//! What is written: random bytes that no compressor shrinks, at the cost of a few stores per I/O.
//!
//! Each buffer is filled with random bytes once; before each write every 4 KiB of it get a stamp that no other write
//! has. So no two writes are alike, which checksum caches and deduplication would notice, and yet writing 4 KiB costs
//! some ns. As in fio with `buffer_compress_percentage`, each 512 bytes end in that share of zeroes.

use rand_xoshiro::rand_core::Rng as _;

use super::random::{Purpose, Random, mix, random};
use crate::lane::Buffer;
use crate::plan::Job;

/// fio's default of `buffer_compress_chunk`, in bytes.
const SEGMENT: usize = 512;
/// A stamp is put on every so many bytes.
const STAMP_EVERY: usize = 4096;

/// Fills the buffers of one thread's writes.
#[derive(Clone, Debug)]
pub(crate) struct Payload {
    random: Random,
    /// Random bytes of each segment.
    random_bytes: usize,
    stamp: u64,
}

impl Payload {
    pub(crate) fn new(job: &Job, thread: u32) -> Self {
        let mut random = random(job.randseed, thread, Purpose::Data);
        let percent = if job.zero_buffers { 0 } else { 100 - usize::from(job.buffer_compress_percentage) };
        let stamp = random.next_u64();
        Self { random, random_bytes: SEGMENT * percent / 100, stamp }
    }

    /// A new buffer of `len` bytes.
    pub(crate) fn buffer(&mut self, len: u32) -> Buffer {
        let mut buffer = Buffer::zeroed(len as usize);
        for segment in buffer.chunks_mut(SEGMENT) {
            let random_bytes = self.random_bytes.min(segment.len());
            self.random.fill_bytes(&mut segment[..random_bytes]);
        }
        buffer
    }

    /// Makes the content of `buffer`, once made by [`Self::buffer`], different from every write before.
    #[inline]
    pub(crate) fn renew(&mut self, buffer: &mut [u8]) {
        for page in buffer.chunks_mut(STAMP_EVERY) {
            self.stamp = self.stamp.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let stamp = mix(self.stamp).to_ne_bytes();
            let len = stamp.len().min(self.random_bytes).min(page.len());
            page[..len].copy_from_slice(&stamp[..len]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn zero_share(percent: u8) -> f64 {
        let job = Job { buffer_compress_percentage: percent, ..Job::default() };
        let mut payload = Payload::new(&job, 0);
        let mut buffer = payload.buffer(1 << 20);
        payload.renew(&mut buffer);
        buffer.iter().filter(|&&byte| byte == 0).count() as f64 / (1 << 20) as f64
    }

    #[test]
    fn the_compressible_share_is_as_asked_for() {
        for percent in [0, 25, 50, 99, 100] {
            // A random byte is zero once in 256 times.
            let wanted = f64::from(percent) / 100.0;
            let found = zero_share(percent);
            assert!((found - wanted - (1.0 - wanted) / 256.0).abs() < 0.005, "{found} for {percent}");
        }
    }

    #[test]
    fn every_compress_chunk_has_its_own_zeroes() {
        let job = Job { buffer_compress_percentage: 50, ..Job::default() };
        let buffer = Payload::new(&job, 0).buffer(4096);
        for segment in buffer.chunks(512) {
            assert!(segment[256..].iter().all(|&byte| byte == 0));
            assert!(segment[..256].iter().filter(|&&byte| byte == 0).count() < 16);
        }
    }

    #[test]
    fn no_two_writes_share_a_page() {
        let (mut pages, mut payload) = (HashSet::new(), Payload::new(&Job::default(), 0));
        let mut buffer = payload.buffer(64 << 10);
        for _ in 0..100 {
            payload.renew(&mut buffer);
            pages.extend(buffer.chunks(4096).map(<[u8]>::to_vec));
        }
        assert_eq!(pages.len(), 100 * 16);
    }

    #[test]
    fn zero_buffers_are_zeroes() {
        let mut payload = Payload::new(&Job { zero_buffers: true, ..Job::default() }, 0);
        let mut buffer = payload.buffer(8192);
        payload.renew(&mut buffer);
        assert!(buffer.iter().all(|&byte| byte == 0));
    }
}
