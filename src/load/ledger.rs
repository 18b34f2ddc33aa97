//! What each unit of an arm's images must hold: the book that verification checks reads against.
//!
//! A unit is one word: how many tracked writes it has had, and what is being done to it. It is shared by all threads
//! of all jobs of an arm, for as long as the images exist.

use std::sync::atomic::{AtomicU64, Ordering};

use super::block::Label;
use crate::plan::Job;
use crate::units::Bytes;

/// The book of one arm.
#[derive(Debug)]
pub struct Ledger {
    run: u64,
    unit: u64,
    units_per_image: u64,
    words: Box<[Word]>,
}

/// One unit, as bits: locked, writing, unknown, 13 bits that count how often it became unknown, 48 bits generation.
#[derive(Debug)]
struct Word(AtomicU64);

/// An I/O that changes the unit is in flight; only its thread changes the word.
const LOCKED: u64 = 1;
/// That I/O is a tracked write, of the generation after the word's.
const WRITING: u64 = 1 << 1;
/// What the unit holds is not known.
const UNKNOWN: u64 = 1 << 2;
const EPOCH: u64 = 1 << 3;
const EPOCHS: u64 = 0xfff8;
const GENERATION_SHIFT: u32 = 16;

/// What the ledger knew of a unit at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot(u64);

impl Snapshot {
    /// The last acknowledged generation.
    fn committed(self) -> u64 {
        self.0 >> GENERATION_SHIFT
    }

    /// The last generation sent.
    fn issued(self) -> u64 {
        self.committed() + u64::from(self.0 & WRITING != 0)
    }
}

impl Ledger {
    /// A book for `images` images of `size`, in units of `unit`; at first all units are unknown. `run` is the id that
    /// headers carry.
    #[must_use]
    pub fn new(run: u64, images: u32, size: Bytes, unit: Bytes) -> Self {
        let unit = unit.get().max(Label::SMALLEST_UNIT);
        let units_per_image = size.get().div_ceil(unit);
        let words = (0..units_per_image * u64::from(images)).map(|_| Word(AtomicU64::new(UNKNOWN))).collect();
        Self { run, unit, units_per_image, words }
    }

