//! Where an I/O goes: image and offset, in fio's orders `sequential` and `random_distribution`.
//!
//! Every job spreads over all images of its arm. Sequential jobs go round the images, an I/O on each in turn, so that
//! each image sees one sequential stream and all are loaded at once. As in fio, reads and writes of `rw` have streams
//! of their own, each of `numjobs` threads starts at the first block, and a stream that reaches the end starts again.

use rand_distr::{Distribution as _, Zipf};

use super::permutation::Permutation;
use super::random::{Purpose, Random, below, random};
use crate::lane::Op;
use crate::plan::{Distribution, Job, Rw};

/// Draws image and offset. Random I/Os start at multiples of the smallest block size from the job's `offset` on; with
/// `once` at multiples of the largest, so that no two of a pass overlap.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    images: u32,
    offset: u64,
    size: u64,
    unit: u64,
    /// Units of one image.
    units: u64,
    order: Order,
}

#[derive(Clone, Debug)]
enum Order {
    Sequential { reads: Cursors, others: Cursors },
    Uniform,
    Zipf { rank: Zipf<f64>, scatter: Permutation },
    Hotspot { hot: u64, access_percent: u64, scatter: Permutation },
    Once { pass: Permutation, next: u64 },
}

/// A sequential stream on each image, and whose turn it is.
#[derive(Clone, Debug)]
struct Cursors {
    image: u32,
    offsets: Vec<u64>,
}

impl Place {
    /// The places of a job's `thread` over `images` images. All threads of a job share its hot blocks.
    pub(crate) fn new(job: &Job, images: u32, draw: &mut Random) -> Self {
        let sizes = job.blocks.iter().map(|block| block.size.get());
        let once = matches!(job.distribution, Distribution::Once);
        let unit = if once { sizes.max() } else { sizes.min() }.unwrap_or(1).max(1);
        let units = (job.size.get() / unit).max(1);
        let total = units * u64::from(images);
        let scatter = || Permutation::new(total, &mut random(job.randseed, 0, Purpose::Scatter));
        let order = match job.distribution {
            _ if job.rw.is_sequential() => {
                Order::Sequential { reads: Cursors::new(images), others: Cursors::new(images) }
            }
            Distribution::Zipf(exponent) => match Zipf::new(total as f64, exponent) {
                Ok(rank) => Order::Zipf { rank, scatter: scatter() },
                // Only an exponent that the plan refuses.
                Err(_) => Order::Uniform,
            },
            Distribution::Hotspot { space_percent, access_percent } => Order::Hotspot {
                hot: (total * u64::from(space_percent) / 100).clamp(1, total),
                access_percent: access_percent.into(),
                scatter: scatter(),
            },
            Distribution::Once => Order::Once { pass: Permutation::new(total, draw), next: 0 },
            Distribution::Uniform => Order::Uniform,
        };
        Self { images, offset: job.offset.get(), size: job.size.get(), unit, units, order }
    }

    /// Image and offset of the next I/O, which does `op` on `len` bytes.
    #[inline]
    pub(crate) fn draw(&mut self, op: Op, len: u32, draw: &mut Random) -> (u32, u64) {
        let len = u64::from(len);
        let (image, unit) = match &mut self.order {
            Order::Uniform => (below(draw, self.images.into()) as u32, below(draw, self.units)),
            Order::Sequential { reads, others } => {
                let cursors = if op == Op::Read { reads } else { others };
                let (image, offset) = cursors.advance(len, self.size);
                return (image, self.offset + offset);
            }
            scattered => {
                let index = scattered.index(self.units * u64::from(self.images), draw);
                ((index / self.units) as u32, index % self.units)
            }
        };
        let mut start = unit * self.unit;
        if start + len > self.size {
            // A block longer than the unit does not fit at the last ones; it starts where it just fits.
            start = (self.size - len) / self.unit * self.unit;
        }
        (image, self.offset + start)
    }
}

