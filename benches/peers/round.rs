//! What everybody did close together, and the pairs that follow from it.

use crate::figure::Figure;
use crate::sample::Sample;

/// One run of everybody, close together.
#[derive(Debug)]
pub(crate) struct Round {
    pub(crate) ours: Sample,
    /// In the order of the contest's peers.
    pub(crate) peers: Vec<Sample>,
}

/// All rounds of a contest.
#[derive(Debug)]
pub(crate) struct Rounds {
    /// A run of a single I/O of everybody.
    pub(crate) single: Round,
    pub(crate) rounds: Vec<Round>,
}

impl Rounds {
    /// Everybody's.
    pub(crate) fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.rounds.iter().flat_map(|round| [&round.ours].into_iter().chain(&round.peers))
    }

    /// Our figure and a peer's, of each round.
    pub(crate) fn pairs(&self, peer: usize, figure: Figure) -> Vec<[f64; 2]> {
        let of = |sample: &Sample, single: &Sample| match figure {
            Figure::Iops => sample.iops.get(),
            Figure::Cpu => sample.cpu_per_io().as_secs_f64() * 1e9,
            Figure::LoopCpu => sample.loop_cpu_per_io(single).as_secs_f64() * 1e9,
        };
        let single = &self.single;
        let pair =
            |round: &Round| [of(&round.ours, &single.ours), of(&round.peers[peer], &single.peers[peer])];
        self.rounds.iter().map(pair).collect()
    }
}
