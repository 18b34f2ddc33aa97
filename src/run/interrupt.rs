//! SIGINT, SIGTERM and SIGHUP: the first asks a run to clean up and end, the second ends it at once.

use std::fs;
use std::future::pending;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::ceph;
use crate::console;
use crate::exit::Exit;
use crate::target::{restore_queues, unmap_all};

/// Starts to listen for SIGINT, SIGTERM and SIGHUP on the current runtime.
///
/// The token is cancelled by the first signal. A second one ends the process with 130, after `last` and nothing else:
/// whoever sends it would rather have their terminal back than a clean cluster, which `cephmark clean` gives them later.
/// A further SIGHUP is no second signal: of a terminal that is lost both the kernel and the shell tell. Where it is ignored,
/// as under `nohup`, it stays so.
///
/// # Errors
/// The system's error if signals can't be handled.
pub fn listen(last: impl FnOnce() + Send + 'static) -> std::io::Result<CancellationToken> {
    let interrupted = CancellationToken::new();
    let (mut sigint, mut sigterm) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let mut sighup = if ignores_hangup() { None } else { Some(signal(SignalKind::hangup())?) };
    let token = interrupted.clone();
    tokio::spawn(async move {
        let hangup = async {
            match &mut sighup {
                Some(sighup) => sighup.recv().await,
                None => pending().await,
            }
        };
        tokio::select! { _ = sigint.recv() => {}, _ = sigterm.recv() => {}, _ = hangup => {} }
        token.cancel();
        tokio::select! { _ = sigint.recv() => {}, _ = sigterm.recv() => {} }
        restore_queues();
        unmap_all();
        console::say("interrupted twice: images may be left behind; `cephmark clean` finds them");
        last();
        ceph::leave(Exit::Interrupted as u8);
    });
    Ok(interrupted)
}

/// Whether this process was started with SIGHUP ignored.
fn ignores_hangup() -> bool {
    is_ignored(&fs::read_to_string("/proc/self/status").unwrap_or_default(), libc::SIGHUP)
}

/// Whether a signal is ignored, by the text of a process's status.
fn is_ignored(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn under_nohup_a_hangup_is_ignored() {
        let status = |mask: &str| format!("SigBlk:\t0000000000000001\nSigIgn:\t{mask}\n");
        assert!(is_ignored(&status("0000000000001001"), libc::SIGHUP));
        assert!(!is_ignored(&status("0000000000001000"), libc::SIGHUP));
        assert!(!is_ignored("", libc::SIGHUP));
    }
}
