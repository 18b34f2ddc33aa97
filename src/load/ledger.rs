//! What each unit of an arm's images must hold: the book that verification checks reads against.
//!
//! A unit is one word: how many tracked writes it has had, and what is being done to it. It is shared by all threads
//! of all jobs of an arm, for as long as the images exist.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use super::block::Label;
use crate::measure::Found::{self, BadChecksum, Misplaced, OtherRun, WrongGeneration};
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
        let found = match Label::read(unit) {
            // A read may see parts of a write that it overlaps, where a unit lies in two objects or stripes. A unit that
            // stays torn is found by the next read.
            Err(BadChecksum { .. }) if expected.start() != expected.end() => return Verdict::Unknown,
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
        expected: RangeInclusive<u64>,
        /// What it held.
        found: Found,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: u32 = 512;

    fn ledger() -> Ledger {
        Ledger::new(7, 2, Bytes(16 * 512), Bytes(512))
    }

    /// Writes the unit at `offset` of image 1 and tells its content.
    fn write(ledger: &Ledger, offset: u64) -> Vec<u8> {
        let mut data = vec![0; 512];
        assert!(ledger.lock(1, offset, UNIT));
        ledger.issue(1, offset, &mut data, 0);
        ledger.unlock(1, offset, UNIT);
        data
    }

    fn look(ledger: &Ledger, offset: u64) -> Vec<Snapshot> {
        let mut before = Vec::new();
        ledger.snapshot(1, offset, UNIT, &mut before);
        before
    }

    fn judge(ledger: &Ledger, offset: u64, data: &[u8], before: &[Snapshot]) -> Verdict {
        ledger.judge(1, offset, data, before).next().expect("one unit").1
    }

    #[test]
    fn a_unit_is_unknown_until_a_tracked_write_and_after_an_untracked_one() {
        let ledger = ledger();
        assert_eq!(judge(&ledger, 0, &[0; 512], &look(&ledger, 0)), Verdict::Unknown);
        let data = write(&ledger, 0);
        assert_eq!(judge(&ledger, 0, &data, &look(&ledger, 0)), Verdict::Right);
        assert!(ledger.lock(1, 100, 50));
        ledger.forget(1, 100, 50);
        ledger.unlock(1, 100, 50);
        assert_eq!(judge(&ledger, 0, &data, &look(&ledger, 0)), Verdict::Unknown);
    }

    #[test]
    fn a_read_may_see_any_generation_of_its_time_and_no_other() {
        let ledger = ledger();
        let old = write(&ledger, 512);
        let current = write(&ledger, 512);
        let before = look(&ledger, 512);
        let mut next = vec![0; 512];
        assert!(ledger.lock(1, 512, UNIT));
        ledger.issue(1, 512, &mut next, 0);
        let wrong = Verdict::Wrong { expected: 2..=3, found: Found::WrongGeneration { generation: 1 } };
        assert_eq!(judge(&ledger, 512, &old, &before), wrong);
        assert_eq!(judge(&ledger, 512, &current, &before), Verdict::Right);
        assert_eq!(judge(&ledger, 512, &next, &before), Verdict::Right);
        ledger.unlock(1, 512, UNIT);
        let wrong = Verdict::Wrong { expected: 3..=3, found: Found::WrongGeneration { generation: 2 } };
        assert_eq!(judge(&ledger, 512, &current, &look(&ledger, 512)), wrong);
    }

    #[test]
    fn a_torn_unit_is_wrong_unless_a_write_was_under_way() {
        let ledger = ledger();
        let mut torn = write(&ledger, 0);
        torn[300..].fill(1);
        let before = look(&ledger, 0);
        let wrong = Verdict::Wrong { expected: 1..=1, found: BadChecksum { generation: 1 } };
        assert_eq!(judge(&ledger, 0, &torn, &before), wrong);
        write(&ledger, 0);
        assert_eq!(judge(&ledger, 0, &torn, &before), Verdict::Unknown);
    }

    #[test]
    fn a_unit_that_was_unknown_during_a_read_is_not_judged() {
        let ledger = ledger();
        write(&ledger, 0);
        let before = look(&ledger, 0);
        assert!(ledger.lock(1, 0, UNIT));
        ledger.forget(1, 0, UNIT);
        ledger.unlock(1, 0, UNIT);
        write(&ledger, 0);
        assert_eq!(judge(&ledger, 0, &[0; 512], &before), Verdict::Unknown);
    }

    #[test]
    fn a_failed_write_leaves_its_units_unknown_and_its_generation_used() {
        let ledger = ledger();
        write(&ledger, 0);
        let mut failed = vec![0; 512];
        assert!(ledger.lock(1, 0, UNIT));
        ledger.issue(1, 0, &mut failed, 0);
        ledger.abandon(1, 0, UNIT);
        assert_eq!(judge(&ledger, 0, &failed, &look(&ledger, 0)), Verdict::Unknown);
        let data = write(&ledger, 0);
        assert_eq!(Label::read(&data).map(|label| label.generation), Ok(3));
        assert_eq!(judge(&ledger, 0, &data, &look(&ledger, 0)), Verdict::Right);
    }

    #[test]
    fn a_range_is_locked_whole_or_not_at_all() {
        let ledger = ledger();
        assert!(ledger.lock(0, 1024, UNIT));
        assert!(!ledger.lock(0, 0, 2048));
        assert!(ledger.lock(0, 0, 1024) && ledger.lock(0, 1536, UNIT), "the rest of the range was let go");
        assert!(ledger.lock(1, 0, 2048), "images do not share units");
        ledger.unlock(0, 1024, UNIT);
        assert!(ledger.lock(0, 1024, UNIT));
    }

    #[test]
    fn memory_is_a_word_a_unit() {
        assert_eq!(Ledger::memory(3, Bytes(10_000), Bytes(4096)), Bytes(3 * 3 * 8));
    }
}
