//! SIGINT, SIGTERM and SIGHUP as events, so that a lab is taken down before the process ends.
//!
//! They are handled and not blocked: a blocked signal would stay blocked in every program that is started.

use std::io;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, PoisonError};
use std::thread;

use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;
use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal as listen};

/// The signals that ask us to end, from now on without their default action.
pub(super) struct Signals {
    events: Mutex<Receiver<Signal>>,
    seen: AtomicBool,
}

impl Signals {
    pub(super) fn catch() -> io::Result<Self> {
        let runtime = runtime::Builder::new_current_thread().enable_io().build()?;
        let entered = runtime.enter();
        let mut interrupt = listen(SignalKind::interrupt())?;
        let mut terminate = listen(SignalKind::terminate())?;
        let mut hangup = listen(SignalKind::hangup())?;
        drop(entered);
        let (sender, events) = mpsc::channel();
        let forward = async move {
            loop {
                let signal = tokio::select! {
                    _ = interrupt.recv() => Signal::SIGINT,
                    _ = terminate.recv() => Signal::SIGTERM,
                    _ = hangup.recv() => Signal::SIGHUP,
                };
                if sender.send(signal).is_err() {
                    return;
                }
            }
        };
        thread::spawn(move || runtime.block_on(forward));
        Ok(Self { events: Mutex::new(events), seen: AtomicBool::new(false) })
    }

    /// Whether one has come, now or before.
    pub(super) fn wants_end(&self) -> bool {
        if self.next().is_some() {
            self.seen.store(true, Ordering::Relaxed);
        }
        self.seen.load(Ordering::Relaxed)
    }

    /// Sends the child what has come since the last call, unless it came from the terminal, which has told it already.
    pub(super) fn hand_on(&self, child: &Child) {
        while let Some(signal) = self.next() {
            let from_terminal = signal != Signal::SIGTERM && in_foreground();
            if let (Ok(pid), false) = (i32::try_from(child.id()), from_terminal) {
                // It may just have ended; then nobody needs the signal.
                let _ = signal::kill(Pid::from_raw(pid), signal);
            }
        }
    }

    fn next(&self) -> Option<Signal> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).try_recv().ok()
    }
}

/// Whether Ctrl-C on our terminal reaches our process group, and so our children too.
fn in_foreground() -> bool {
    std::fs::read_to_string("/proc/self/stat").is_ok_and(|stat| {
        // After the name: state, parent, process group, session, terminal, the terminal's foreground group.
        let fields: Vec<&str> = stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ').collect();
        fields.len() > 5 && fields[2] == fields[5]
    })
}
