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
