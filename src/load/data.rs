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
