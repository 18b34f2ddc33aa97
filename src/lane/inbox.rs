//! Where foreign threads post that an I/O is over: an intrusive list of slots behind one atomic word.
//!
//! The word is the first of the posted slots, or tells that there are none, or that the consumer sleeps. Posting is one
//! exchange of the word, and a wake-up only if somebody sleeps; taking is one exchange for all that is there. Nothing
//! is locked or allocated, and posting can't fail.
#![expect(unsafe_code, reason = "posted to by C threads through a pointer; sleeps in the kernel")]

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The word when nothing is posted.
const EMPTY: u32 = u32::MAX;
/// The word when nothing is posted and the consumer waits for it to change.
const SLEEPING: u32 = u32::MAX - 1;

/// A fixed number of slots, each posted by a foreign thread once it is over, and taken by the one thread that owns this.
#[derive(Debug)]
pub(super) struct Inbox {
    head: Arc<Head>,
    slots: Arc<[Slot]>,
}

/// On a cache line of its own: every poster writes it.
#[derive(Debug)]
#[repr(align(64))]
struct Head(AtomicU32);

/// What a foreign thread gets a pointer to.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Slot {
    /// The slot posted before this one; [`EMPTY`] for none.
    next: AtomicU32,
    index: u32,
    result: AtomicI64,
    head: *const AtomicU32,
}

// SAFETY: but for atomics a slot is only read, and `head` points into the inbox that holds it, which stays for as long
// as anybody may post.
unsafe impl Send for Slot {}
// SAFETY: as above.
unsafe impl Sync for Slot {}

impl Inbox {
    /// An inbox of `depth` slots, numbered from 0.
    pub(super) fn new(depth: u32) -> Self {
        assert!(depth < SLEEPING, "a lane is never that deep");
        let head = Arc::new(Head(AtomicU32::new(EMPTY)));
        let slot = |index| Slot {
            next: AtomicU32::new(EMPTY),
            index,
            result: AtomicI64::new(0),
            head: ptr::from_ref(&head.0),
        };
        let slots = (0..depth).map(slot).collect();
        Self { head, slots }
    }

    /// The pointer to give to whoever posts the slot; valid for as long as the inbox is, or leaked.
    pub(super) fn slot(&self, index: u32) -> *const Slot {
        ptr::from_ref(&self.slots[index as usize])
    }

    /// Posts from the consumer's own thread.
    pub(super) fn post(&self, index: u32, result: i64) {
        // SAFETY: the slot is within the slice, which `self` keeps.
        unsafe { Slot::post(self.slot(index), result) };
    }

    /// Takes all that is posted, in the order of posting. With nothing there it waits for the first until `until`; with
    /// `until` in the past it only looks.
    pub(super) fn take(&self, until: Instant) -> Taken<'_> {
        let mut newest = self.swap();
        while newest == EMPTY {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            self.sleep(left);
            newest = self.swap();
        }
        Taken { slots: &self.slots, next: self.reversed(newest) }
    }

    /// Never frees what foreign threads may still post to.
    pub(super) fn leak(&self) {
        std::mem::forget((Arc::clone(&self.head), Arc::clone(&self.slots)));
    }

    /// The newest posted slot; leaves the inbox empty.
    fn swap(&self) -> u32 {
        // A plain load first: looking costs no exclusive access to the line that posters write.
        if self.head.0.load(Ordering::Relaxed) == EMPTY {
            return EMPTY;
        }
        // Acquire: pairs with the release in `Slot::post`, so that results and data read are visible.
        match self.head.0.swap(EMPTY, Ordering::Acquire) {
            SLEEPING => EMPTY,
            newest => newest,
        }
    }

    /// Sleeps until something is posted or the time is over; may return early.
    fn sleep(&self, left: Duration) {
        let word = &self.head.0;
        if word.compare_exchange(EMPTY, SLEEPING, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            futex_wait(word, SLEEPING, left);
        }
    }

    /// Turns a list round, which posting leaves newest first; gives its oldest.
    fn reversed(&self, newest: u32) -> u32 {
        let (mut oldest, mut rest) = (EMPTY, newest);
        while rest != EMPTY {
            let link = &self.slots[rest as usize].next;
            let next = link.load(Ordering::Relaxed);
            link.store(oldest, Ordering::Relaxed);
            (oldest, rest) = (rest, next);
        }
        oldest
    }
}