    /// The largest unit that all blocks of the verifying ones among `jobs` are multiples of; `None` if none verifies,
    /// or if the unit would be too small to be marked (below 64 bytes).
    #[must_use]
    pub fn unit_for<'a>(jobs: impl IntoIterator<Item = &'a Job>) -> Option<Bytes> {
        let verifying = jobs.into_iter().filter(|job| job.verify);
        let numbers =
            verifying.flat_map(|job| job.blocks.iter().map(|b| b.size.get()).chain([job.offset.get()]));
        let unit = numbers.fold(0, greatest_common_divisor);
        (unit >= Label::SMALLEST_UNIT).then_some(Bytes(unit))
    }

    /// Bytes of memory that a book takes.
    #[must_use]
    pub fn memory(images: u32, size: Bytes, unit: Bytes) -> Bytes {
        Bytes(size.get().div_ceil(unit.get().max(1)) * u64::from(images) * size_of::<Word>() as u64)
    }

    /// The unit, in bytes.
    pub(crate) fn unit(&self) -> u64 {
        self.unit
    }

    /// Whether a write of this range can be tracked: it covers whole units only.
    pub(crate) fn covers_whole_units(&self, offset: u64, len: u32) -> bool {
        offset.is_multiple_of(self.unit) && u64::from(len).is_multiple_of(self.unit)
    }

    /// Locks all units of a range for an I/O that changes them, or none if one is locked already.
    pub(crate) fn lock(&self, image: u32, offset: u64, len: u32) -> bool {
        let words = self.words(image, offset, len);
        // Acquire pairs with the release of `unlock`: what the last owner wrote to the word is seen.
        let taken = words.iter().position(|word| word.0.fetch_or(LOCKED, Ordering::Acquire) & LOCKED != 0);
        let Some(taken) = taken else { return true };
        words[..taken].iter().for_each(|word| word.change(|bits| bits & !LOCKED));
        false
    }

    /// Fills `data` for a tracked write of a locked range and notes that it is on its way.
    pub(crate) fn issue(&self, image: u32, offset: u64, data: &mut [u8], zero_percent: u8) {
        let words = self.words(image, offset, data.len() as u32);
        let units = data.chunks_exact_mut(self.unit as usize);
        for ((word, unit), offset) in words.iter().zip(units).zip((offset..).step_by(self.unit as usize)) {
            word.change(|bits| bits | WRITING);
            let generation = word.snapshot().issued();
            Label { run: self.run, image, offset, generation }.write(unit, zero_percent);
        }
    }

    /// Notes that the content of a locked range is not known from now on.
    pub(crate) fn forget(&self, image: u32, offset: u64, len: u32) {
        for word in self.words(image, offset, len) {
            word.change(|bits| bits & !EPOCHS | bits.wrapping_add(EPOCH) & EPOCHS | UNKNOWN);
        }
    }

    /// Unlocks a range: its tracked writes, if any, were acknowledged.
    pub(crate) fn unlock(&self, image: u32, offset: u64, len: u32) {
        for word in self.words(image, offset, len) {
            word.change(|bits| match bits & WRITING {
                0 => bits & !LOCKED,
                _ => (bits & !(LOCKED | WRITING | UNKNOWN)) + (1 << GENERATION_SHIFT),
            });
        }
    }

    /// Unlocks a range whose I/O failed: it may hold the old data, the new, or parts of both.
    pub(crate) fn abandon(&self, image: u32, offset: u64, len: u32) {
        self.forget(image, offset, len);
        for word in self.words(image, offset, len) {
            // The generation counts as used, as the data may be there.
            word.change(|bits| (bits & !(LOCKED | WRITING)) + ((bits & WRITING) << (GENERATION_SHIFT - 1)));
        }
    }

    /// Notes what a range may hold, before it is read.
    pub(crate) fn snapshot(&self, image: u32, offset: u64, len: u32, into: &mut Vec<Snapshot>) {
        into.clear();
        into.extend(self.words(image, offset, len).iter().map(Word::snapshot));
    }

    /// What each whole unit of a range that was read held: its offset, and the outcome.
    pub(crate) fn judge<'a>(
        &'a self,
        image: u32,
        offset: u64,
        data: &'a [u8],
        before: &'a [Snapshot],
    ) -> impl Iterator<Item = (u64, Verdict)> + 'a {
        let words = self.words(image, offset, data.len() as u32);
        let units = data.chunks_exact(self.unit as usize);
        let offsets = (offset..).step_by(self.unit as usize);
        units.zip(words).zip(before).zip(offsets).map(move |(((unit, word), before), offset)| {
            (offset, self.judge_unit(image, offset, unit, *before, word.snapshot()))
        })
    }

    fn judge_unit(&self, image: u32, offset: u64, unit: &[u8], before: Snapshot, after: Snapshot) -> Verdict {
        if (before.0 | after.0) & UNKNOWN != 0 || (before.0 ^ after.0) & EPOCHS != 0 {
            return Verdict::Unknown;
        }
        let expected = before.committed()..=after.issued();
        use crate::measure::Found::{Misplaced, OtherRun, WrongGeneration};
        let found = match Label::read(unit) {
            Err(found) => found,
            Ok(label) if label.run != self.run => OtherRun { run: label.run },
            Ok(label) if (label.image, label.offset) != (image, offset) => {
                Misplaced { image: label.image, offset: label.offset }
            }
            Ok(label) if !expected.contains(&label.generation) => {
                WrongGeneration { generation: label.generation }
            }
            Ok(_) => return Verdict::Right,
        };
        Verdict::Wrong { expected, found }
    }

    /// The words of all units that a range touches.
    fn words(&self, image: u32, offset: u64, len: u32) -> &[Word] {
        let base = u64::from(image) * self.units_per_image;
        let first = base + offset / self.unit;
        let end = base + (offset + u64::from(len)).div_ceil(self.unit);
        &self.words[first as usize..end as usize]
    }
}

impl Word {
    fn snapshot(&self) -> Snapshot {
        // Acquire pairs with the release of `change`, so that a later look at the word is not older than this one.
        Snapshot(self.0.load(Ordering::Acquire))
    }

    /// Changes a word that this thread has locked; nobody else writes it.
    fn change(&self, change: impl FnOnce(u64) -> u64) {
        self.0.store(change(self.0.load(Ordering::Relaxed)), Ordering::Release);
    }
}

/// What a unit that was read turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It held one of the generations that it may hold.
    Right,
    /// Nobody knows what it had to hold.
    Unknown,
    /// It held something else.
    Wrong {
        /// The generations it may hold.
        expected: std::ops::RangeInclusive<u64>,
        /// What it held.
        found: crate::measure::Found,
    },
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
