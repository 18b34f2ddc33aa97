//! SIGINT, SIGTERM and SIGHUP as events, so that a lab is taken down before the process ends.

use std::io;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::signal::{self, SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::Pid;

/// The signals that ask us to end, taken off their default action for the rest of the process.
pub(super) struct Signals {
    events: SignalFd,
    seen: AtomicBool,
}

impl Signals {
    /// Blocks them in this thread and in all that it starts. Commands that it starts have them as usual.
    pub(super) fn catch() -> io::Result<Self> {
        let set = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP]);
        set.thread_block()?;
        let events = SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(Self { events, seen: AtomicBool::new(false) })
    }

    /// Whether one has come, now or before.
    pub(super) fn wants_end(&self) -> bool {
        if self.next().is_some() {
            self.seen.store(true, Ordering::Relaxed);
        }
        self.seen.load(Ordering::Relaxed)
    }

    /// Sends the child what has come since the last call. What a terminal sends (Ctrl-C) it has got by itself.
    pub(super) fn hand_on(&self, child: &Child) {
        while let Some((signal, from_terminal)) = self.next() {
            let pid = i32::try_from(child.id()).map(Pid::from_raw);
            if let (Ok(pid), false) = (pid, from_terminal) {
                // It may just have ended; then nobody needs the signal.
                let _ = signal::kill(pid, signal);
            }
        }
    }

    fn next(&self) -> Option<(Signal, bool)> {
        let info = self.events.read_signal().ok()??;
        let signal = Signal::try_from(i32::try_from(info.ssi_signo).ok()?).ok()?;
        Some((signal, info.ssi_code == libc::SI_KERNEL))
    }
}