impl Slot {
    /// Posts the slot with its result. Never fails, never blocks, never allocates.
    ///
    /// # Safety
    /// `this` comes from [`Inbox::slot`], the inbox is alive or leaked, and nobody else posts this slot until it was taken.
    pub(super) unsafe fn post(this: *const Self, result: i64) {
        // SAFETY: the slot stays until it is posted, for its consumer waits for it; it is not touched after that.
        let slot = unsafe { &*this };
        let address = slot.head;
        // SAFETY: as above; the word is in the same inbox.
        let word = unsafe { &*address };
        slot.result.store(result, Ordering::Relaxed);
        let mut old = word.load(Ordering::Relaxed);
        loop {
            slot.next.store(if old == SLEEPING { EMPTY } else { old }, Ordering::Relaxed);
            // Release: whoever takes the slot sees its result, and what was read into its buffer. From the moment that
            // this succeeds the consumer may free everything, which only an address may outlive.
            match word.compare_exchange_weak(old, slot.index, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => old = now,
            }
        }
        if old == SLEEPING {
            futex_wake(address);
        }
    }
}

/// The slots of one [`Inbox::take`], oldest first: their number and result.
#[derive(Debug)]
pub(super) struct Taken<'a> {
    slots: &'a [Slot],
    next: u32,
}

impl Iterator for Taken<'_> {
    type Item = (u32, i64);

    fn next(&mut self) -> Option<Self::Item> {
        if self.next == EMPTY {
            return None;
        }
        let slot = &self.slots[self.next as usize];
        // Before the slot is given away: its owner may post it again at once.
        self.next = slot.next.load(Ordering::Relaxed);
        Some((slot.index, slot.result.load(Ordering::Relaxed)))
    }
}

/// Sleeps while the word is `expected`, for at most `left`; may return early.
fn futex_wait(word: &AtomicU32, expected: u32, left: Duration) {
    let left = libc::timespec {
        tv_sec: libc::time_t::try_from(left.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: left.subsec_nanos().into(),
    };
    // SAFETY: the word and the time live for the call. Every way that it returns, the caller looks again.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            expected,
            ptr::from_ref(&left),
        );
    }
}

/// Wakes whoever sleeps on the word. The word may be gone: the kernel takes the address as a name only.
fn futex_wake(word: *const AtomicU32) {
    // SAFETY: nothing is read from or written to the address.
    unsafe { libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1) };
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    const SOON: Duration = Duration::from_secs(60);

    #[test]
    fn slots_come_in_the_order_of_posting_with_their_results() {
        let inbox = Inbox::new(4);
        for (index, result) in [(2, -5), (0, 4096), (3, 0)] {
            inbox.post(index, result);
        }
        assert_eq!(inbox.take(Instant::now()).collect::<Vec<_>>(), [(2, -5), (0, 4096), (3, 0)]);
        assert_eq!(inbox.take(Instant::now()).count(), 0);
    }

    #[test]
    fn an_empty_inbox_is_waited_for_until_the_time_is_over() {
        let inbox = Inbox::new(1);
        let until = Instant::now() + Duration::from_millis(30);
        assert_eq!(inbox.take(until).count(), 0);
        assert!(Instant::now() >= until);
        // The mark of a sleeper must not be taken for a slot.
        inbox.post(0, 7);
        assert_eq!(inbox.take(Instant::now()).collect::<Vec<_>>(), [(0, 7)]);
    }

    #[test]
    fn a_sleeper_is_woken_by_the_first_post() {
        let inbox = Inbox::new(1);
        thread::scope(|scope| {
            scope.spawn(|| {
                while inbox.head.0.load(Ordering::Relaxed) != SLEEPING {
                    thread::yield_now();
                }
                inbox.post(0, 1);
            });
            let begin = Instant::now();
            assert_eq!(inbox.take(begin + SOON).collect::<Vec<_>>(), [(0, 1)]);
            assert!(begin.elapsed() < SOON);
        });
    }

    #[test]
    fn no_post_is_lost_whichever_threads_post_and_however_the_consumer_sleeps() {
        const POSTERS: u32 = 4;
        const EACH: u32 = 20_000;
        let inbox = Inbox::new(POSTERS);
        let (give, mut takers): (Vec<_>, Vec<_>) = (0..POSTERS).map(|_| mpsc::channel::<()>()).unzip();
        thread::scope(|scope| {
            for (index, again) in takers.drain(..).enumerate() {
                let inbox = &inbox;
                scope.spawn(move || {
                    for count in 0..EACH {
                        again.recv().expect("the slot was taken");
                        inbox.post(u32::try_from(index).expect("few posters"), i64::from(count));
                    }
                });
            }
            give.iter().for_each(|slot| slot.send(()).expect("a poster"));
            let mut seen = vec![0; POSTERS as usize];
            while seen.iter().any(|count| *count < EACH) {
                let taken: Vec<_> = inbox.take(Instant::now() + SOON).collect();
                assert!(!taken.is_empty(), "a post was lost after {seen:?}");
                for (index, result) in taken {
                    let count = &mut seen[index as usize];
                    assert_eq!(result, i64::from(*count));
                    *count += 1;
                    if *count < EACH {
                        give[index as usize].send(()).expect("a poster");
                    }
                }
            }
        });
    }
}
