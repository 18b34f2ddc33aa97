//! The runtime of the commands that talk to a cluster: signals, timers, deadlines.

use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use super::Failure;
use crate::run;

/// Carries out a command on a runtime of one thread; the token is cancelled by SIGINT, SIGTERM or SIGHUP, a second signal ends
/// the process after `last`.
///
/// # Errors
/// [`Failure`] of the command, or of setting up the runtime.
pub(super) fn runtime<T>(
    last: impl FnOnce() + Send + 'static,
    command: impl AsyncFnOnce(CancellationToken) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(run::Error::from)?;
    let done = runtime.block_on(async { command(run::listen(last).map_err(run::Error::from)?).await });
    // A call that hangs in a library must not be waited for.
    runtime.shutdown_background();
    done
}