impl Order {
    /// The next unit's index among the units of all images, for the orders that need one.
    fn index(&mut self, total: u64, draw: &mut Random) -> u64 {
        match self {
            Self::Zipf { rank, scatter } => {
                // Ranks start at 1.
                let rank = (rank.sample(draw) as u64).clamp(1, total);
                scatter.at(rank - 1)
            }
            Self::Hotspot { hot, access_percent, scatter } => {
                let cold = total - *hot;
                let is_hot = cold == 0 || below(draw, 100) < *access_percent;
                scatter.at(if is_hot { below(draw, *hot) } else { *hot + below(draw, cold) })
            }
            Self::Once { pass, next } => {
                if *next == total {
                    (*pass, *next) = (Permutation::new(total, draw), 0);
                }
                *next += 1;
                pass.at(*next - 1)
            }
            Self::Sequential { .. } | Self::Uniform => below(draw, total),
        }
    }
}

impl Cursors {
    fn new(images: u32) -> Self {
        Self { image: 0, offsets: vec![0; images as usize] }
    }

    fn advance(&mut self, len: u64, size: u64) -> (u32, u64) {
        let image = self.image;
        self.image = if image + 1 == self.offsets.len() as u32 { 0 } else { image + 1 };
        let next = &mut self.offsets[image as usize];
        if *next + len > size {
            *next = 0;
        }
        let offset = *next;
        *next += len;
        (image, offset)
    }
}

