//! The supply of I/Os that are ready to be sent: due, in a free slot, and with their data in place.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use super::Ledger;
use super::data::Payload;
use super::pace::Pacer;
use super::stream::{Choice, Stream};
use super::verify::Verifier;
use crate::lane::{Buffer, Io, Op};
use crate::measure::Checks;
use crate::plan::Job;

/// How often an I/O that waits for another thread's I/O on the same units is tried again.
const HELD_RETRY_NS: u64 = 200_000;

/// The times of the I/O that has a slot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slot {
    /// When it was due; `None` if it is due when it is sent.
    pub(crate) due_ns: Option<u64>,
    /// Since when it was due with a slot free; `None` if something else kept it back.
    pub(crate) ready_ns: Option<u64>,
    /// When it was sent; `None` if it is not in flight.
    pub(crate) sent_ns: Option<u64>,
}

/// One thread's I/Os while they are not in flight, and what decides about the next.
#[derive(Debug)]
pub(crate) struct Supply {
    stream: Stream,
    pacer: Pacer,
    payload: Payload,
    verifier: Option<Verifier>,
    /// Whether the verifier fills what is written.
    is_marked: bool,
    /// Whether nothing is verified and no slot has two buffers.
    is_plain: bool,
    pub(crate) slots: Vec<Slot>,
    free: Vec<Box<Io>>,
    /// Since when `free` has not been empty.
    free_since_ns: u64,
    /// By slot, the buffer that its I/O does not use now, and what for: reads must not spoil the data of writes.
    /// Empty unless the job does both.
    spares: Vec<(Op, Buffer)>,
    /// I/Os that wait for others on the same units.
    held: VecDeque<Box<Io>>,
    retry_held: bool,
    measured: bool,
    /// Left until `number_ios` and `io_size`.
    ios_left: u64,
    bytes_left: u64,
}

impl Supply {
    pub(crate) fn new(job: &Job, thread: u32, images: u32, ledger: Option<Arc<Ledger>>) -> Self {
        let stream = Stream::new(job, thread, images);
        let mut payload = Payload::new(job, thread);
        let (ops, longest) = (stream.ops(), stream.longest());
        let (reads, writes) = (ops.contains(&Op::Read), ops.contains(&Op::Write));
        let is_marked = job.verify && ledger.is_some();
        let has_spares = reads && writes && !is_marked;
        let first = if writes { Op::Write } else { ops[0] };
        let mut buffer = |op| match op {
            Op::Write => payload.buffer(longest),
            Op::Read => Buffer::zeroed(longest as usize),
            _ => Buffer::zeroed(0),
        };
        let spares = if has_spares { job.iodepth } else { 0 };
        let spares = (0..spares).map(|_| (Op::Read, buffer(Op::Read))).collect();
        // Slot 0 is the first to be taken.
        let slots = (0..job.iodepth).rev();
        let io = |slot| Io { slot, image: 0, op: first, offset: 0, len: 0, buffer: buffer(first) };
        let free = slots.map(io).map(Box::new).collect();
        Self {
            pacer: Pacer::new(job, thread),
            is_plain: ledger.is_none() && !has_spares,
            verifier: ledger.map(|ledger| Verifier::new(ledger, job, longest)),
            is_marked,
            slots: vec![Slot::default(); job.iodepth as usize],
            free,
            free_since_ns: 0,
            spares,
            held: VecDeque::with_capacity(job.iodepth as usize),
            retry_held: false,
            measured: false,
            ios_left: job.number_ios.unwrap_or(u64::MAX),
            bytes_left: job.io_size.map_or(u64::MAX, |size| size.get()),
            stream,
            payload,
        }
    }

    /// The operations that may come.
    pub(crate) fn ops(&self) -> Vec<Op> {
        self.stream.ops()
    }

    pub(crate) fn is_open_loop(&self) -> bool {
        self.pacer.is_open()
    }

    /// Begins a window: due times count from `start_ns`, and I/Os count towards the job's end if it is measured.
    pub(crate) fn begin(&mut self, start_ns: u64, measured: bool) {
        self.pacer.restart(start_ns);
        self.measured = measured;
        self.free_since_ns = start_ns;
    }

    /// Ends a window: gives back what was held, and tells how many I/Os were due before `stop_ns` but not sent.
    pub(crate) fn end(&mut self, stop_ns: u64) -> u64 {
        let held = self.held.len() as u64;
        for io in self.held.drain(..) {
            if self.measured {
                self.ios_left += 1;
                self.bytes_left = self.bytes_left.saturating_add(io.len.into());
            }
            self.free.push(io);
        }
        if self.limit_reached() { 0 } else { held + self.pacer.due_before(stop_ns) }
    }

