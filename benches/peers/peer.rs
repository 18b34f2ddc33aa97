//! Whom cephmark is compared with: fio in its variants.

use crate::figure::Figure;
use crate::ratio::Goal;

/// fio in one of its variants, and what cephmark is to reach against it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    pub(crate) arguments: &'static [&'static str],
    goals: &'static [(Figure, Goal)],
}

impl Peer {
    /// As it comes: it keeps a map of the blocks it has done.
    pub(crate) const DEFAULT: Self = Self { name: "fio", arguments: &[], goals: &[] };
    /// Draws each block anew, as cephmark does.
    pub(crate) const NORANDOMMAP: Self =
        Self { name: "fio norandommap", arguments: &["--norandommap"], goals: &[] };
    /// Its fastest at depth 32 that still measures every I/O.
    pub(crate) const BATCH: Self = Self {
        name: "fio norandommap, batches of 32",
        arguments: &["--norandommap", "--iodepth_batch_submit=32", "--iodepth_batch_complete_max=32"],
        goals: &[],
    };

    /// With io_uring's shortcuts: files and buffers that the kernel looks up once, as cephmark has for files.
    pub(crate) const REGISTERED: Self = Self {
        name: "fio norandommap, registered",
        arguments: &["--norandommap", "--registerfiles", "--fixedbufs"],
        goals: &[],
    };

    /// With what cephmark is to reach against it.
    pub(crate) const fn with(self, goals: &'static [(Figure, Goal)]) -> Self {
        Self { goals, ..self }
    }

    /// What the ratio of a figure is to be, if anything.
    pub(crate) fn goal(&self, figure: Figure) -> Option<Goal> {
        self.goals.iter().find(|(wanted, _)| *wanted == figure).map(|(_, goal)| *goal)
    }
}
