//! The contests: loads that cephmark and its peers run in turn, and what the ratios are to be.

use cephmark::units::Time;
use clap::ValueEnum;

use crate::error::Error;
use crate::load::{Load, Rw, Target};
use crate::ratio::Goal;
use crate::sample::Sample;
use crate::scene::Scene;
use crate::{fio, ours};

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Condition {
    /// The programs themselves, without any client.
    Null,
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

/// fio in one of its variants, and what cephmark is to reach against it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    arguments: &'static [&'static str],
    pub(crate) iops: Option<Goal>,
    pub(crate) cpu: Option<Goal>,
}

/// One run of everybody, close together.
#[derive(Debug)]
pub(crate) struct Round {
    pub(crate) ours: Sample,
    /// In the order of the contest's peers.
    pub(crate) peers: Vec<Sample>,
}

impl Round {
    /// Everybody's.
    pub(crate) fn samples(&self) -> impl Iterator<Item = &Sample> {
        [&self.ours].into_iter().chain(&self.peers)
    }
}

impl Peer {
    /// As it comes: it keeps a map of the blocks it has done.
    const DEFAULT: Self = Self { name: "fio", arguments: &[], iops: None, cpu: None };
    /// Draws each block anew, as cephmark does.
    const NORANDOMMAP: Self =
        Self { name: "fio norandommap", arguments: &["--norandommap"], iops: None, cpu: None };
    /// Its fastest at depth 32 that still measures every I/O.
    const BATCH: Self = Self {
        name: "fio norandommap, batches of 32",
        arguments: &["--norandommap", "--iodepth_batch_submit=32", "--iodepth_batch_complete_max=32"],
        iops: None,
        cpu: None,
    };

    const fn with_iops(self, at_least: f64) -> Self {
        Self { iops: Some(Goal::AtLeast(at_least)), ..self }
    }

    const fn with_cpu(self, at_most: f64) -> Self {
        Self { cpu: Some(Goal::AtMost(at_most)), ..self }
    }
}

impl Condition {
    pub(crate) fn contests(self, runtime: Time) -> Vec<Contest> {
        let contest = |target, rw, iodepth, peers: &[Peer]| Contest {
            load: Load { target, rw, iodepth, runtime },
            peers: peers.to_vec(),
        };
        let (plain, fast) = (Peer::DEFAULT, Peer::NORANDOMMAP);
        match self {
            Self::Null => vec![
                contest(Target::Null, Rw::RandRead, 1, &[plain.with_iops(3.0), fast.with_iops(3.0)]),
                contest(
                    Target::Null,
                    Rw::RandRead,
                    32,
                    &[plain.with_iops(3.0), fast.with_iops(3.0), Peer::BATCH.with_iops(3.0)],
                ),
            ],
            Self::Local => vec![contest(
                Target::Empty,
                Rw::RandRead,
                32,
                &[plain.with_iops(1.5).with_cpu(0.7), fast.with_iops(1.4).with_cpu(0.7)],
            )],
            Self::Osd => [Rw::RandRead, Rw::RandWrite]
                .map(|rw| contest(Target::Full, rw, 32, &[fast.with_cpu(1.0)]))
                .into(),
        }
    }
}

impl Contest {
    /// Runs everybody `rounds` times in turn: A B C A B C, so that what else the machine does hits all alike.
    ///
    /// # Errors
    /// [`Error`] of the first run that fails.
    pub(crate) fn run(&self, rounds: u32, scene: &Scene) -> Result<Vec<Round>, Error> {
        (0..rounds).map(|_| self.round(scene)).collect()
    }

    fn round(&self, scene: &Scene) -> Result<Round, Error> {
        // Random writes scatter what an OSD in memory keeps; every round starts from the same.
        if self.load.target == Target::Full {
            fio::fill(scene)?;
        }
        let ours = ours::run(&self.load, scene)?;
        let peers = self.peers.iter().map(|peer| fio::run(&self.load, peer.arguments, scene));
        Ok(Round { ours, peers: peers.collect::<Result<_, _>>()? })
    }
}
