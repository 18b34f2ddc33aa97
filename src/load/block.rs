//! The format of a verified unit: a header that says what the unit is, and pseudo-random data after it.
//!
//! | bytes | content (little endian) |
//! |---|---|
//! | 0..8 | `cephmark` |
//! | 8..12 | crc32c of all other bytes of the unit |
//! | 12..16 | image, counted within the arm |
//! | 16..24 | run id |
//! | 24..32 | offset from the start of the image |
//! | 32..40 | generation: how many writes the unit has had |

use super::random::mix;
use crate::measure::Found;

const MAGIC: &[u8; 8] = b"cephmark";
const HEADER: usize = 40;

/// What a unit's header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) run: u64,
    pub(crate) image: u32,
    pub(crate) offset: u64,
    pub(crate) generation: u64,
}

impl Label {
    /// Smallest unit that has room for a header and some data, in bytes.
    pub(crate) const SMALLEST_UNIT: u64 = 64;

    /// Fills `unit` with header and data; of the data the last `zero_percent` are zeroes.
    pub(crate) fn write(&self, unit: &mut [u8], zero_percent: u8) {
        let (header, data) = unit.split_at_mut(HEADER);
        header[0..8].copy_from_slice(MAGIC);
        header[12..16].copy_from_slice(&self.image.to_le_bytes());
        header[16..24].copy_from_slice(&self.run.to_le_bytes());
        header[24..32].copy_from_slice(&self.offset.to_le_bytes());
        header[32..40].copy_from_slice(&self.generation.to_le_bytes());
        let random_bytes = data.len() * (100 - usize::from(zero_percent)) / 100;
        let (random, zeroes) = data.split_at_mut(random_bytes);
        self.fill(random);
        zeroes.fill(0);
        let checksum = checksum(unit);
        unit[8..12].copy_from_slice(&checksum.to_le_bytes());
    }

    /// What an intact unit says it is.
    ///
    /// # Errors
    /// What was found instead.
    pub(crate) fn read(unit: &[u8]) -> Result<Self, Found> {
        if unit[0..8] != *MAGIC {
            return Err(Found::NoHeader);
        }
        let word = |at: usize| u64::from_le_bytes(unit[at..at + 8].try_into().expect("eight bytes"));
        let half = |at: usize| u32::from_le_bytes(unit[at..at + 4].try_into().expect("four bytes"));
        let label = Self { run: word(16), image: half(12), offset: word(24), generation: word(32) };
        if half(8) != checksum(unit) {
            return Err(Found::BadChecksum { generation: label.generation });
        }
        Ok(label)
    }

    fn fill(&self, data: &mut [u8]) {
        let mut state = mix(self.run ^ mix(self.offset ^ mix(self.generation ^ u64::from(self.image) << 48)));
        let mut words = data.chunks_exact_mut(8);
        for word in &mut words {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            word.copy_from_slice(&mix(state).to_le_bytes());
        }
        let rest = words.into_remainder();
        rest.copy_from_slice(&mix(!state).to_le_bytes()[..rest.len()]);
    }
}

fn checksum(unit: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&unit[..8]), &unit[12..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABEL: Label = Label { run: 0xfeed, image: 3, offset: 1 << 40, generation: 9 };

    #[test]
    fn a_unit_says_what_it_is() {
        let mut unit = vec![0; 4096];
        LABEL.write(&mut unit, 0);
        assert_eq!(Label::read(&unit), Ok(LABEL));
    }

    #[test]
    fn any_changed_bit_is_noticed() {
        for bit in 0..512 * 8 {
            let mut unit = vec![0; 512];
            LABEL.write(&mut unit, 50);
            unit[bit / 8] ^= 1 << (bit % 8);
            assert!(Label::read(&unit).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn each_generation_has_data_of_its_own() {
        let (mut one, mut other) = (vec![0; 512], vec![0; 512]);
        LABEL.write(&mut one, 0);
        Label { generation: 10, ..LABEL }.write(&mut other, 0);
        let same = one[HEADER..].iter().zip(&other[HEADER..]).filter(|(a, b)| a == b).count();
        assert!(same < 20, "{same} of {} bytes are the same", 512 - HEADER);
    }

    #[test]
    fn the_compressible_share_is_zeroes() {
        let mut unit = vec![1; 4096];
        LABEL.write(&mut unit, 75);
        let zeroes = unit.iter().filter(|&&byte| byte == 0).count();
        assert!((3040..3140).contains(&zeroes), "{zeroes}");
    }
}
