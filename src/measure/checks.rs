//! What verification found.

use std::fmt;
use std::ops::RangeInclusive;

use crate::units::Bytes;

/// How many mismatches are kept in full; all are counted.
const KEPT: usize = 16;

/// What a verified unit held in place of what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// No header of ours: never written, zeroed, or overwritten by somebody else.
    NoHeader,
    /// A header of ours over data that does not match its checksum: torn or corrupt.
    BadChecksum {
        /// The generation its header names.
        generation: u64,
    },
    /// An intact unit that belongs elsewhere.
    Misplaced {
        /// The image it was written to.
        image: u32,
        /// The offset it was written to.
        offset: u64,
    },
    /// An intact unit of another run.
    OtherRun {
        /// That run's id.
        run: u64,
    },
    /// An intact unit of this place, but of a generation older or newer than any it may hold.
    WrongGeneration {
        /// The generation it has.
        generation: u64,
    },
}

/// A unit that did not hold what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Index of the image within the arm.
    pub image: u32,
    /// Offset of the unit from the start of the image.
    pub offset: Bytes,
    /// The generations it may hold: from the last one acknowledged before the read was sent to the last one sent
    /// before the read came back.
    pub expected: RangeInclusive<u64>,
    /// What it holds.
    pub found: Found,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHeader => write!(f, "no header of cephmark"),
            Self::BadChecksum { generation } => write!(f, "generation {generation} with a wrong checksum"),
            Self::Misplaced { image, offset } => write!(f, "the data of image {image} offset {offset}"),
            Self::OtherRun { run } => write!(f, "data of another run ({run:016x})"),
            Self::WrongGeneration { generation } => write!(f, "generation {generation}"),
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (self.expected.start(), self.expected.end());
        write!(f, "image {} offset {}: expected generation {first}", self.image, self.offset.get())?;
        if first != last {
            write!(f, " to {last}")?;
        }
        write!(f, ", found {}", self.found)
    }
}

/// What the reads of a verifying job found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Units that held what was written.
    pub verified: u64,
    /// Units read whose content is not known: not written by a verifying job since they were trimmed, zeroed, or
    /// written by a job that does not verify; or caught halfway in a write that was under way.
    pub unknown: u64,
    /// Units that did not hold what was written.
    pub mismatched: u64,
    /// The first mismatches in full.
    pub first: Vec<Mismatch>,
}

impl Checks {
    /// Counts a mismatch, and keeps it if it is one of the first.
    pub fn mismatch(&mut self, mismatch: Mismatch) {
        self.mismatched += 1;
        if self.first.len() < KEPT {
            self.first.push(mismatch);
        }
    }

    /// Adds another thread's findings.
    pub fn merge(&mut self, other: Self) {
        self.verified += other.verified;
        self.unknown += other.unknown;
        self.mismatched += other.mismatched;
        self.first.extend(other.first);
        self.first.truncate(KEPT);
    }
}
