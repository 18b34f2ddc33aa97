//! A lane whose I/Os are completed by a thread of its own a fixed time after they were pushed: completions from a
//! foreign thread, as librbd's are.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use cephmark::lane::{Done, Io, Lane, LaneError};
use nix::errno::Errno;
use nix::sys::prctl;

/// The lane.
pub(crate) struct DelayThread {
    /// Dropped first when the lane is, which ends the thread.
    sent: Option<Sender<(Instant, Box<Io>)>>,
    done: Receiver<Done>,
    /// How long each I/O really took; a busy machine lets no thread wake up on time.
    delays: Arc<Mutex<Vec<Duration>>>,
    in_flight: u32,
    drain: Duration,
}

impl DelayThread {
    /// An I/O on an image beyond these fails with ENXIO.
    pub(crate) const IMAGES: u32 = 2;

    pub(crate) fn new(delay: Duration) -> Self {
        let (sent, to_do) = channel::<(Instant, Box<Io>)>();
        let (finished, done) = channel();
        let delays = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&delays);
        thread::spawn(move || {
            let _ = prctl::set_timerslack(1);
            for (pushed, io) in to_do {
                thread::sleep((pushed + delay).saturating_duration_since(Instant::now()));
                log.lock().expect("nobody panics with it").push(pushed.elapsed());
                let result = if io.image < Self::IMAGES { Ok(io.len) } else { Err(Errno::ENXIO) };
                if finished.send(Done { io, result }).is_err() {
                    return;
                }
            }
        });
        Self { sent: Some(sent), done, delays, in_flight: 0, drain: Duration::from_secs(10) }
    }
}

impl DelayThread {
    /// How long each I/O so far really took, from push to just before it was handed over.
    pub(crate) fn delays(&self) -> Vec<Duration> {
        self.delays.lock().expect("nobody panics with it").clone()
    }
}

impl Lane for DelayThread {
    fn push(&mut self, io: Box<Io>) {
        let sent = self.sent.as_ref().expect("taken only when dropped");
        sent.send((Instant::now(), io)).expect("the thread runs");
        self.in_flight += 1;
    }

    fn reap(&mut self, until: Instant, mut done: impl FnMut(Done)) -> Result<(), LaneError> {
        let first = match self.done.try_recv() {
            Ok(first) => first,
            Err(_) => match self.done.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(first) => first,
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => panic!("the thread died"),
            },
        };
        let finished: Vec<Done> = std::iter::once(first).chain(self.done.try_iter()).collect();
        for finished in finished {
            self.in_flight -= 1;
            done(finished);
        }
        Ok(())
    }

    fn in_flight(&self) -> u32 {
        self.in_flight
    }

    fn set_drain_deadline(&mut self, deadline: Duration) {
        self.drain = deadline;
    }
}

impl Drop for DelayThread {
    fn drop(&mut self) {
        self.sent = None;
        let until = Instant::now() + self.drain;
        while self.in_flight > 0 && Instant::now() < until {
            let _ = self.reap(until, drop);
        }
    }
}
