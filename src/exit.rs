//! The exit codes that scripts rely on.

/// How a command ended, as its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Exit {
    /// Every planned trial is valid.
    Success = 0,
    /// A proven regression, only where `--fail-on` asked for it.
    Regression = 1,
    /// The profile or the command line is wrong.
    Usage = 2,
    /// The cluster or a target could not be set up.
    Setup = 3,
    /// I/O errors, a verification mismatch, or a planned trial that stayed invalid.
    Trial = 4,
    /// The cluster is stuck: no completion within the deadline.
    Stuck = 5,
    /// SIGINT, SIGTERM or SIGHUP, after clean-up.
    Interrupted = 130,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
