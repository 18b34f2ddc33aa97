//! Which parts of an image hold data: the proof that reads touch written data.
#![expect(unsafe_code, reason = "calls librbd")]

use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr;

use super::call::check;
use super::{Error, Image};
use crate::units::Bytes;

impl Image {
    /// The ranges of bytes that hold data, in order, neighbours merged. With `whole_objects` the existence of an
    /// object counts as data: with the fast-diff feature that needs no look at the objects, and takes no time.
    ///
    /// Implements: `rbd_diff_iterate2`, from the beginning of time and with the parent's data.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn allocated_ranges(&self, whole_objects: bool) -> Result<Vec<Range<u64>>, Error> {
        let size = self.size()?.get();
        let mut ranges: Vec<Range<u64>> = Vec::new();
        // SAFETY: the image is open, null is the beginning of time, and `collect` gets the vector that it expects, which
        // nobody else touches during the call.
        let code = unsafe {
            self.rbd().rbd_diff_iterate2(
                self.raw(),
                ptr::null(),
                0,
                size,
                1,
                whole_objects.into(),
                Some(collect),
                (&raw mut ranges).cast(),
            )
        };
        check(code).map_err(|errno| self.failed("find the data of", errno))?;
        Ok(merged(ranges))
    }

    /// How many bytes hold data; see [`Image::allocated_ranges`].
    ///
    /// # Errors
    /// As there.
    pub fn allocated(&self, whole_objects: bool) -> Result<Bytes, Error> {
        let ranges = self.allocated_ranges(whole_objects)?;
        Ok(Bytes(ranges.iter().map(|range| range.end - range.start).sum()))
    }
}

/// Called by librbd for each extent, on one thread at a time; `exists` is 0 for a hole.
extern "C" fn collect(offset: u64, len: usize, exists: c_int, ranges: *mut c_void) -> c_int {
    // SAFETY: `allocated_ranges` passes its vector, and waits.
    let ranges = unsafe { &mut *ranges.cast::<Vec<Range<u64>>>() };
    if exists != 0 {
        ranges.push(offset..offset.saturating_add(len as u64));
    }
    0
}

fn merged(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, last| {
        let touches = next.start <= last.end;
        if touches {
            last.end = last.end.max(next.end);
        }
        touches
    });
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_merged_whatever_their_order() {
        assert_eq!(merged(vec![8..9, 0..4, 4..6]), [0..6, 8..9]);
    }
}
