//! Deadlines for calls that may never return: Ceph's C functions block while the cluster does, some of them for ever.
//!
//! Each such call runs on a thread of its own. When it does not return in time the thread is left behind, with all
//! that it holds: waiting is bounded, and nothing is freed that Ceph still uses.
#![expect(unsafe_code, reason = "ends the process")]

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{Error, socket_directory};

/// Whether the thread of any call, or anything that Ceph's libraries still use, was left behind.
static LEFT_BEHIND: AtomicBool = AtomicBool::new(false);

/// Runs a blocking call, for at most `limit` and until `cancel`.
///
/// # Errors
/// [`Error::Stuck`] when the limit passes and [`Error::Interrupted`] on cancel, both of which leave the call's thread
/// behind; else the call's own.
pub async fn within<T: Send + 'static>(
    what: &str,
    limit: Duration,
    cancel: &CancellationToken,
    call: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let (sender, receiver) = oneshot::channel();
    start(what, move || drop(sender.send(call())))?;
    tokio::select! {
        result = receiver => result.unwrap_or_else(|_| Err(died(what))),
        () = cancel.cancelled() => Err(left_behind(Error::Interrupted { what: what.to_owned() })),
        () = tokio::time::sleep(limit) => Err(left_behind(Error::Stuck { what: what.to_owned(), limit })),
    }
}

/// As [`within`], for where nothing can be awaited: blocks the caller for at most `limit`.
///
/// # Errors
/// [`Error::Stuck`] when the limit passes, which leaves the call's thread behind; else the call's own.
pub fn finish_within<T: Send + 'static>(
    what: &str,
    limit: Duration,
    call: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let (sender, receiver) = mpsc::sync_channel(1);
    start(what, move || drop(sender.send(call())))?;
    receiver.recv_timeout(limit).unwrap_or_else(|error| match error {
        mpsc::RecvTimeoutError::Timeout => Err(left_behind(Error::Stuck { what: what.to_owned(), limit })),
        mpsc::RecvTimeoutError::Disconnected => Err(died(what)),
    })
}

/// Ends the process at once if anything was left behind.
pub fn leave_if_stuck(code: u8) {
    if LEFT_BEHIND.load(Ordering::Relaxed) {
        leave(code);
    }
}

/// Ends the process at once: the usual way out would take down what calls in Ceph's libraries still use.
///
/// Implements: `_exit`.
pub fn leave(code: u8) -> ! {
    // What was printed must not be lost with the buffers.
    drop(io::stdout().flush());
    socket_directory::remove_all();
    // SAFETY: ends the process without running anything of it.
    unsafe { libc::_exit(i32::from(code)) }
}

fn start(what: &str, call: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    let name = "ceph call".to_owned();
    let thread = thread::Builder::new().name(name).spawn(call);
    thread.map(drop).map_err(|source| Error::System { what: what.to_owned(), source })
}

/// Notes that something of Ceph's libraries is left behind, in use.
pub(crate) fn leave_behind() {
    LEFT_BEHIND.store(true, Ordering::Relaxed);
}

fn left_behind(error: Error) -> Error {
    leave_behind();
    error
}

fn died(what: &str) -> Error {
    Error::System { what: what.to_owned(), source: io::Error::other("its thread died") }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(20);

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime")
    }

    #[test]
    fn a_call_that_returns_in_time_gives_its_result() {
        let cancel = CancellationToken::new();
        let result = runtime().block_on(within("adding", LONG, &cancel, || Ok(1 + 1)));
        assert_eq!(result.ok(), Some(2));
        assert_eq!(finish_within("adding", LONG, || Ok(1 + 1)).ok(), Some(2));
    }

    #[test]
    fn a_call_that_hangs_is_left_behind_when_its_limit_passes() {
        let begin = Instant::now();
        let hang = || {
            thread::sleep(LONG);
            Ok(())
        };
        let result = runtime().block_on(within("hanging", SHORT, &CancellationToken::new(), hang));
        assert!(matches!(result, Err(Error::Stuck { .. })), "{result:?}");
        let result = finish_within("hanging", SHORT, hang);
        assert!(matches!(result, Err(Error::Stuck { .. })), "{result:?}");
        assert!(begin.elapsed() < LONG / 2);
    }

    #[test]
    fn a_call_that_hangs_can_be_interrupted() {
        let cancel = CancellationToken::new();
        cancel.cancel();
        let hang = || {
            thread::sleep(LONG);
            Ok(())
        };
        let result = runtime().block_on(within("hanging", LONG, &cancel, hang));
        assert!(matches!(result, Err(Error::Interrupted { .. })), "{result:?}");
    }
}
