//! What the verdict code says of runs whose truth is known.

use cephmark::result::Verdict;
use cephmark::stats::{Family, Looks, Ratio, complete, log_ratios, paired};

use super::world::{Run, World};

/// The default of `compare.min_effect`.
const MIN_EFFECT: f64 = 0.03;
/// The default of `compare.precision`.
const PRECISION: f64 = 0.02;

/// `run.repeats`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Repeats {
    /// So many blocks.
    Fixed(u32),
    /// Until every comparison is settled, with so many blocks at the most.
    Auto(u32),
}

/// Counts over many runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) runs: usize,
    /// Runs with at least one claim of a difference.
    pub(crate) claims: usize,
    /// Runs in which every interval holds the truth.
    pub(crate) covered: usize,
    /// Runs in which every comparison is decided.
    pub(crate) decided: usize,
    /// Blocks of all runs.
    pub(crate) blocks: usize,
}

impl Tally {
    /// Runs `draws` runs of `world`.
    pub(crate) fn of(world: World, repeats: Repeats, draws: usize) -> Self {
        let mut tally = Self::default();
        for seed in 0..draws {
            let (ratios, blocks) = judge(Run::new(world, seed as u64), world, repeats);
            let any = |claim: &dyn Fn(&Ratio) -> bool| usize::from(ratios.iter().any(claim));
            tally.runs += 1;
            tally.claims += any(&|ratio| ratio.low > 1.0 || ratio.high < 1.0);
            tally.covered += 1 - any(&|ratio| !(ratio.low..=ratio.high).contains(&world.ratio));
            tally.decided += 1 - any(&|ratio| ratio.verdict(MIN_EFFECT, true) == Verdict::Undecided);
            tally.blocks += blocks as usize;
        }
        tally
    }

    /// A count as a share of the runs, in percent.
    pub(crate) fn percent(&self, count: usize) -> f64 {
        count as f64 / self.runs as f64 * 100.0
    }
}

/// The final ratios of a run, and how many blocks it took.
fn judge(mut run: Run, world: World, repeats: Repeats) -> (Vec<Ratio>, u32) {
    let comparisons = (world.arms - 1) * world.metrics;
    let (last, looks, family) = match repeats {
        Repeats::Fixed(blocks) => (blocks, None, Family::of(comparisons)),
        Repeats::Auto(most) => {
            let looks = Looks::until(most);
            let family = Family::watched(comparisons, &looks);
            (most, Some(looks), family)
        }
    };
    for blocks in 1..=last {
        run.block();
        let looks_now = looks.as_ref().map_or(blocks == last, |looks| looks.is_one(blocks));
        if !looks_now {
            continue;
        }
        let ratios = ratios(&run, world, &family);
        if blocks == last || ratios.iter().all(|ratio| ratio.is_settled(MIN_EFFECT, PRECISION)) {
            return (ratios, blocks);
        }
    }
    unreachable!("the last block is a look");
}

fn ratios(run: &Run, world: World, family: &Family) -> Vec<Ratio> {
    let mut ratios = Vec::new();
    for metric in &run.figures {
        let blocks = complete(metric);
        ratios.extend((1..world.arms).map(|arm| {
            let mean = paired(&log_ratios(&blocks, 0, arm)).expect("there are enough blocks");
            Ratio::of(&mean, family)
        }));
    }
    ratios
}
