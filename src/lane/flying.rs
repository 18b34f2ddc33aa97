//! The I/Os that a client or the kernel has, by slot: what keeps their buffers alive, and tells of those that never come
//! back.

use super::Io;

/// The I/Os of a lane that are on their way. `N` is what the lane notes of each.
#[derive(Debug)]
pub(super) struct Flying<N> {
    slots: Box<[Option<Flight<N>>]>,
    count: u32,
    pushed: u64,
}

/// An I/O on its way.
#[derive(Debug)]
pub(super) struct Flight<N> {
    pub(super) io: Box<Io>,
    pub(super) note: N,
    /// Its place in the order of pushing.
    order: u64,
}

impl<N> Flying<N> {
    /// Room for I/Os with slots below `depth`.
    pub(super) fn new(depth: u32) -> Self {
        Self { slots: (0..depth).map(|_| None).collect(), count: 0, pushed: 0 }
    }

    /// How many are on their way.
    #[inline]
    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    /// Keeps an I/O until its slot is taken; to be called before anybody gets a pointer to its buffer.
    ///
    /// # Panics
    /// If its slot is not below the depth, or in use. After the hand-over a panic would free a buffer that is in use.
    #[inline]
    pub(super) fn insert(&mut self, io: Box<Io>, note: N) {
        let slot = &mut self.slots[io.slot as usize];
        assert!(slot.is_none(), "an I/O is pushed once, and again only when it came back");
        *slot = Some(Flight { io, note, order: self.pushed });
        self.count += 1;
        self.pushed += 1;
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<&Flight<N>> {
        self.slots[slot as usize].as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: u32) -> Option<&mut Flight<N>> {
        self.slots[slot as usize].as_mut()
    }

    /// Gives back the I/O of a slot, whose buffer nobody uses any more.
    #[inline]
    pub(super) fn take(&mut self, slot: u32) -> Option<Box<Io>> {
        let Flight { io, .. } = self.slots[slot as usize].take()?;
        self.count -= 1;
        Some(io)
    }

    /// Gives all of them up: they are never freed, since whoever has them may still use their buffers. Says how many they
    /// are, and which is the oldest, its file or image called by `name`.
    pub(super) fn leak<'a>(&mut self, name: impl FnOnce(u32) -> &'a str) -> String {
        let stuck: Vec<Flight<N>> = self.slots.iter_mut().filter_map(Option::take).collect();
        self.count = 0;
        let oldest = stuck.iter().min_by_key(|flight| flight.order).map(|Flight { io, .. }| {
            let (op, image) = (io.op.name(), name(io.image));
            format!(", the oldest a {op} of {} bytes at {} of {image}", io.len, io.offset)
        });
        let said =
            format!("{} I/Os never ended and are left behind{}", stuck.len(), oldest.unwrap_or_default());
        std::mem::forget(stuck);
        said
    }
}