    /// An I/O that is ready to be sent, if there is one.
    #[inline]
    pub(crate) fn next(&mut self, now_ns: u64) -> Option<Box<Io>> {
        if self.retry_held {
            let ready = self.next_held();
            if ready.is_some() {
                return ready;
            }
        }
        loop {
            let paced = !self.stream.sync_is_next();
            if paced && (self.pacer.due_ns() > now_ns || self.limit_reached()) {
                return None;
            }
            let mut io = self.free.pop()?;
            self.assign(&mut io, paced);
            if self.is_plain {
                return Some(io);
            }
            let ready = self.prepare(io);
            if ready.is_some() {
                return ready;
            }
        }
    }

    /// When to look for a next I/O again even if none completes; `u64::MAX` if only a completion can help.
    pub(crate) fn look_again_ns(&self, now_ns: u64) -> u64 {
        let held = if self.held.is_empty() { u64::MAX } else { now_ns + HELD_RETRY_NS };
        let due = if self.free.is_empty() || self.limit_reached() { u64::MAX } else { self.pacer.due_ns() };
        held.min(due)
    }

    /// Lets I/Os that are held be tried again: others have completed, or time has passed.
    #[inline]
    pub(crate) fn retry(&mut self) {
        self.retry_held = !self.held.is_empty();
    }

    /// An I/O that is free right now, for a use of its own; it is given back as any other.
    pub(crate) fn take_free(&mut self) -> Option<Box<Io>> {
        self.free.pop()
    }

    /// Takes back an I/O that completed.
    #[inline]
    pub(crate) fn give_back(&mut self, io: Box<Io>, now_ns: u64) {
        if self.free.is_empty() {
            self.free_since_ns = now_ns;
        }
        self.free.push(io);
    }

    /// Takes note of a completed I/O's outcome, and checks what it read.
    #[inline]
    pub(crate) fn settle(&mut self, io: &Io, succeeded: bool, checks: &mut Checks) {
        if let Some(verifier) = &mut self.verifier {
            verifier.settle(io, succeeded, checks);
        }
    }

    /// Whether `number_ios` or `io_size` is reached and nothing waits to be sent.
    #[inline]
    pub(crate) fn is_exhausted(&self) -> bool {
        self.limit_reached() && self.held.is_empty() && !self.stream.sync_is_next()
    }

    #[inline]
    fn limit_reached(&self) -> bool {
        self.measured && (self.ios_left == 0 || self.bytes_left == 0)
    }

    /// Makes a free I/O the next of the stream, with its due time and its data.
    #[inline]
    fn assign(&mut self, io: &mut Io, paced: bool) {
        let Choice { op, image, offset, len } = self.stream.next();
        (io.op, io.image, io.offset, io.len) = (op, image, offset, len);
        if self.pacer.is_open() {
            let due_ns = paced.then(|| self.pacer.due_ns());
            let ready_ns = due_ns.map(|due_ns| due_ns.max(self.free_since_ns));
            self.slots[io.slot as usize] = Slot { due_ns, ready_ns, sent_ns: None };
        }
        if paced {
            self.pacer.advance();
            if self.measured {
                self.ios_left -= 1;
                self.bytes_left = self.bytes_left.saturating_sub(len.into());
            }
        }
        if self.is_plain && op == Op::Write {
            self.payload.renew(&mut io.buffer[..len as usize]);
        }
    }

    /// Puts the data of `io` in place where that takes more than a stamp; `None` if it has to wait for another I/O on
    /// the same units.
    fn prepare(&mut self, mut io: Box<Io>) -> Option<Box<Io>> {
        if let Some((op, spare)) = self.spares.get_mut(io.slot as usize)
            && *op == io.op
        {
            mem::swap(spare, &mut io.buffer);
            *op = if io.op == Op::Read { Op::Write } else { Op::Read };
        }
        if io.op == Op::Write && !self.is_marked {
            self.payload.renew(&mut io.buffer[..io.len as usize]);
        }
        if self.admit(&mut io) {
            return Some(io);
        }
        self.slots[io.slot as usize].ready_ns = None;
        self.held.push_back(io);
        None
    }

    fn admit(&mut self, io: &mut Io) -> bool {
        self.verifier.as_mut().is_none_or(|verifier| verifier.admit(io))
    }

    #[cold]
    fn next_held(&mut self) -> Option<Box<Io>> {
        for _ in 0..self.held.len() {
            let mut io = self.held.pop_front()?;
            if self.admit(&mut io) {
                return Some(io);
            }
            self.held.push_back(io);
        }
        self.retry_held = false;
        None
    }
}
