//! A verified block as docs/verification.md describes it, read by code that shares nothing with cephmark's own.

/// What the header of a block says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) image: u32,
    pub(crate) run: u64,
    pub(crate) offset: u64,
    pub(crate) generation: u64,
}

/// Reads an intact block.
#[track_caller]
pub(crate) fn read(block: &[u8]) -> Header {
    assert_eq!(&block[..8], b"cephmark", "no header");
    let half = |at: usize| u32::from_le_bytes(block[at..at + 4].try_into().expect("four bytes"));
    let word = |at: usize| u64::from_le_bytes(block[at..at + 8].try_into().expect("eight bytes"));
    assert_eq!(half(8), crc32c(block[..8].iter().chain(&block[12..])), "wrong checksum");
    Header { image: half(12), run: word(16), offset: word(24), generation: word(32) }
}

/// CRC-32C (Castagnoli), bit by bit: reflected polynomial 0x82f63b78, all ones at the start and inverted at the end.
fn crc32c<'a>(bytes: impl Iterator<Item = &'a u8>) -> u32 {
    !bytes.fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg()))
    })
}

#[test]
fn the_checksum_is_the_one_of_the_standard() {
    // The check value of CRC-32/ISCSI.
    assert_eq!(crc32c(b"123456789".iter()), 0xe306_9283);
}
