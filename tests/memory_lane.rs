//! A lane over memory that keeps what is written, completes I/Os in any order, and goes wrong where it is told to.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cephmark::lane::{Done, Io, Lane, LaneError, Op};

/// What becomes of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Only its first half is done.
    Torn,
    /// One bit is turned.
    Corrupt,
    /// It goes to the block after.
    Misplaced,
    /// It is acknowledged and not done.
    Lost,
}

/// An image in memory, shared by lanes.
pub(crate) type Memory = Arc<Mutex<Vec<u8>>>;

pub(crate) fn memory(len: u64) -> Memory {
    Arc::new(Mutex::new(vec![0; len as usize]))
}

/// The lane: of the I/Os in flight any is done next, and an I/O takes effect when it completes.
pub(crate) struct MemoryLane {
    memory: Memory,
    flying: Vec<Box<Io>>,
    /// By how many writes until it strikes.
    fault: Option<(u32, Fault)>,
    random: u64,
}

impl MemoryLane {
    pub(crate) fn new(memory: &Memory) -> Self {
        Self { memory: Arc::clone(memory), flying: Vec::new(), fault: None, random: 1 }
    }

    /// The write number `nth` of this lane goes wrong.
    pub(crate) fn with_fault(self, nth: u32, fault: Fault) -> Self {
        Self { fault: Some((nth, fault)), ..self }
    }

    fn draw(&mut self, below: usize) -> usize {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) as usize % below
    }

    fn take_effect(&mut self, io: &mut Io) {
        let mut memory = self.memory.lock().expect("no panic while locked");
        let (start, len) = (io.offset as usize, io.len as usize);
        match io.op {
            Op::Read => io.buffer[..len].copy_from_slice(&memory[start..start + len]),
            Op::Trim | Op::WriteZeroes => memory[start..start + len].fill(0),
            Op::Sync | Op::DataSync => {}
            Op::Write => {
                let data = &io.buffer[..len];
                match strike(&mut self.fault) {
                    None => memory[start..start + len].copy_from_slice(data),
                    Some(Fault::Torn) => memory[start..start + len / 2].copy_from_slice(&data[..len / 2]),
                    Some(Fault::Corrupt) => {
                        memory[start..start + len].copy_from_slice(data);
                        memory[start + len / 3] ^= 4;
                    }
                    Some(Fault::Misplaced) => {
                        let start = if start + 2 * len > memory.len() { 0 } else { start + len };
                        memory[start..start + len].copy_from_slice(data);
                    }
                    Some(Fault::Lost) => {}
                }
            }
        }
    }
}

/// The fault of this write, if it is the one.
fn strike(fault: &mut Option<(u32, Fault)>) -> Option<Fault> {
    let (left, kind) = fault.as_mut()?;
    *left = left.checked_sub(1)?;
    (*left == 0).then_some(*kind)
}

impl Lane for MemoryLane {
    fn push(&mut self, io: Box<Io>) {
        self.flying.push(io);
    }

    fn reap(&mut self, until: Instant, mut done: impl FnMut(Done)) -> Result<(), LaneError> {
        let waits = until > Instant::now();
        if self.flying.is_empty() {
            std::thread::sleep(
                until.saturating_duration_since(Instant::now()).min(Duration::from_millis(100)),
            );
        } else if waits || self.draw(4) == 0 {
            let next = self.draw(self.flying.len());
            let mut io = self.flying.swap_remove(next);
            self.take_effect(&mut io);
            done(Done { result: Ok(io.len), io });
        }
        Ok(())
    }

    fn in_flight(&self) -> u32 {
        self.flying.len() as u32
    }

    fn set_drain_deadline(&mut self, _deadline: Duration) {
        // Memory never hangs.
    }
}