impl Rw {
    /// Whether offsets follow each other.
    const fn is_sequential(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::ReadWrite | Self::Trim | Self::WriteZeroes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::BlockShare;
    use crate::units::Bytes;

    const BLOCK: u32 = 4096;

    fn job(distribution: Distribution, blocks: u64) -> Job {
        Job { rw: Rw::RandRead, distribution, size: Bytes(blocks * u64::from(BLOCK)), ..Job::default() }
    }

    fn draws(job: &Job, images: u32, count: usize) -> Vec<(u32, u64)> {
        let mut draw = random(1, 0, Purpose::Stream);
        let mut place = Place::new(job, images, &mut draw);
        (0..count).map(|_| place.draw(Op::Read, BLOCK, &mut draw)).collect()
    }

    /// How often each block of each image was drawn, the most frequent first.
    fn counts(job: &Job, images: u32, count: usize) -> Vec<usize> {
        let blocks = job.size.get() / u64::from(BLOCK);
        let mut counts = vec![0; (blocks * u64::from(images)) as usize];
        for (image, offset) in draws(job, images, count) {
            assert_eq!(offset % u64::from(BLOCK), 0);
            counts[(u64::from(image) * blocks + offset / u64::from(BLOCK)) as usize] += 1;
        }
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    }

    #[test]
    fn uniform_draws_every_block_of_every_image_alike() {
        // 1000 draws each: five standard deviations are 158.
        let counts = counts(&job(Distribution::Uniform, 25), 4, 100_000);
        assert!(counts[0] < 1158 && counts[99] > 842, "{counts:?}");
    }

    #[test]
    fn zipf_draws_the_kth_hottest_block_k_to_the_exponent_times_less_often() {
        let counts = counts(&job(Distribution::Zipf(1.2), 1000), 1, 1_000_000);
        for rank in [2_usize, 5, 10] {
            let (found, wanted) = (counts[0] as f64 / counts[rank - 1] as f64, (rank as f64).powf(1.2));
            assert!((found / wanted - 1.0).abs() < 0.05, "rank {rank}: {found}, not {wanted}");
        }
    }

    #[test]
    fn hot_blocks_of_zipf_are_scattered_and_the_same_for_all_threads() {
        let job = job(Distribution::Zipf(2.0), 1 << 20);
        let hottest = |thread| {
            let mut draw = random(1, thread, Purpose::Stream);
            let mut place = Place::new(&job, 1, &mut draw);
            let mut drawn: Vec<_> = (0..1000).map(|_| place.draw(Op::Read, BLOCK, &mut draw).1).collect();
            drawn.sort_unstable();
            let mut runs: Vec<_> = drawn.chunk_by(|a, b| a == b).map(|run| (run.len(), run[0])).collect();
            runs.sort_unstable_by(|a, b| b.cmp(a));
            [runs[0].1, runs[1].1]
        };
        let [first, second] = hottest(0);
        assert!(first.abs_diff(second) > 1000 * u64::from(BLOCK));
        assert_eq!(hottest(1), [first, second]);
    }

    #[test]
    fn a_hotspot_gets_its_share_of_the_draws() {
        let hotspot = Distribution::Hotspot { space_percent: 20, access_percent: 80 };
        let counts = counts(&job(hotspot, 500), 2, 1_000_000);
        let hot: usize = counts[..200].iter().sum();
        assert!((796_000..804_000).contains(&hot), "{hot}");
        // Within the hot part all are alike: 4000 draws each, and five standard deviations are 316.
        assert!(counts[0] < 4316 && counts[199] > 3684, "{:?}", &counts[..200]);
    }

    #[test]
    fn once_draws_each_block_once_a_pass_and_in_another_order_each_pass() {
        let job = job(Distribution::Once, 333);
        let drawn = draws(&job, 3, 2 * 999);
        let (first, second) = drawn.split_at(999);
        assert_ne!(first, second);
        for pass in [first, second] {
            let mut pass = pass.to_vec();
            pass.sort_unstable();
            pass.dedup();
            assert_eq!(pass.len(), 999);
        }
    }

    #[test]
    fn sequential_goes_round_the_images_and_on_within_each() {
        let job = Job { rw: Rw::Read, offset: Bytes(1 << 20), ..job(Distribution::Uniform, 2) };
        let (first, second) = ((1 << 20), (1 << 20) + 4096);
        let wanted = [(0, first), (1, first), (0, second), (1, second), (0, first), (1, first)];
        assert_eq!(draws(&job, 2, 6), wanted);
    }

    #[test]
    fn reads_and_writes_of_a_sequential_mix_have_streams_of_their_own() {
        let job = Job { rw: Rw::ReadWrite, ..job(Distribution::Uniform, 8) };
        let mut draw = random(1, 0, Purpose::Stream);
        let mut place = Place::new(&job, 1, &mut draw);
        let offsets = [Op::Read, Op::Read, Op::Write, Op::Read].map(|op| place.draw(op, BLOCK, &mut draw).1);
        assert_eq!(offsets, [0, 4096, 0, 8192]);
    }

    proptest::proptest! {
        #[test]
        fn no_io_leaves_the_jobs_range(
            seed: u64,
            kind in 0..5,
            sizes in proptest::collection::vec(1_u64..64, 1..4),
            more in 0_u64..200,
            images in 1_u32..5,
        ) {
            let distribution = match kind {
                0 => Distribution::Zipf(0.9),
                1 => Distribution::Hotspot { space_percent: 10, access_percent: 90 },
                2 => Distribution::Once,
                _ => Distribution::Uniform,
            };
            let largest = sizes.iter().max().copied().unwrap_or(1);
            let blocks = sizes.iter().map(|&size| BlockShare { size: Bytes(size * 512), percent: 1 }).collect();
            let rw = if kind == 4 { Rw::Read } else { Rw::RandRead };
            let (offset, size) = (Bytes(4096), Bytes((largest + more) * 512));
            let job = Job { rw, distribution, blocks, offset, size, ..Job::default() };
            let mut draw = random(seed, 0, Purpose::Stream);
            let mut place = Place::new(&job, images, &mut draw);
            for turn in 0..200 {
                let len = sizes[turn % sizes.len()] * 512;
                let (image, start) = place.draw(Op::Read, len as u32, &mut draw);
                proptest::prop_assert!(image < images);
                proptest::prop_assert!(start >= 4096 && start + len <= 4096 + size.get());
                proptest::prop_assert_eq!(start % 512, 0);
            }
        }
    }
}
