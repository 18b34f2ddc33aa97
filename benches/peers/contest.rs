//! The contests: loads that cephmark and its peers run in turn, and what the ratios are to be.

use cephmark::units::Time;
use clap::ValueEnum;

use crate::error::Error;
use crate::figure::Figure;
use crate::load::{Load, Rw, Target};
use crate::peer::Peer;
use crate::ratio::Goal;
use crate::round::{Round, Rounds};
use crate::scene::Scene;
use crate::{fio, ours};

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Condition {
    /// The programs themselves, without any client.
    Null,
    /// The programs on top of the kernel's io_uring, on a device in memory.
    Loop,
    /// The programs on top of librbd, which answers without an OSD.
    Local,
    /// All of it, on real OSDs.
    Osd,
}

/// A load, and who runs it against cephmark.
#[derive(Debug)]
pub(crate) struct Contest {
    pub(crate) load: Load,
    pub(crate) peers: Vec<Peer>,
}

impl Condition {
    pub(crate) fn contests(self, runtime: Time) -> Vec<Contest> {
        use Figure::{Cpu, Iops, LoopCpu};
        use Goal::{AtLeast, AtMost};
        let contest = |target, rw, iodepth, peers: &[Peer]| Contest {
            load: Load { target, rw, iodepth, runtime, single: false },
            peers: peers.to_vec(),
        };
        let (plain, fast, batch) = (Peer::DEFAULT, Peer::NORANDOMMAP, Peer::BATCH);
        match self {
            Self::Null => {
                let thrice = |peer: Peer| peer.with(&[(Iops, AtLeast(3.0))]);
                vec![
                    contest(Target::Null, Rw::RandRead, 1, &[plain, fast].map(thrice)),
                    contest(Target::Null, Rw::RandRead, 32, &[plain, fast, batch].map(thrice)),
                ]
            }
            Self::Loop => {
                let level = |peer: Peer| peer.with(&[(Iops, AtLeast(1.0)), (Cpu, AtMost(1.0))]);
                let peers = [fast, Peer::REGISTERED].map(level);
                let loads = [(Rw::RandRead, 1), (Rw::RandRead, 32), (Rw::RandWrite, 32)];
                loads.map(|(rw, iodepth)| contest(Target::Loop, rw, iodepth, &peers)).into()
            }
            Self::Local => {
                let plain = plain.with(&[(Iops, AtLeast(1.5)), (Cpu, AtMost(0.7))]);
                let fast = fast.with(&[(Iops, AtLeast(1.4)), (Cpu, AtMost(0.7))]);
                vec![contest(Target::Empty, Rw::RandRead, 32, &[plain, fast])]
            }
            Self::Osd => {
                let fast = fast.with(&[(LoopCpu, AtMost(1.0))]);
                [Rw::RandRead, Rw::RandWrite].map(|rw| contest(Target::Full, rw, 32, &[fast])).into()
            }
        }
    }
}

impl Contest {
    /// The figures that are told.
    pub(crate) fn figures(&self) -> &'static [Figure] {
        match self.load.target {
            Target::Null | Target::Loop | Target::Empty => &[Figure::Iops, Figure::Cpu],
            // So slow that start-up counts.
            Target::Full => &[Figure::Iops, Figure::Cpu, Figure::LoopCpu],
        }
    }

    /// Runs everybody `rounds` times in turn, so that what else the machine does hits all alike.
    ///
    /// # Errors
    /// [`Error`] of the first run that fails.
    pub(crate) fn run(&self, rounds: u32, scene: &Scene) -> Result<Rounds, Error> {
        let single = self.round(&Load { single: true, ..self.load }, false, scene)?;
        let rounds = (0..rounds).map(|number| self.round(&self.load, number % 2 == 1, scene));
        Ok(Rounds { single, rounds: rounds.collect::<Result<_, _>>()? })
    }

    /// One round; cephmark goes first in one and last in the next, so that no place is anybody's own.
    fn round(&self, load: &Load, ours_last: bool, scene: &Scene) -> Result<Round, Error> {
        // Random writes scatter what an OSD in memory keeps; every round starts from the same.
        if matches!(load.target, Target::Loop | Target::Full) {
            fio::fill(load.target, scene)?;
        }
        let ours = if ours_last { None } else { Some(ours::run(load, scene)?) };
        let peers = self.peers.iter().map(|peer| fio::run(load, peer.arguments, scene));
        let peers = peers.collect::<Result<_, _>>()?;
        Ok(Round { ours: ours.map_or_else(|| ours::run(load, scene), Ok)?, peers })
    }
}
