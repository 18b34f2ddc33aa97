//! SIGINT and SIGTERM: the first asks a run to clean up and end, the second ends it at once.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::ceph;
use crate::exit::Exit;
use crate::target::{restore_queues, unmap_all};

/// Starts to listen for SIGINT and SIGTERM on the current runtime.
///
/// The token is cancelled by the first signal. A second one ends the process with 130, after `last` and nothing else:
/// whoever sends it would rather have their terminal back than a clean cluster, which `cephmark clean` gives them later.
///
/// # Errors
/// The system's error if signals can't be handled.
pub fn listen(last: impl FnOnce() + Send + 'static) -> std::io::Result<CancellationToken> {
    let interrupted = CancellationToken::new();
    let (mut sigint, mut sigterm) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let token = interrupted.clone();
    tokio::spawn(async move {
        let mut signal = async || tokio::select! { _ = sigint.recv() => {}, _ = sigterm.recv() => {} };
        signal().await;
        token.cancel();
        signal().await;
        restore_queues();
        unmap_all();
        eprintln!("interrupted twice: images may be left behind; `cephmark clean` finds them");
        last();
        ceph::leave(Exit::Interrupted as u8);
    });
    Ok(interrupted)
}
